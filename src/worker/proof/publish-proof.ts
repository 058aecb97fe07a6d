import type { App, Octokit } from '../../app.ts';
import type { CheckResult, Trees } from '../../conversation/ending.ts';
import { markedProof, notRun, worstOf } from '../../domain/proof/proof.ts';
import { harmlessLine } from '../../domain/text/sanitize.ts';
import { octokitFor } from '../../repositories/credentials.ts';
import { findProofOf } from '../../runs/proof/earlier-proof.ts';
import { setProvenCommit, upsertProof } from '../../runs/proof/proof-store.ts';
import { allWorks, type Work } from '../work.ts';
import { isChecked } from './verify.ts';

/**
 * Stores what the tests of a run's change prove. Of several repositories, the worst result counts. The change of an agent
 * that split its task is not checked.
 */
export async function storeProof(work: Work): Promise<void> {
  const evidence = allWorks(work).flatMap((each) => (each.evidence === undefined ? [] : [{ each, ...each.evidence }]));
  const proof = worstOf(evidence.flatMap((about) => about.proof ?? [])) ?? notRun('the change was not checked');
  const trees = Object.fromEntries(evidence.map(({ each, tree }) => [each.repository.id, tree]));
  await work.journal.write((em) => upsertProof(em, work.run, proof, trees));
}

/**
 * Stores that nothing proves the work of a run which failed, so that no proof of an earlier change is shown for it.
 * Evidence about exactly these trees stays.
 */
export async function storeFailedProof(work: Work, trees: Trees): Promise<void> {
  for (const each of allWorks(work)) {
    const tree = trees[each.repository.id];
    if (tree === undefined) continue;
    const known = each.evidence?.tree === tree ? each.evidence : { tree, checks: [], proof: undefined };
    each.evidence = { ...known, proof: known.proof ?? notRun('the run failed before its change was checked') };
  }
  await storeProof(work);
}

/**
 * Gives the unchanged files of a proposed repository what an earlier run proved about exactly these files. What this run
 * proved in another repository says nothing about them.
 */
export async function recallProof(app: App, { evidence, task, repository }: Work): Promise<void> {
  if (evidence === undefined || evidence.proof !== undefined) return;
  const known = await findProofOf(app.db.manager, task.id, repository.id, evidence.tree);
  evidence.proof = known ?? notRun('no run of this task has tested these files');
}

/** Records that the evidence about unchanged files belongs to the commit at which the run found the branch. */
export async function storeCommitFound({ journal, run, repository, branch }: Work): Promise<void> {
  await journal.write((em) => setProvenCommit(em, run.id, repository.id, branch.from));
}

/**
 * Returns whether a person has to look at the pull request first: because not all checks have a result for exactly these
 * files, or because the repository requires a proof and they have none.
 */
export function isDraft(work: Pick<Work, 'settings' | 'evidence'>): boolean {
  if (!isChecked(work)) return true;
  return work.settings.proof === 'required' && work.evidence?.proof?.status !== 'proved';
}

/** The lines around the part of a pull request about checks and proof, which later runs replace. */
const [opening, closing] = ['<!-- deckhand:proof -->', '<!-- /deckhand:proof -->'];

/** GitHub refuses longer texts. */
const maxBody = 65_536;

/** Renders the part of a pull request about checks and proof, with the commit that they are about; empty without any. */
export function evidenceSection(app: App, { evidence }: Pick<Work, 'evidence'>, commit: string): string {
  if (evidence?.proof === undefined) return '';
  const { checks, proof } = evidence;
  const parts = [
    checks.length > 0 ? `### Checks of ${commit.slice(0, 7)}\n${checks.map(checkLine).join('\n')}\n` : '',
    harmlessLine(markedProof(proof), 2000, app.config.COMMAND_PREFIX),
  ];
  return [opening, ...parts.filter((part) => part !== ''), closing].join('\n');
}

function checkLine({ command, passed, seconds }: CheckResult): string {
  return `- ${passed ? '✅' : '❌'} \`${command.replace(/[`\s]+/g, ' ').slice(0, 200)}\` (${seconds} s)`;
}

/** Replaces the part about checks and proof in a pull request of an earlier run. People may have edited the rest. */
export async function updateEvidence(app: App, work: Work, number: number, commit: string): Promise<void> {
  const { credential } = work;
  const section = evidenceSection(app, work, commit);
  if (section === '' || credential.kind === 'none') return;
  const octokit = await octokitFor(app, credential);
  const at = { owner: credential.owner, repo: credential.repo, pull_number: number };
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at);
  const before = data.body ?? '';
  const body = withSection(before, section);
  if (body !== before && body.length <= maxBody)
    await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, body });
}

/** Says in a pull request that its newest commits were not checked, if it has a part about checks and proof. */
export async function voidEvidence(
  octokit: Octokit,
  at: { owner: string; repo: string; pull_number: number },
  before: string,
): Promise<void> {
  if (!before.includes(opening)) return;
  const body = withSection(before, [opening, '⚠️ The newest commits were not checked.', closing].join('\n'));
  if (body !== before) await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, body });
}

function withSection(body: string, section: string): string {
  // GitHub stores the text of forms with CRLF.
  const [from, to] = [body.indexOf(opening), body.indexOf(closing)];
  if (from < 0 || to < from) return body === '' ? section : `${body}\n\n${section}`;
  if (body.slice(from, to).replaceAll('\r\n', '\n') === section.slice(0, -closing.length)) return body;
  return body.slice(0, from) + section + body.slice(to + closing.length);
}
