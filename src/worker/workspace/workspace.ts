import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import type { RunRow } from '../../db/tables/run.ts';
import { RunFailed } from '../../domain/run.ts';
import { branchName } from '../../domain/text/branch-names.ts';
import { chooseFiles } from '../../environment/files/choose-files.ts';
import type { Readers } from '../../environment/files/private-submodules.ts';
import type { Checkout, Remote } from '../../git/engine.ts';
import { type OpenCheckout, openCheckout, startToolsIn } from '../../repositories/reader.ts';
import { noSettings, readBase, readSettings } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { listOpened } from '../../runs/directors.ts';
import { earlierStep, type Journal, listStepsOfTask, pushingStep, stepOf } from '../../runs/journal.ts';
import { findAsk, type PullAsk } from '../../runs/reviewing/store.ts';
import type { Confinement, ToolHost } from '../../sandbox/sandbox.ts';
import type { TaskView } from '../../tasks/store.ts';
import { isAskedFor, listPullsIn } from '../../tasks/work-store.ts';
import { isBasis, lastMerged, requireOfBase } from './of-base.ts';
import { branchOfPull, settingsForPull } from './pull-branch.ts';
import { type Reverts, readReverts, revertedCommit, undoneIn } from './revert-pulls.ts';
import { findStoredFiles } from './stored-files.ts';
import { placeTrial, type TrialBeginning } from './trial-place.ts';

/** The step with which a run records that its work was not pushed and is left to the next run of its task. */
export const keptStep = 'kept work';

/** The work of an earlier run in the task's own repository. */
export interface KeptWork {
  branch: Branch;
  /** The changed files, packed as with the turns, oldest first. */
  files: Buffer[];
  /** Whether the run had opened other repositories. Its files may contain their text. */
  hasOthers: boolean;
}

/**
 * Finds the work that the last run before this one left in the task's own repository because it could not push it.
 * Returns undefined if nothing was kept, if it is no longer complete, or if a later run has pushed or succeeded.
 */
export async function findKeptWork(
  em: EntityManager,
  run: Pick<RunRow, 'id' | 'taskId' | 'createdAt'>,
  repositoryId: string,
): Promise<KeptWork | undefined> {
  const rows: { id: string; branch: Branch }[] = await em.query(
    `select last.id, b.data as branch
     from (
       select r.id from runs r
       where r.task_id = $1 and r.id <> $2 and r.created_at <= $3
         and (r.status = 'succeeded' or exists (
           select 1 from run_steps s where s.run_id = r.id and (s.name = $4 or s.name = 'push')))
       order by r.created_at desc, r.id desc limit 1) last
     join run_steps k on k.run_id = last.id and k.name = $4
     join run_steps b on b.run_id = last.id and b.name = 'branch'
     where (select count(*) = max(turn) + 1 from run_turns where run_id = last.id)
       and exists (select 1 from run_contexts where run_id = last.id)`,
    [run.taskId, run.id, run.createdAt, keptStep],
  );
  const [last] = rows;
  if (last === undefined) return undefined;
  const files = await findStoredFiles(em, last.id);
  if (files.length === 0) return undefined;
  return { branch: last.branch, files, hasOthers: (await listOpened(em, last.id, repositoryId)).length > 0 };
}

/** Writes the section of an agent's first message that is about kept work. */
export function keptSections(left: KeptWork | undefined): string[] {
  if (left === undefined) return [];
  const text = 'The workspace has the changes of an earlier run that were not pushed. Look at them first.';
  return [`## Unfinished work\n${text}`];
}

/** The branch of a run and the commit from which the run began. */
export interface Branch {
  name: string;
  /** The run's changes are the differences from this commit. */
  from: string;
  /** Whether the branch exists on the remote with `from` as its head. */
  continues: boolean;
  /** The head of the base branch when the run began. */
  base: string;
  /** Only workers of the previous release read it, from runs that this release began: see `Workspace.setupFrom`. */
  setupFrom?: string;
  /** The paths that conflict, set when the run merges the base branch. Their files contain git's conflict markers. */
  conflicts?: string[];
  /** The run begins with the work that an earlier run could not push. */
  keepsWork?: true;
  /** For a rewound run, the commit to check out if it is not `from`: the one from which the earlier run began. */
  filesFrom?: string;
  /**
   * Set when the branch has merged the base branch, up to `base`, since the commit of these files. The run then merges
   * `base` into the files.
   */
  catchesUp?: true;
  /** What the run reverts before anybody changes a file; missing for a run that undoes nothing, or goes on with a branch. */
  reverts?: Reverts;
}

