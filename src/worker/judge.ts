import type { CheckResult, Ending, Judgement, RepositoryProof, Trees } from '../conversation/ending.ts';
import { exchangesOf, pathsUsed } from '../conversation/facts.ts';
import { part } from '../conversation/prompts.ts';
import { type ChangedFile, diffFence, refusalNotice, refusalText, reviewText } from '../conversation/review.ts';
import { ofLastRun } from '../conversation/take-up.ts';
import { notRun, type Proof } from '../domain/proof/proof.ts';
import { maxUnplannedFiles, type PlanMode } from '../domain/settings.ts';
import { SetupNeedsApproval } from '../environment/change/read-manifests.ts';
import { diffOf } from '../git/diff.ts';
import { UnfitWorkTree } from '../git/work-tree/read-inside.ts';
import type { Message } from '../llm/model.ts';
import { decidingSettings } from '../repositories/settings/repository-settings.ts';
import { changedWorks, lookUp, ownChangesOf, proposedWorks, readTrees, type TreeOf } from './leaving/changes.ts';
import { formNotices } from './leaving/form.ts';
import { type Judged, judgeChanges } from './leaving/objection.ts';
import { lacksPlan } from './plan.ts';
import { checkTwice } from './proof/compare-tries.ts';
import { type Proved, proveChange } from './proof/prove.ts';
import { checkText, firstFailure } from './proof/run-checks.ts';
import { type HeldChange, setupWait } from './waits.ts';
import { allWorks, type Work } from './work.ts';
import { clearBase } from './workspace/base-of-change.ts';

/** The opening of the message about weakened tests. It is searched for, so that the agent gets the message once. */
const weakenedOpening = 'The earlier tests fail with your change.';

/** The most files that the text names. */
const maxNamed = 20;

/** Tells the agent that the tests as they were before do not pass with its change. */
function weakenedText(
  { testsChanged, testsRemoved }: Pick<Proof, 'testsChanged' | 'testsRemoved'>,
  failing: { command: string; output: string } | undefined,
): string {
  const named = [...testsChanged, ...testsRemoved].slice(0, maxNamed).map((path) => path.replace(/\p{Cc}/gu, '?'));
  return [
    `${weakenedOpening} The checks pass only because you changed or removed tests: ${named.join(', ')}.`,
    'If your change breaks what these tests expect, restore the tests and correct the code. If the task asks for the new behaviour, keep both, and say in the summary which expectations changed and why. Then call finish again. People see this as a warning.',
    ...(failing === undefined ? [] : [`With the earlier tests:\n$ ${failing.command}\n${failing.output}`]),
  ].join('\n\n');
}

const needsPlan = 'This task needs a plan that a person approved. Call propose_plan';
const isLarge = `More than ${maxUnplannedFiles} files change, so a person approves a plan first. Call propose_plan`;

/**
 * Returns why a run may not end without a plan; undefined when it may. A run without changes gets one reminder that a plan
 * is expected, and may then finish.
 */
async function planObjection(
  work: Work,
  mode: PlanMode,
  ending: Ending,
  { messages, treeOf }: { messages: Message[]; treeOf: TreeOf },
): Promise<string | undefined> {
  if (mode === 'never') return undefined;
  if (mode === 'large') return (await lacksPlan(work, treeOf)) ? `${isLarge}, for the whole change.` : undefined;
  const count = await countChanges(work, treeOf);
  if (count > 0 || ending.subtasks !== undefined)
    return `${needsPlan}. What commands wrote is discarded when the plan is approved.`;
  const isTold = exchangesOf(messages).some(({ remarks }) => remarks.some((text) => text.startsWith(needsPlan)));
  return isTold ? undefined : `${needsPlan}, or call finish again if nothing has to change.`;
}

async function countChanges(work: Work, treeOf: TreeOf): Promise<number> {
  let count = 0;
  for (const each of allWorks(work)) count += (await ownChangesOf(each, treeOf)).length;
  return count;
}

/** The model gets to correct a refused change once, and failing checks three times. */
const maxRefusals = 1;
const maxCheckRounds = 3;
const checksText = 'The checks failed.';

