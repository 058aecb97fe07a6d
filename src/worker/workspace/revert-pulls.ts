import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { RunFailed } from '../../domain/run.ts';
import type { Checkout } from '../../git/engine.ts';
import { credentialFor, octokitFor } from '../../repositories/credentials.ts';
import { type MergedCommits, readMergedCommits, UnknownMerge } from '../../repositories/merging/merged-commits.ts';
import { listStepsOfTask, stepOf } from '../../runs/journal.ts';
import { listUndone, type UndonePull } from '../../runs/undoing/store.ts';
import type { TaskView } from '../../tasks/store.ts';
import { listPullsIn } from '../../tasks/work-store.ts';

/** A pull request that a run reverts, with the commits that its merge put onto the base branch. */
export interface Revert extends MergedCommits {
  number: number;
  url: string;
}

/** What a run reverts in one repository, and the paths that conflict. */
export interface Reverts {
  /** The one that was merged last first. */
  pulls: Revert[];
  conflicts: string[];
}

/** Where something is reverted. */
interface Place {
  task: Pick<TaskView, 'id' | 'undoOf' | 'repositoryId'>;
  repository: RepositoryRow;
}

/** Returns the merged pull requests of a repository that a task reverts. */
export async function undoneIn(em: EntityManager, { task, repository }: Place): Promise<UndonePull[]> {
  return (await listUndone(em, task.id)).filter(({ repositoryId }) => repositoryId === repository.id);
}

/**
 * Reverts the pull requests that a task undoes in a repository, on a commit of its base branch. Returns undefined if it undoes
 * nothing there.
 * @throws RunFailed when GitHub does not say what was merged, or no longer has it
 */
export async function readReverts(
  app: App,
  place: Place,
  checkout: Checkout,
  from: string,
): Promise<Reverts | undefined> {
  const undone = await undoneIn(app.db.manager, place);
  const own = await listPullsIn(app.db.manager, place.task.id, place.repository.id);
  // What an earlier run reverted is merged already.
  if (undone.length === 0 || own.some(({ status }) => status === 'merged')) return undefined;
  const pulls: Revert[] = [];
  for (const { number, url } of undone) pulls.push({ number, url, ...(await commitsOf(app, place, number)) });
  return { pulls, conflicts: (await revertAll(checkout, from, pulls)).conflicts };
}

async function commitsOf(app: App, { repository }: Place, number: number): Promise<MergedCommits> {
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none')
    throw new RunFailed('repository', 'the repository is not on GitHub, so nobody says what was merged');
  try {
    return await readMergedCommits(
      await octokitFor(app, credential),
      { owner: credential.owner, repo: credential.repo },
      number,
    );
  } catch (error) {
    if (!(error instanceof UnknownMerge)) throw error;
    throw new RunFailed('repository', `${error.message}; revert it on GitHub`);
  }
}

/**
 * Returns what the runs of a task revert in a repository. A later run continues the branch on which an earlier one reverted it.
 */
export async function findReverts(
  em: EntityManager,
  { task, repository }: Place,
  own: Reverts | undefined,
): Promise<Reverts | undefined> {
  if (own !== undefined || (await undoneIn(em, { task, repository })).length === 0) return own;
  const branches = await listStepsOfTask<{ reverts?: Reverts }>(em, task.id, stepOf('branch', task, repository));
  return branches.find(({ reverts }) => reverts !== undefined)?.reverts;
}

/** Commits that are only made to be merged. Every worker makes the same ones. */
const nobody = { author: { name: 'revert', email: 'revert@localhost' }, at: new Date('2001-01-01T00:00:00Z') };

/**
 * Reverts merged pull requests on a commit, and returns the tree. Files with conflicts hold git's conflict markers. A revert is
 * a merge of three trees: that of the commit, and that before the pull request, whose common ancestor is the one with it. So all
 * commits of a rebase are reverted at once, and a merge commit as `git revert -m 1` does it.
 */
export async function revertAll(
  checkout: Checkout,
  from: string,
  pulls: Revert[],
): Promise<{ tree: string; conflicts: string[] }> {
  const conflicts = new Set<string>();
  let tree = await checkout.treeOf(from);
  for (const { commit, before, url } of pulls) {
    for (const needed of [commit, before])
      if (!(await checkout.fetchCommit(needed)))
        throw new RunFailed('repository', `${url} cannot be reverted, because its commit ${needed} no longer exists`);
    const merged = await checkout.treeOf(commit);
    const base = await checkout.commit({ tree: merged, parents: [], message: 'with it', ...nobody });
    const ours = await checkout.commit({ tree, parents: [base], message: 'now', ...nobody });
    const earlier = await checkout.treeOf(before);
    const theirs = await checkout.commit({ tree: earlier, parents: [base], message: 'before it', ...nobody });
    const made = await checkout.merge(ours, theirs);
    tree = made.tree;
    for (const path of made.conflicts) conflicts.add(path);
  }
  return { tree, conflicts: [...conflicts] };
}

/** Returns a commit with the reverts, from which a run begins. Every worker that takes over the run creates the same one. */
export async function revertedCommit(checkout: Checkout, from: string, { pulls }: Reverts): Promise<string> {
  const { tree } = await revertAll(checkout, from, pulls);
  return checkout.commit({ tree, parents: [from], message: 'revert', ...nobody });
}