/** Returns the parents of the commit that a run pushes. */
export function parentsOf({ from, base, conflicts }: Branch): string[] {
  return conflicts === undefined ? [from] : [from, base];
}

/** How the files of a workspace are fetched. */
interface Reach {
  remote: Remote;
  signals: Signals;
  /** For whom private submodules are fetched. */
  readers: Readers;
}

export interface Workspace extends OpenCheckout {
  branch: Branch;
  /** The .deckhand.yml of the default branch. */
  settings: RepositorySettings;
  /** The branch into which the pull request goes. */
  baseBranch: string;
  /** Its current head. */
  baseHead: string;
  /** The current head of the branch from which the tasks of the repository start unless they say otherwise. */
  trustedHead: string;
  /**
   * The commit from which set-up begins: that head when this run began, even if its files are those of an earlier run. An older commit could
   * have a script that has been replaced since, and set-up would give it the secrets of today.
   */
  setupFrom: string;
  /** The tree that was checked out first, before stored files were restored. For a merge, this is the merged tree. */
  startTree: string;
  /** The tools that work on the workspace's files. They end with the workspace at the latest. */
  host: ToolHost;
}

/**
 * The signals that abort the parts of a run. Git stops when this worker loses the run. The tools also stop when the
 * run's time or a limit is used up.
 */
export interface Signals {
  git: AbortSignal;
  tools: AbortSignal;
  /** The sandbox of the tools; `tools` is its signal. */
  confinement: Confinement;
}

/** What is known once the files are in place. */
export type Placed = Pick<
  Workspace,
  'branch' | 'settings' | 'baseBranch' | 'baseHead' | 'trustedHead' | 'setupFrom' | 'startTree'
>;

/** What a workspace is opened for. */
interface About {
  task: TaskView;
  repository: RepositoryRow;
  /** Set for the run of a trial. */
  trial?: TrialBeginning | undefined;
}

/**
 * Clones the repository and checks out the branch of the run as it is on the remote. If the branch does not exist yet,
 * checks out the head of the base branch. A worker that takes over a run checks out the commit from which the run
 * began. `prepare` completes the workspace before its tools can be used.
 */
export async function openWorkspace<T extends object>(
  app: App,
  run: Pick<RunRow, 'id' | 'kind' | 'taskId' | 'createdAt'>,
  journal: Journal,
  about: About & Reach,
  prepare: (checkout: Checkout, placed: Placed) => Promise<T>,
): Promise<Workspace & T> {
  const { checkout, remove } = await openCheckout(app, about.remote, about.signals.git);
  try {
    const place = async () => {
      const placed = await putInPlace(app, run, journal, checkout, about);
      return { ...placed, ...(await prepare(checkout, placed)) };
    };
    const { host, placed } = await startToolsIn(about.signals.confinement, checkout, place);
    try {
      await checkout.remember();
      return { checkout, ...placed, host, remove: () => host.close().then(remove) };
    } catch (error) {
      await host.close();
      throw error;
    }
  } catch (error) {
    await remove();
    throw error;
  }
}

