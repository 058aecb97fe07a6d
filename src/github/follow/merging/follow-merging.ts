import type { App, Octokit } from '../../../app.ts';
import type { MergeRow } from '../../../db/tables/github.ts';
import type { PullRequestRow } from '../../../db/tables/task.ts';
import { oneLine } from '../../../domain/text/sanitize.ts';
import { graphqlRefusal } from '../../../errors.ts';
import type { RepoName } from '../../../git/remote-url.ts';
import { readMerge, type SeenMerge, stopMerging } from '../../../repositories/merging/auto-merge.ts';
import { countUpdate, endMerging, findMerge, setAgreedHead, setMerging } from '../../../repositories/merging/store.ts';
import { lackOfRightIn } from '../../../repositories/rights.ts';
import { settingsOnGitHub } from '../../../repositories/settings/settings-on-github.ts';
import { isCommitOfRun } from '../../../runs/journal.ts';
import { findLiveRun } from '../../../runs/store.ts';
import { tellInbox } from '../../../tasks/inbox.ts';
import { queueMirror } from '../../../tasks/move.ts';
import { touchTask } from '../../../tasks/store.ts';
import { reviseUnasked } from '../revise-unasked.ts';
import { isOwnUpdate, updateBranch } from './update-branch.ts';

/** A branch is brought up to date at most this many times for one merge. Then the merge waits until a person does that. */
const maxUpdates = 10;
/** At most this many revisions of one pull request are started because the merge queue's checks failed. */
const maxRevisions = 3;

/** A pull request as GitHub's REST API has just shown it, and where it is. */
interface Reading {
  octokit: Octokit;
  name: RepoName;
  /** As it was stored before. */
  pull: PullRequestRow;
  /** GitHub's auto-merge is on. The API does not show the merge queue. */
  hasAutoMerge: boolean;
}

/**
 * Compares what GitHub does to merge an open pull request with what is stored, within the lock of the pull request. `looks`
 * says that GitHub is asked about its merge queue although nothing here suggests that the pull request is in it.
 */
export async function followMerging(app: App, reading: Reading, looks: boolean): Promise<void> {
  const { pull, hasAutoMerge } = reading;
  const row = await findMerge(app.db.manager, pull);
  // Why an earlier merge was stopped stays until somebody asks again: the agent's next push must not hide it.
  if (row?.state == null && !hasAutoMerge && !looks) return;
  const seen = await readIfKnown(app, reading);
  if (seen === undefined) return;
  if (seen.merging === null) return row?.state == null ? undefined : dropped(app, reading, row, seen.ended);
  const objection = await objectionTo(app, reading, row, seen);
  if (objection !== undefined) return takeBack(app, reading, objection);
  await store(app, pull, seen);
  if (row?.askedBy != null && seen.mergeState === 'BEHIND') await bringUpToDate(app, reading, row, seen);
}

/** Returns undefined where the host does not know the merge queue, or shows the pull request to nobody any more. */
async function readIfKnown(app: App, { octokit, name, pull }: Reading): Promise<SeenMerge | undefined> {
  try {
    return await readMerge(octokit, name, pull.number);
  } catch (error) {
    if (graphqlRefusal(error) === undefined) throw error;
    app.log.info({ err: error, pull: pull.url }, 'what GitHub does to merge a pull request cannot be read');
    return undefined;
  }
}

/** Makes GitHub no longer merge a pull request, and says why. */
async function takeBack(app: App, { octokit, name, pull }: Reading, why: string): Promise<void> {
  await stopMerging(octokit, name, pull.number);
  await end(app, pull, `Deckhand took back the merge of ${pull.url}: ${why}. Look at it, then merge again.`);
}

/**
 * Returns why GitHub must not merge a pull request, as the end of a sentence. A merge asked for here is for the commit that the
 * person saw, and for the branch into which it went then. A merge asked for on GitHub follows GitHub's rules alone.
 */
async function objectionTo(
  app: App,
  { octokit, name, pull }: Reading,
  row: MergeRow | null,
  { headSha, base }: SeenMerge,
): Promise<string | undefined> {
  if (row === null || row.headSha === null) return undefined;
  if ((await findLiveRun(app.db.manager, pull.taskId)) !== null) return 'an agent began to work on the task again';
  // A version that did not store the base may have written the row.
  if (base !== row.base)
    return `it goes to the branch ${oneLine(base, 100)} now, not to ${oneLine(row.base ?? 'the one that was seen', 100)}`;
  if (headSha === row.headSha) return undefined;
  // GitHub makes and signs the commits of runs, too, and an agent chooses what they contain.
  const isOfRun = await isCommitOfRun(app.db.manager, headSha);
  const update = { from: row.headSha, to: headSha, base: row.base, head: pull.headBranch };
  if (isOfRun || !(await isOwnUpdate(app, octokit, name, update)))
    return `commit ${headSha.slice(0, 7)} came after somebody asked for it`;
  await setAgreedHead(app.db.manager, pull, headSha);
  return undefined;
}

