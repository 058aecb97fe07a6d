import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { CheckResult, RepositoryProof, Trees } from '../../conversation/ending.ts';
import { markedProof, notRun, type Proof } from '../../domain/proof/proof.ts';
import { harmlessLine, storableJson } from '../../domain/text/sanitize.ts';
import { maxBody } from '../../outgoing/fit-texts.ts';
import { octokitFor } from '../../repositories/credentials.ts';
import { decidingSettings } from '../../repositories/settings/repository-settings.ts';
import { endingStep } from '../../runs/journal.ts';
import { type RunProof, upsertProof } from '../../runs/proof/proof-store.ts';
import { allWorks, type Work } from '../work.ts';
import { isChecked } from './verify.ts';

/**
 * Stores what the tests of a run's change prove in each repository. The evidence about files that the run did not change
 * belongs to the commit at which it found the branch. The change of an agent that split its task is not checked.
 */
export async function storeProof(work: Work, changed: Work[]): Promise<void> {
  const proof: RunProof = { trees: {}, parts: {}, commits: {} };
  for (const each of allWorks(work)) {
    if (each.evidence === undefined) continue;
    const { id } = each.repository;
    proof.trees[id] = each.evidence.tree;
    if (each.evidence.proof === undefined) continue;
    proof.parts[id] = each.evidence.proof;
    if (!changed.includes(each)) proof.commits[id] = each.branch.from;
  }
  await work.journal.write((em) => upsertProof(em, work.run, proof));
}

/**
 * Stores that nothing proves the change of a run which failed, so that no proof of an earlier change is shown for it.
 * Evidence about exactly these trees stays.
 */
export async function storeFailedProof(work: Work, changed: Work[], trees: Trees): Promise<void> {
  for (const each of allWorks(work)) {
    const tree = trees[each.repository.id];
    if (each.evidence?.tree !== tree) delete each.evidence;
    if (tree === undefined || !changed.includes(each)) continue;
    const known = each.evidence ?? { tree, checks: [] };
    each.evidence = { ...known, proof: known.proof ?? notRun('the run failed before its change was checked') };
  }
  await storeProof(work, changed);
}

/**
 * Gives the unchanged files of a proposed repository what an earlier run proved about exactly these files with the same
 * settings. What this run proved in another repository says nothing about them.
 */
export async function recallProof(app: App, { evidence, settings, task, repository }: Work): Promise<void> {
  if (evidence === undefined || evidence.proof !== undefined) return;
  const { tree } = evidence;
  const tested = { repositoryId: repository.id, tree, settings: decidingSettings(settings) };
  const known = await findProofOf(app.db.manager, task.id, tested);
  evidence.proof = known ?? notRun('no run of this task has tested these files with these settings');
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
  if (from < 0 || to < from) return body === '' ? section : joined(body, section);
  if (body.slice(from, to).replaceAll('\r\n', '\n') === section.slice(0, -closing.length)) return body;
  return body.slice(0, from) + section + body.slice(to + closing.length);
}

/** Adds a section at the end, or before a text that is so long that the section would be cut there. */
function joined(body: string, section: string): string {
  const isLong = body.length + section.length + 2 > maxBody;
  return isLong ? `${section}\n\n${body}` : `${body}\n\n${section}`;
}

/**
 * Returns what a run of a task has proved about exactly this tree of a repository with these settings; undefined if none
 * has tested it.
 */
export async function findProofOf(
  em: EntityManager,
  taskId: string,
  { repositoryId, tree, settings }: Required<Omit<RepositoryProof, 'proof'>>,
): Promise<Proof | undefined> {
  const rows: { proof: Proof }[] = await em.query(
    `select about -> 'proof' as proof /* not null */
     from runs r join run_steps s on s.run_id = r.id and s.name = $4
       cross join jsonb_array_elements(s.data -> 'proofs') about
     where r.task_id = $1 and about ->> 'repositoryId' = $2 and about ->> 'tree' = $3 and about -> 'settings' = $5
     order by r.created_at desc, r.id desc limit 1`,
    [taskId, repositoryId, tree, endingStep, storableJson(settings)],
  );
  return rows[0]?.proof;
}