async function putInPlace(
  app: App,
  run: Pick<RunRow, 'id' | 'kind' | 'taskId' | 'createdAt'>,
  journal: Journal,
  checkout: Checkout,
  about: About & Reach,
): Promise<Placed> {
  const { repository, trial } = about;
  const { remote, signals, readers } = about;
  if (trial !== undefined) {
    await chooseFiles(checkout, { app, remote, settings: trial.settings, signal: signals.git, readers });
    return placeTrial(checkout, trial, repository);
  }
  const ask = await findAsk(app.db.manager, run.id);
  const found = await readBase(checkout, { repository, remote }, async (commit) => {
    const read = () => readSettings(checkout, commit);
    // Settings that an older version stored lack the newer keys.
    const stored = { ...noSettings, ...(await journal.once(stepOf('settings', about.task, repository), read)) };
    return ask === undefined ? stored : settingsForPull(stored, ask);
  });
  const baseBranch = await chooseBase(app, about.task, repository, found.branch);
  const base = baseBranch === found.branch ? found.head : await checkout.fetch(baseBranch);
  if (base === undefined)
    throw new RunFailed(
      'repository',
      `the branch ${baseBranch} no longer exists, and the task goes into it; choose another base for the task or its pull request`,
    );
  const branchOfTask = async () => {
    const place = { ...about, pattern: found.settings.branch };
    const chosen = await chooseBegun(app, place, checkout, base);
    const earlier = await journal.recall<Branch>(stepOf(earlierStep, about.task, repository));
    if (earlier !== undefined) return catchingUp(checkout, rewoundBranch(chosen, earlier), base);
    // After subtasks were merged into the base, the agent has to continue with their changes.
    const isMerge =
      chosen.continues &&
      repository.id === about.task.repositoryId &&
      ((await isAskedFor(app.db.manager, run.id, 'conflict')) ||
        (run.kind === 'continue' && !(await checkout.isAncestor(base, chosen.from))));
    if (isMerge) return { ...chosen, conflicts: (await checkout.merge(chosen.from, base)).conflicts };
    if (repository.id !== about.task.repositoryId) return chosen;
    const left = await findKeptWork(app.db.manager, run, repository.id);
    if (left === undefined || !(await isBasis(checkout, { chosen, left: left.branch, base }))) return chosen;
    if (!left.hasOthers) return { ...chosen, ...beginningOf(left.branch), keepsWork: true as const };
    // Going back to that run checks the permissions in these repositories, and opens them again.
    await journal.note(
      'loop',
      'starts without the files that an earlier run left, because it had opened other repositories; to use them, go back to its last turn',
    );
    return chosen;
  };
  const branchOf = (pull: PullAsk) => branchOfPull(checkout, run.kind, pull, base);
  const branchOfRun = () => (ask === undefined ? branchOfTask() : branchOf(ask));
  const choose = async (): Promise<Branch> => ({ ...(await branchOfRun()), setupFrom: found.trusted });
  const branch = await journal.once<Branch>(stepOf('branch', about.task, repository), choose);
  if (branch.continues) await checkout.fetch(branch.name);
  await requireOfBase(checkout, branch, { name: baseBranch, head: base });
  const filesFrom = branch.filesFrom ?? branch.from;
  for (const commit of new Set([branch.from, filesFrom]))
    if (commit !== base && !(await checkout.fetchCommit(commit)))
      throw new RunFailed('repository', `the commit ${commit} from which the run began no longer exists`);
  const isMerge = branch.conflicts !== undefined && branch.catchesUp === undefined;
  const commit = isMerge ? await mergeCommit(checkout, filesFrom, branch.base) : await beginOf(checkout, branch);
  const choosing = { app, remote, settings: found.settings, signal: signals.git, readers };
  await chooseFiles(checkout, choosing, branch.conflicts ?? branch.reverts?.conflicts);
  await checkout.checkout(commit);
  const startTree = await checkout.treeOf(commit);
  const { settings, trusted: trustedHead } = found;
  const setUp = await journal.once(stepOf('set-up', about.task, repository), async () => ({ from: trustedHead }));
  return { branch, settings, baseBranch, baseHead: base, trustedHead, setupFrom: setUp.from, startTree };
}

/** Chooses the branch of a task. If it is new, and the task undoes something here, the run begins with the reverts. */
async function chooseBegun(app: App, about: Named, checkout: Checkout, base: string): Promise<Branch> {
  const chosen = await chooseBranch(app, about, checkout, base);
  const reverts = chosen.continues ? undefined : await readReverts(app, about, checkout, base);
  return reverts === undefined ? chosen : { ...chosen, reverts };
}

/** Returns the commit whose files a run gets that does not begin with a merge. */
async function beginOf(checkout: Checkout, { from, filesFrom = from, reverts }: Branch): Promise<string> {
  return reverts === undefined ? filesFrom : revertedCommit(checkout, filesFrom, reverts);
}

/** Returns the branch into which a task goes. A pull request that is open keeps its own. What is reverted says where it is. */
async function chooseBase(app: App, task: TaskView, repository: RepositoryRow, usual: string): Promise<string> {
  const pulls = await listPullsIn(app.db.manager, task.id, repository.id);
  const open = pulls.find(({ status }) => status === 'open' || status === 'draft');
  if (open !== undefined) return open.baseBranch ?? repository.defaultBranch;
  const [undone] = await undoneIn(app.db.manager, { task, repository });
  return undone?.base ?? (repository.id === task.repositoryId ? task.base : null) ?? usual;
}

/** Returns from which commits a run began, for a later run that begins with the same files. */
function beginningOf({ from, base, filesFrom, reverts }: Branch) {
  const begun = reverts === undefined ? {} : { reverts };
  return { from, base, ...begun, ...(filesFrom === undefined ? {} : { filesFrom }) };
}

/**
 * Returns the branch of a run that goes back to a turn of an earlier run. Its files begin from the same commit as those
 * of the earlier run. Its own commit follows whatever was pushed to the branch since then, so that nothing is lost from
 * the history of the branch.
 */
