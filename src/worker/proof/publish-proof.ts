import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { App, Octokit, PacedRequest } from '../../app.ts';
import type { CheckResult, RepositoryProof, Trees } from '../../conversation/ending.ts';
import { markedProof, notRun, type Proof, type ProofBase } from '../../domain/proof/proof.ts';
import { runPage } from '../../domain/task.ts';
import { harmlessLine, storableJson } from '../../domain/text/sanitize.ts';
import { maxBody } from '../../outgoing/fit-texts.ts';
import { octokitFor } from '../../repositories/credentials.ts';
import { decidingSettings, rulesForEverybody } from '../../repositories/settings/repository-settings.ts';
import { endingStep } from '../../runs/journal.ts';
import { type RunProof, upsertProof } from '../../runs/proof/proof-store.ts';
import { hasAccepted } from '../../runs/waiting/store.ts';
import { allWorks, type Work } from '../work.ts';
import { clearBase } from '../workspace/base-of-change.ts';
import { isChecked } from './run-checks.ts';

/**
 * Stores what the tests of a run's change prove in each repository. The evidence about files that the run did not change
 * belongs to the commit at which it found the branch. The change of an agent that split its task is not checked.
 */
export async function storeProof(work: Work, changed: Work[]): Promise<void> {
  const proof: RunProof = { trees: {}, parts: {}, commits: {}, bases: {} };
  for (const each of allWorks(work)) {
    if (each.evidence === undefined) continue;
    const { id } = each.repository;
    proof.trees[id] = each.evidence.tree;
    const base = each.evidence.base ?? { branch: each.baseBranch, commit: each.baseHead };
    proof.bases[id] = { ...base, rules: rulesForEverybody(each.settings) };
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
 * settings, for the same base and from the same commit of it. What this run proved in another repository says nothing about them.
 */
export async function recallProof(app: App, work: Work): Promise<void> {
  const { evidence, task, repository } = work;
  if (evidence === undefined || evidence.proof !== undefined) return;
  const { tree } = evidence;
  const known = await findEarlierProof(app, work, tree);
  evidence.proof =
    known?.proof ?? notRun('no run of this task has tested these files with these settings for this base branch');
  evidence.base = known?.base;
  if (evidence.proof.status === 'changed')
    evidence.isApproved = await hasAccepted(app.db.manager, task.id, repository.id, tree, expectationsOf(work));
}

/**
 * Names what a person accepts who accepts that expectations changed in a repository: which ones, and from which commit of which branch the
 * change differs. The same files may break other expectations of another branch.
 */
export function expectationsOf({ repository, evidence }: Pick<Work, 'repository' | 'evidence'>): string {
  const { proof, base } = evidence ?? {};
  const seen = JSON.stringify([proof?.reason, base?.branch, base?.from]);
  return `${repository.id} ${createHash('sha256').update(seen).digest('hex')}`;
}

function findEarlierProof(app: App, work: Work, tree: string) {
  const { settings, task, repository, baseBranch } = work;
  const tested = { repositoryId: repository.id, tree, settings: decidingSettings(settings), baseBranch };
  return findProofOf(app.db.manager, task.id, tested, (base) => isSameChange(work, base));
}

/** Returns whether `recallProof` finds something for these files. */
export const isProvedBefore = async (app: App, work: Work, tree: string): Promise<boolean> =>
  (await findEarlierProof(app, work, tree)) !== undefined;

/** Returns whether a commit is another one or follows it. Fetches history as far as that takes. */
async function follows(checkout: Work['checkout'], ancestor: string, commit: string): Promise<boolean> {
  return ancestor === commit || (await checkout.mergeBase(ancestor, commit)) === ancestor;
}

/** Returns whether the base branch is still the one of a proof, and has only moved forward since then. */
export async function isOnBase(
  { baseBranch, baseHead, checkout }: Pick<Work, 'baseBranch' | 'baseHead' | 'checkout'>,
  base: ProofBase | undefined,
): Promise<boolean> {
  return base?.branch === baseBranch && (await follows(checkout, base.commit, baseHead));
}

/**
 * Returns whether the files of a branch, which a proof for a base was about, are still the same change: that from the same
 * commit of the base branch. A branch that has taken in later commits may remove what these added, with the same files as before.
 */
export async function isSameChange(work: Work, base: ProofBase): Promise<boolean> {
  return base.from !== undefined && (await isOnBase(work, base)) && (await clearBase(work)) === base.from;
}

/**
 * Returns whether a person has to look at the pull request first: because not all checks have a result for exactly these
 * files, or because the repository requires a proof and they have none, nor changed expectations that a person approved.
 */
export function isDraft(work: Pick<Work, 'settings' | 'evidence'>): boolean {
  if (!isChecked(work)) return true;
  const { proof, isApproved } = work.evidence ?? {};
  const isAccepted = proof?.status === 'proved' || (proof?.status === 'changed' && isApproved === true);
  return work.settings.proof === 'required' && !isAccepted;
}

/** The lines around the part of a pull request about checks and proof, which later runs replace. */
const [opening, closing] = ['<!-- deckhand:proof -->', '<!-- /deckhand:proof -->'];

/** What the evidence in a pull request is about. */
export interface EvidenceOf {
  commit: string;
  /** The run that has a signed receipt for the commit. */
  receiptOf: string | undefined;
}

/** Renders the part of a pull request about checks and proof, with the commit that they are about; empty without any. */
export function evidenceSection(
  app: App,
  { evidence, task }: Pick<Work, 'evidence' | 'task'>,
  { commit, receiptOf }: EvidenceOf,
): string {
  if (evidence?.proof === undefined) return '';
  const { checks, proof } = evidence;
  const parts = [
    checks.length > 0 ? `### Checks of ${commit.slice(0, 7)}\n${checks.map(checkLine).join('\n')}\n` : '',
    harmlessLine(markedProof(proof), 2000, app.config.COMMAND_PREFIX),
    receiptOf === undefined
      ? ''
      : `\n[Signed receipt](${runPage(app.config.BASE_URL, task.id, receiptOf)}), which \`deckhand verify\` checks.`,
  ];
  return [opening, ...parts.filter((part) => part !== ''), closing].join('\n');
}

function checkLine({ command, passed, seconds }: CheckResult): string {
  return `- ${passed ? '✅' : '❌'} \`${command.replace(/[`\s]+/g, ' ').slice(0, 200)}\` (${seconds} s)`;
}