/** What a judgement needs besides the files. */
export interface Judging {
  /** Whether the run still has to propose a plan. */
  mode: PlanMode;
  messages: Message[];
  /** No agent has worked, so nobody reads a review of the change, and what the service refuses ends the run. */
  isUnattended?: boolean;
  /** Returns whether a person allowed set-up of this change to use the network of set-up. */
  isSetupApproved(change: HeldChange): Promise<boolean>;
  /** Returns whether an earlier run has proved exactly these files of a repository that this run did not change. */
  isProved(of: Work, tree: string): Promise<boolean>;
}

/**
 * Judges an ending. Call it when no process of the run is left. Reads the files once: these trees are judged, checked,
 * proved, approved and pushed, so whatever the files become afterwards does not count.
 */
export async function judgeEnding(work: Work, ending: Ending, judging: Judging): Promise<Judgement> {
  const read = await readTrees(work).catch(unfitReason);
  return typeof read === 'string' ? judgeUnfit(ending, judging, read) : judgeTrees(work, ending, judging, read);
}

/**
 * Judges trees: first whether the run may end without a plan and whether the service would push the change, then by the
 * checks of each changed repository, then by what its tests prove. The first `finish` with a change is not judged: the
 * model sees its change and calls `finish` again. After a few objections the service accepts the ending anyway, and the run
 * fails later, or waits for a person if somebody may allow what was found. Earlier objections are counted in the conversation, so a worker that takes over does not start from zero.
 * Those of an earlier run, whose conversation this one continues, do not count.
 */
async function judgeTrees(work: Work, ending: Ending, judging: Judging, trees: Trees): Promise<Judgement> {
  const { mode, messages, isUnattended = false } = judging;
  const treeOf = lookUp(trees);
  const own = ofLastRun(messages);
  const unplanned = await planObjection(work, mode, ending, { messages, treeOf });
  if (unplanned !== undefined) return { accepted: false, objection: unplanned };
  const judged = await judgeChanges(work, treeOf);
  const { refused, held } = judged;
  if (!isUnattended && ending.subtasks === undefined && timesSaid(own, part('first-finish')) === 0) {
    const review = await reviewOf(work, treeOf, ending, { messages, judged });
    if (review !== undefined) return { accepted: false, objection: review };
  }
  if (!isUnattended && (refused !== undefined || held.length > 0) && timesRefused(own) < maxRefusals)
    return { accepted: false, objection: refusal(ending, judged) };
  if (refused !== undefined || ending.subtasks !== undefined) return { accepted: true, evidence: { trees } };
  return judgeByChecks(work, judging, trees, held);
}

/**
 * Judges trees by checks and proof. If set-up of the change needs the approval of a person first, the judgement says what
 * the run waits for.
 */
async function judgeByChecks(
  work: Work,
  { messages, isSetupApproved, isProved }: Judging,
  trees: Trees,
  findings: string[],
): Promise<Judgement> {
  const treeOf = lookUp(trees);
  const changed = await changedWorks(work, treeOf);
  const toCheck = await proposedWorks(work, changed);
  const change = { changed: toCheck, treeOf, findings };
  const isApproved = await isSetupApproved(change);
  for (const each of toCheck) each.treeWithApprovedSetup = isApproved ? await treeOf(each) : undefined;
  const checks = await checkAll(toCheck, treeOf).catch(reasonsToAsk);
  if ('reasons' in checks) return { accepted: false, wait: await setupWait(work, change, checks.reasons), trees };
  const failing = firstFailure(checks);
  if (failing !== undefined && timesSaid(ofLastRun(messages), checksText) < maxCheckRounds)
    return { accepted: false, objection: checkText(failing) };
  // The run that changed them may have failed before it was proved.
  const unproved: Work[] = [];
  for (const each of toCheck)
    if (!changed.includes(each) && !(await isProved(each, await treeOf(each)))) unproved.push(each);
  const { proofs, weakened } = await proveAll([...changed, ...unproved], treeOf, checks);
  if (weakened !== undefined && timesSaid(messages, weakenedOpening) === 0)
    return { accepted: false, objection: weakened };
  return { accepted: true, evidence: { trees, checks, proofs } };
}

/** Judges files that cannot be read, so that the model can correct them. */
function judgeUnfit(ending: Ending, { messages }: Judging, unfit: string): Judgement {
  if (timesRefused(ofLastRun(messages)) >= maxRefusals) return { accepted: true, evidence: { trees: {}, unfit } };
  return { accepted: false, objection: refusal(ending, { refused: unfit, held: [] }) };
}

