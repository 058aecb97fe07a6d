import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import type { RunRow } from '../../db/tables/task.ts';
import { branchName } from '../../domain/branch.ts';
import { RunFailed } from '../../domain/run.ts';
import { blobsOf } from '../../git/diff.ts';
import type { Checkout, Remote } from '../../git/engine.ts';
import { type OpenCheckout, openCheckout, startToolsIn } from '../../repositories/checkout.ts';
import type { Confinement, RestoredFile, ToolHost } from '../../sandbox/sandbox.ts';
import { isAskedFor } from '../../tasks/revision-store.ts';
import type { TaskView } from '../../tasks/store.ts';
import { listPullsIn } from '../../tasks/work-store.ts';
import { type Journal, stepOf } from '../lease/journal.ts';
import { findKeptWork } from './kept-work.ts';

/** The branch of a run and the commit from which the run began. */
export interface Branch {
  name: string;
  /** The run's changes are the differences from this commit. */
  from: string;
  /** Whether the branch exists on the remote with `from` as its head. */
  continues: boolean;
  /** The head of the default branch when the run began. */
  base: string;
  /** The paths that conflict, set when the run merges the base branch. Their files contain git's conflict markers. */
  conflicts?: string[];
  /** The run begins with the work that an earlier run could not push. */
  keepsWork?: true;
}

