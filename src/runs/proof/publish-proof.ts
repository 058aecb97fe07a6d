import type { App } from '../../app.ts';
import { notRun, proofSentence, worstOf } from '../../domain/proof/proof.ts';
import { harmlessLine } from '../../domain/text/sanitize.ts';
import { octokitFor } from '../../repositories/credentials.ts';
import { allWorks, type Work } from '../work.ts';
import { findProof, upsertProof } from './store.ts';

/**
 * Stores what the tests of a run's change prove. Of several repositories, the worst result counts. The change of an agent
 * that split its task is not checked.
 */
export async function storeProof(work: Work): Promise<void> {
  const proof = worstOf(allWorks(work).flatMap((each) => each.proof ?? [])) ?? notRun('the change was not checked');
  await work.journal.write((em) => upsertProof(em, work.run, proof));
}

/** Stores that nothing proves the work of a run which failed, so that no proof of an earlier change is shown for it. */
export async function storeFailedProof(work: Work): Promise<void> {
  for (const each of allWorks(work)) each.proof ??= notRun('the run failed before its change was checked');
  await storeProof(work);
}

/**
 * Returns whether the repository wants a person to look at the pull request, because its tests do not prove it. After a
 * run that changed nothing, the proof of an earlier run counts.
 */
export async function isDraft(app: App, { settings, proof, task }: Work): Promise<boolean> {
  if (settings.proof !== 'required') return false;
  return (proof ?? (await findProof(app.db.manager, task.id)))?.status !== 'proved';
}

/** The lines around the part of a pull request about the proof, which later runs replace. */
const [opening, closing] = ['<!-- deckhand:proof -->', '<!-- /deckhand:proof -->'];

/** GitHub refuses longer texts. */
const maxBody = 65_536;

/** Renders the part of a pull request about the proof; empty without one. */
export function proofSection(app: App, { proof }: Work): string {
  if (proof === undefined) return '';
  return `${opening}\n${harmlessLine(proofSentence(proof), 2000, app.config.COMMAND_PREFIX)}\n${closing}`;
}

/** Replaces the part about the proof in a pull request of an earlier run. People may have edited the rest. */
export async function updateProofSection(app: App, work: Work, number: number): Promise<void> {
  const { credential } = work;
  const section = proofSection(app, work);
  if (section === '' || credential.kind === 'none') return;
  const octokit = await octokitFor(app, credential);
  const at = { owner: credential.owner, repo: credential.repo, pull_number: number };
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at);
  const before = data.body ?? '';
  const body = withSection(before, section);
  if (body !== before && body.length <= maxBody)
    await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, body });
}

function withSection(body: string, section: string): string {
  // GitHub stores the text of forms with CRLF.
  const [from, to] = [body.indexOf(opening), body.indexOf(closing)];
  if (from < 0 || to < from) return body === '' ? section : `${body}\n\n${section}`;
  if (body.slice(from, to).replaceAll('\r\n', '\n') === section.slice(0, -closing.length)) return body;
  return body.slice(0, from) + section + body.slice(to + closing.length);
}