/** Replaces the part about checks and proof in a pull request of an earlier run. People may have edited the rest. */
export async function updateEvidence(app: App, work: Work, number: number, about: EvidenceOf): Promise<void> {
  const { credential } = work;
  const section = evidenceSection(app, work, about);
  if (section === '' || credential.kind === 'none') return;
  const octokit = await octokitFor(app, credential);
  const at = { owner: credential.owner, repo: credential.repo, pull_number: number };
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at);
  const before = data.body ?? '';
  const body = withSection(before, section);
  if (body !== before && body.length <= maxBody)
    await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, body });
}

/** Why what a pull request says about its checks and its proof is void. */
const voids = {
  push: '⚠️ The newest commits were not checked.',
  base: '⚠️ This pull request goes into another branch now, for which it was not checked.',
};

/** Says in a pull request that it was not checked as it is now, if it has a part about checks and proof. */
export async function voidEvidence(
  octokit: Octokit,
  at: { owner: string; repo: string; pull_number: number },
  before: string,
  why: keyof typeof voids,
): Promise<void> {
  if (!before.includes(opening)) return;
  const body = withSection(before, [opening, voids[why], closing].join('\n'));
  if (body === before) return;
  // A merge that waits is taken back after this.
  const request: PacedRequest = { isAhead: true };
  await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, body, request });
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

/** More proofs of the same files than this are not looked at. */
const maxKnown = 20;

/**
 * Returns what a run of a task has proved about exactly this tree of a repository with these settings and this base branch,
 * if `isBase` accepts the commit of the base; undefined if none has tested it.
 */
export async function findProofOf(
  em: EntityManager,
  taskId: string,
  {
    repositoryId,
    tree,
    settings,
    baseBranch,
  }: Required<Omit<RepositoryProof, 'proof' | 'base'>> & { baseBranch: string },
  isBase: (base: ProofBase) => Promise<boolean>,
): Promise<{ proof: Proof; base: ProofBase } | undefined> {
  const rows: { proof: Proof; base: ProofBase }[] = await em.query(
    `select about -> 'proof' as proof /* not null */, about -> 'base' as base /* not null */
     from runs r join run_steps s on s.run_id = r.id and s.name = $4
       cross join jsonb_array_elements(s.data -> 'proofs') about
     where r.task_id = $1 and about ->> 'repositoryId' = $2 and about ->> 'tree' = $3 and about -> 'settings' = $5
       and about -> 'base' ->> 'branch' = $6 and about -> 'base' ->> 'commit' is not null
     order by r.created_at desc, r.id desc limit $7`,
    [taskId, repositoryId, tree, endingStep, storableJson(settings), baseBranch, maxKnown],
  );
  for (const known of rows) if (await isBase(known.base)) return known;
  return undefined;
}