async function store(app: App, pull: PullRequestRow, { merging }: SeenMerge): Promise<void> {
  if (merging === null) return;
  await app.db.transaction(async (em) => {
    if (!(await setMerging(em, pull, merging))) return;
    await touchTask(em, pull.taskId);
    await queueMirror(app, em, pull.taskId);
  });
}

/** Forgets that GitHub merges a pull request, and says why: on the task, in its status comment, and in the inbox. */
async function end(app: App, pull: PullRequestRow, why: string): Promise<void> {
  await app.db.transaction(async (em) => {
    await endMerging(em, pull, why);
    await touchTask(em, pull.taskId);
    await tellInbox(em, pull.taskId);
    await queueMirror(app, em, pull.taskId);
  });
}

/** Brings a branch up to date where its base branch requires that. GitHub's auto-merge then waits for the checks of the new head. */
async function bringUpToDate(
  app: App,
  reading: Reading,
  { updates, askedBy }: MergeRow,
  { headSha }: SeenMerge,
): Promise<void> {
  const { octokit, name, pull } = reading;
  if (updates >= maxUpdates || pull.unreadySha === headSha) return;
  const settings = await settingsOnGitHub(octokit, name).catch(() => undefined);
  if (settings?.merge.update !== true) return;
  const asker = askedBy === null ? [] : [askedBy];
  const lack = await lackOfRightIn(app, asker, [pull.repositoryId], 'write');
  if (lack !== undefined) return takeBack(app, reading, lack.replace(/\.$/, ''));
  await countUpdate(app.db.manager, pull);
  await updateBranch(octokit, name, { number: pull.number, headSha });
}

/** GitHub's reasons to take a pull request from its merge queue (docs.github.com, webhook `pull_request`, `dequeued`). */
const reasons: Record<string, string> = {
  MANUAL: 'somebody removed it',
  MERGE_CONFLICT: 'it conflicts with its base branch, or with a pull request before it in the queue',
  CI_FAILURE: 'checks failed on its merge with the base branch',
  CI_TIMEOUT: 'the checks of its merge with the base branch took too long',
  QUEUE_CLEARED: 'the queue was cleared',
  ROLL_BACK: 'a pull request before it was taken out of the queue',
  BRANCH_PROTECTIONS: 'the rules of its base branch are not met',
  GIT_TREE_INVALID: 'its merge with the base branch could not be built',
  INVALID_MERGE_COMMIT: 'its merge with the base branch could not be built',
};

async function dropped(app: App, { pull }: Reading, row: MergeRow, ended: SeenMerge['ended']): Promise<void> {
  // An older end says nothing about this merge. GitHub's clock and ours may differ by a little.
  const last = ended !== null && ended.at.getTime() >= (row.since?.getTime() ?? 0) - 60_000 ? ended : null;
  const code = (last?.reason ?? '').toUpperCase().replace(/\W+/g, '_');
  // The event that it was merged follows.
  if (last?.what === 'queue' && /^(MERGED?|ALREADY_MERGED)$/.test(code)) return;
  const known = Object.hasOwn(reasons, code) ? reasons[code] : undefined;
  const why = known ?? (last?.reason ? oneLine(last.reason, 200).replace(/\.$/, '') : 'GitHub does not say why');
  const what =
    row.state === 'queued' ? `took ${pull.url} out of its merge queue` : `turned off auto-merge of ${pull.url}`;
  await end(app, pull, `GitHub ${what}: ${why}.`);
  if (code === 'CI_FAILURE') await reviseForQueue(app, pull, row, last?.commit ?? null);
}

/** The checks of a merge queue run on commits that nobody sees, so no other event tells the agent of them. */
async function reviseForQueue(app: App, pull: PullRequestRow, row: MergeRow, commit: string | null): Promise<void> {
  const on = commit === null ? '' : ` (commit ${commit.slice(0, 7)})`;
  await reviseUnasked(app, pull, {
    source: 'checks',
    cause: `queue-${row.headSha ?? pull.headSha}`,
    text: `GitHub took the pull request out of its merge queue, because checks failed on its merge with the base branch${on}. On the branch alone they passed. Merge the base branch in, run the checks, and fix the cause.`,
    most: maxRevisions,
    tooOften: `checks still fail in the merge queue after ${maxRevisions} revisions by the agent; a person should look`,
  });
}