function refusal({ subtasks }: Ending, judged: Judged): string {
  const call = subtasks === undefined ? 'finish' : 'create_subtasks';
  return refusalText(judged, `Fix this and call ${call} again`);
}

function timesSaid(messages: Message[], opening: string): number {
  return exchangesOf(messages).filter(({ remarks }) => remarks.some((text) => text.startsWith(opening))).length;
}

/** Counts the messages that list what the service refuses, alone or above the diff of a review. */
function timesRefused(messages: Message[]): number {
  const isTold = (text: string) => text.split(diffFence, 1)[0]?.includes(refusalNotice);
  return exchangesOf(messages).filter(({ remarks }) => remarks.some(isTold)).length;
}

/** Writes the review of a change. Returns undefined when nothing changed. */
async function reviewOf(
  work: Work,
  treeOf: TreeOf,
  { finish }: Ending,
  { messages, judged }: { messages: Message[]; judged: Judged },
): Promise<string | undefined> {
  const files: ChangedFile[] = [];
  for (const each of allWorks(work)) files.push(...(await filesOf(work, each, treeOf)));
  if (files.length === 0) return undefined;
  const assignment = `${work.task.title}\n${work.task.description}\n${work.run.instructions}`;
  const form = await formNotices(work, await changedWorks(work, treeOf), finish);
  return reviewText(files, { assignment, used: pathsUsed(messages), ...judged, form });
}

/** Returns what the agent changed in one repository. For a merge, leaves out what came from the base branch. */
async function filesOf(own: Work, each: Work, treeOf: TreeOf): Promise<ChangedFile[]> {
  const changes = await ownChangesOf(each, treeOf);
  if (changes.length === 0) return [];
  const paths = new Set(changes.map(({ path }) => path));
  const { files } = await diffOf(each.checkout, await each.checkout.treeOf(each.branch.from), await treeOf(each));
  const folder = each === own ? '' : `../${each.repository.name}/`;
  return files
    .filter(({ path, previousPath }) => paths.has(path) || paths.has(previousPath ?? path))
    .map((file) => ({ ...file, path: `${folder}${file.path}` }));
}

/** Runs the checks of these repositories and stops at the first repository that fails. */
async function checkAll(works: Work[], treeOf: TreeOf): Promise<CheckResult[]> {
  const checks: CheckResult[] = [];
  for (const each of works) {
    const results = await checkTwice(each, await treeOf(each));
    checks.push(...results);
    if (firstFailure(results) !== undefined) break;
  }
  return checks;
}

/** Proves the change of each of these repositories. `weakened` tells the agent that earlier tests fail with its change. */
async function proveAll(
  changed: Work[],
  treeOf: TreeOf,
  checks: CheckResult[],
): Promise<{ proofs: RepositoryProof[]; weakened: string | undefined }> {
  const proofs: RepositoryProof[] = [];
  const failingCheck = firstFailure(checks);
  let weakened: string | undefined;
  for (const each of changed) {
    const [repositoryId, tree] = [each.repository.id, await treeOf(each)];
    const own = checks.filter((check) => check.repositoryId === repositoryId);
    const { proof, failing }: Proved =
      failingCheck === undefined
        ? await proveChange(each, tree, own)
        : { proof: notRun(`the check "${failingCheck.command}" fails`) };
    const from = await clearBase(each);
    const base = { branch: each.baseBranch, commit: each.baseHead, ...(from === undefined ? {} : { from }) };
    proofs.push({ repositoryId, tree, settings: decidingSettings(each.settings), base, proof });
    if (proof.status === 'weakened') weakened ??= weakenedText(proof, failing);
  }
  return { proofs, weakened };
}

/** Returns why a person has to allow set-up of the change. Throws all other errors again. */
function reasonsToAsk(error: unknown): Pick<SetupNeedsApproval, 'reasons'> {
  if (error instanceof SetupNeedsApproval) return error;
  throw error;
}

/** Returns why files cannot be pushed. Throws all other errors again. */
function unfitReason(error: unknown): string {
  if (error instanceof UnfitWorkTree) return `- ${error.message}`;
  throw error;
}