export interface Workspace extends OpenCheckout {
  branch: Branch;
  /** The current head of the default branch. */
  baseHead: string;
  /** The tree that was checked out first. For a merge, this is the merged tree. */
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
export type Placed = Pick<Workspace, 'branch' | 'baseHead' | 'startTree'>;

/**
 * Clones the repository and checks out the branch of the run as it is on the remote. If the branch does not exist yet,
 * checks out the head of the default branch. A worker that takes over a run checks out the commit from which the run
 * began. `furnish` completes the workspace before its tools can be used.
 */
export async function openWorkspace<T extends object>(
  app: App,
  run: Pick<RunRow, 'id' | 'kind' | 'taskId' | 'createdAt'>,
  journal: Journal,
  about: { task: TaskView; repository: RepositoryRow; remote: Remote; signals: Signals },
  furnish: (checkout: Checkout, placed: Placed) => Promise<T>,
): Promise<Workspace & T> {
  const { checkout, remove } = await openCheckout(app, about.remote, about.signals.git);
  try {
    const place = async () => {
      const placed = await putInPlace(app, run, journal, checkout, about);
      return { ...placed, ...(await furnish(checkout, placed)) };
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
  about: { task: TaskView; repository: RepositoryRow },
): Promise<Placed> {
  const { repository } = about;
  const base = await checkout.fetch(repository.defaultBranch);
  if (base === undefined)
    throw new RunFailed(
      'repository',
      `the repository has no branch ${repository.defaultBranch}; push a first commit, or set the default branch of the repository`,
    );
  const branch = await journal.once(stepOf('branch', about.task, repository), async () => {
    const chosen = await chooseBranch(app, about.task, repository, checkout, base);
    // After subtasks were merged into the base, the agent has to continue with their changes.
    const isMerge =
      chosen.continues &&
      repository.id === about.task.repositoryId &&
      ((await isAskedFor(app.db.manager, run.id, 'conflict')) ||
        (run.kind === 'continue' && !(await checkout.isAncestor(base, chosen.from))));
    if (isMerge) return { ...chosen, conflicts: (await checkout.merge(chosen.from, base)).conflicts };
    const left = repository.id === about.task.repositoryId ? await findKeptWork(app.db.manager, run) : undefined;
    return left !== undefined && (await isBasis(checkout, chosen, left.branch))
      ? { ...chosen, from: left.branch.from, base: left.branch.base, keepsWork: true as const }
      : chosen;
  });
  if (branch.continues) await checkout.fetch(branch.name);
  if (branch.from !== base && !(await checkout.fetchCommit(branch.from)))
    throw new RunFailed('repository', `the commit ${branch.from} from which the run began no longer exists`);
  const commit = branch.conflicts === undefined ? branch.from : await mergeCommit(checkout, branch);
  await checkout.checkout(commit);
  return { branch, baseHead: base, startTree: await checkout.treeOf(commit) };
}

/** Returns whether kept work still fits: its branch is as it was, or the commit that it began from still exists. */
async function isBasis(checkout: Checkout, chosen: Branch, left: Branch): Promise<boolean> {
  if (left.conflicts !== undefined || chosen.continues !== left.continues) return false;
  return chosen.continues ? chosen.from === left.from : checkout.fetchCommit(left.from);
}

/** Merges the base branch into the task's branch. Every worker that takes over the run creates the same commit. */
async function mergeCommit(checkout: Checkout, { from, base }: Branch): Promise<string> {
  if (!(await checkout.fetchCommit(base)))
    throw new RunFailed('repository', `the commit ${base} that the run was merging no longer exists`);
  const { tree } = await checkout.merge(from, base);
  const author = { name: 'merge', email: 'merge@localhost' };
  const at = new Date('2001-01-01T00:00:00Z');
  return checkout.commit({ tree, parents: [from, base], message: 'merge', author, at });
}

/**
 * Chooses the task's branch while it exists and is not merged. After a merge or a deletion, chooses the next name,
 * `…-2`.
 */
async function chooseBranch(
  app: App,
  task: TaskView,
  repository: RepositoryRow,
  checkout: Checkout,
  base: string,
): Promise<Branch> {
  const pulls = await listPullsIn(app.db.manager, task.id, repository.id);
  const known = repository.id === task.repositoryId ? task.branchName : (pulls[0]?.headBranch ?? null);
  if (known === null) {
    const name = branchName(task.id, task.title);
    // A run that was cancelled during its push may have left the branch.
    const left = task.runCount > 1 ? await checkout.fetch(name) : undefined;
    return { name, from: left ?? base, base, continues: left !== undefined };
  }
  const isMerged = pulls.some((p) => p.headBranch === known && p.status === 'merged');
  const head = isMerged ? undefined : await checkout.fetch(known);
  if (head !== undefined) return { name: known, from: head, base, continues: true };
  const attempt = Number(/-(\d+)$/.exec(known.slice('agent/12345678'.length))?.[1] ?? 1);
  const stem = branchName(task.id, task.title);
  const isNumbered = known !== stem && attempt > 1;
  return { name: branchName(task.id, task.title, isNumbered ? attempt + 1 : 2), from: base, base, continues: false };
}

/** Returns the files that changed since the workspace was opened, with their contents. */
export async function changedFiles({ checkout, startTree }: Workspace): Promise<RestoredFile[]> {
  return filesBetween(checkout, startTree, await checkout.snapshot());
}

/** Returns the files to write or delete to turn one tree into another. Skips submodules. */
async function filesBetween(checkout: Checkout, from: string, to: string): Promise<RestoredFile[]> {
  const kept = (await checkout.changes(from, to)).filter((c) => c.newMode !== '160000');
  const blobs = await blobsOf(checkout, kept, 'new');
  return kept.map(({ path, newMode, newOid }) => ({
    path,
    mode: newMode,
    content: newMode === '000000' ? null : (blobs.get(newOid) ?? Buffer.alloc(0)).toString('base64'),
  }));
}

/** Compresses the changed files of all repositories of a run, to be stored with a turn. */
export async function packFiles(files: Record<string, RestoredFile[]>): Promise<Buffer> {
  return promisify(gzip)(JSON.stringify(files));
}

export async function unpackFiles(packed: Buffer): Promise<Record<string, RestoredFile[]>> {
  const files = JSON.parse((await promisify(gunzip)(packed)).toString('utf8'));
  // An older version stored an array, because a run had only one repository.
  return Array.isArray(files) ? { '': files } : files;
}