export function rewoundBranch(chosen: Branch, earlier: Branch): Branch {
  const { filesFrom = earlier.from } = earlier;
  const conflicts = earlier.catchesUp ? undefined : earlier.conflicts;
  const begins = { ...beginningOf(earlier), filesFrom, ...(conflicts === undefined ? {} : { conflicts }) };
  if (!chosen.continues) return { ...chosen, ...begins };
  // The merge of the base branch that the earlier run began with is part of its files.
  const { base } = conflicts === undefined ? chosen : begins;
  return { ...chosen, ...begins, from: chosen.from, base };
}

/**
 * Finds out whether the task's branch has merged the base branch since the files of a rewound run.
 * @throws RunFailed `repository` if these files began with an earlier merge, because nothing merges into them what came later
 */
async function catchingUp(checkout: Checkout, branch: Branch, base: string): Promise<Branch> {
  const { continues, conflicts, from, filesFrom } = branch;
  // A run that began without a branch keeps its base.
  if (!continues || filesFrom === undefined) return branch;
  if (filesFrom === from || !(await checkout.fetchCommit(filesFrom))) return branch;
  const merged = await lastMerged(checkout, { base, from, filesFrom });
  if (merged === undefined) return branch;
  if (conflicts === undefined) return { ...branch, base: merged, catchesUp: true };
  if ((await checkout.fetchCommit(branch.base)) && (await checkout.mergeBase(merged, branch.base)) === merged)
    return branch;
  throw new RunFailed(
    'repository',
    'that run began by merging the base branch, which the branch has merged again since; going back would drop what came with it. Go back to a later run, or ask for a revision',
  );
}

/** Merges the base branch into the task's branch. Every worker that takes over the run creates the same commit. */
async function mergeCommit(checkout: Checkout, from: string, base: string): Promise<string> {
  if (!(await checkout.fetchCommit(base)))
    throw new RunFailed('repository', `the commit ${base} that the run was merging no longer exists`);
  const { tree } = await checkout.merge(from, base);
  const author = { name: 'merge', email: 'merge@localhost' };
  const at = new Date('2001-01-01T00:00:00Z');
  return checkout.commit({ tree, parents: [from, base], message: 'merge', author, at });
}

/** A workspace whose branch is chosen, with the pattern of its name. */
type Named = About & { pattern: string };

/**
 * Chooses the task's branch while it exists and is not merged. After a merge or a deletion, chooses the next name,
 * `…-2`.
 */
async function chooseBranch(app: App, about: Named, checkout: Checkout, base: string): Promise<Branch> {
  const { task, repository, pattern } = about;
  const pulls = await listPullsIn(app.db.manager, task.id, repository.id);
  const known = repository.id === task.repositoryId ? task.branchName : (pulls[0]?.headBranch ?? null);
  if (known === null) return newBranch(app, about, { checkout, base, first: 1 });
  const isMerged = pulls.some((p) => p.headBranch === known && p.status === 'merged');
  const head = isMerged ? undefined : await checkout.fetch(known);
  if (head !== undefined) return { name: known, from: head, base, continues: true };
  const stem = branchName(namedIn(about), pattern);
  const attempt = known === stem ? 1 : Number(/-(\d{1,4})$/.exec(known)?.[1] ?? 1);
  return newBranch(app, about, { checkout, base, first: attempt + 1 });
}

/** A new branch tries at most this many names. */
const maxTaken = 20;

/**
 * Chooses the first name that is free, or whose branch we pushed: a run that was cancelled during its push may have left
 * it. Any other branch of that name belongs to somebody else, and is left alone.
 */
async function newBranch(
  app: App,
  about: Named,
  { checkout, base, first }: { checkout: Checkout; base: string; first: number },
): Promise<Branch> {
  const { task, repository, pattern } = about;
  const step = stepOf(pushingStep, task, repository);
  const pushed = await listStepsOfTask<{ branch: string; commit: string }>(app.db.manager, task.id, step);
  for (let attempt = first; attempt < first + maxTaken; attempt++) {
    const name = branchName(namedIn(about), pattern, attempt);
    const head = await checkout.fetch(name);
    if (head === undefined) return { name, from: base, base, continues: false };
    for (const { branch, commit } of pushed)
      if (branch === name && (await checkout.isAncestor(commit, head)))
        return { name, from: head, base, continues: true };
  }
  const name = branchName(namedIn(about), pattern, first);
  throw new RunFailed('repository', `the branch ${name} and the next ${maxTaken - 1} exist already; delete them`);
}

/** Returns what a branch is named after. The number of an issue in another repository would be misleading. */
function namedIn({ task, repository }: About) {
  const isHere = task.issueRepositoryId === repository.id;
  return { id: task.id, title: task.title, issueNumber: isHere ? task.issueNumber : null };
}
