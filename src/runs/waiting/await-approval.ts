import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import { diffOf } from '../../git/diff.ts';
import { findProject } from '../../projects/store.ts';
import type { StoredDiff } from '../../tasks/work-store.ts';
import { changesOf, type TreeOf } from '../outgoing/changes.ts';
import { allWorks, type Work } from '../work.ts';
import { parentsOf } from '../workspace/workspace.ts';
import { type Approvable, holdChange, isApproved } from './held-change-store.ts';
import { park } from './park.ts';
import { Parked } from './parked.ts';

/** At most this many changed files are listed for the approval. */
const maxListed = 300;

/** Returns whether a person has to approve what a run pushes: by its project, or by a repository that it has open. */
export async function needsApproval(app: App, work: Work): Promise<boolean> {
  if (allWorks(work).some(({ settings }) => settings.push === 'approved')) return true;
  return (await findProject(app.db.manager, work.run.projectId)).push === 'approved';
}

/**
 * Returns if a run may push its change: nobody has to approve it, or somebody approved exactly this change.
 * @throws Parked otherwise; the run then waits for an approval
 */
export async function awaitPushApproval(app: App, work: Work, changed: Work[], treeOf: TreeOf): Promise<void> {
  // A worker that was stopped while it pushed had the approval.
  if ((await work.journal.steps('push')).length > 0 || !(await needsApproval(app, work))) return;
  await awaitApproval(app, work, { purpose: 'push', changed, treeOf, text: () => listFiles(work, changed, treeOf) });
}

/** What a person is asked to approve. */
interface Asked {
  purpose: Approvable['purpose'];
  /** The changed repositories. */
  changed: Work[];
  treeOf: TreeOf;
  /** Writes what the person reads. */
  text(): Promise<string>;
}

/**
 * Returns if a person approved exactly these trees, on exactly these commits, for this purpose.
 * @throws Parked otherwise; the run then waits for the approval
 */
async function awaitApproval(app: App, work: Work, { purpose, changed, treeOf, text }: Asked): Promise<void> {
  const { run, journal } = work;
  const wanted: Approvable = { purpose, trees: {}, parents: {} };
  for (const each of changed) {
    wanted.trees[each.repository.id] = await treeOf(each);
    wanted.parents[each.repository.id] = parentsOf(each.branch);
  }
  if (await isApproved(app.db.manager, run.id, wanted)) return;
  const wait = { id: newId('wait'), reason: 'push' as const, text: await text(), options: [], seconds: null };
  const diff = await diffOfHeld(work, treeOf);
  await journal.write(async (em) => {
    await holdChange(em, { id: run.id, taskId: run.taskId }, wanted, diff);
    await park(app, em, run, wait);
  });
  throw new Parked();
}

async function listFiles(work: Work, changed: Work[], treeOf: TreeOf): Promise<string> {
  const paths: string[] = [];
  for (const each of changed) {
    const folder = each === work ? '' : `../${each.repository.name}/`;
    // A line break in a path would look like two files.
    for (const { path } of await changesOf(each, treeOf)) paths.push(`${folder}${path.replace(/\p{Cc}/gu, '?')}`);
  }
  const more = paths.length > maxListed ? [`and ${paths.length - maxListed} more`] : [];
  return [...paths.slice(0, maxListed), ...more].join('\n');
}

/** Returns the diff that the task shows while it waits: of its own repository, as the branch would be. */
async function diffOfHeld(work: Work, treeOf: TreeOf): Promise<StoredDiff> {
  const { checkout, branch, repository } = work;
  const from = (branch.continues ? await checkout.mergeBase(branch.base, branch.from) : undefined) ?? branch.from;
  const diff = await diffOf(checkout, await checkout.treeOf(from), await treeOf(work));
  return { ...diff, branchName: branch.name, baseBranch: repository.defaultBranch, headSha: '' };
}
