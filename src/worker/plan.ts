import type { EntityManager } from 'typeorm';
import { filesNotPlanned } from '../conversation/planned-files.ts';
import { part } from '../conversation/prompts.ts';
import { maxUnplannedFiles, planModeOf } from '../domain/settings.ts';
import { listOpened } from '../runs/directors.ts';
import { findOrigin } from '../runs/taking-up/take-up-store.ts';
import { findApprovedPlan } from '../runs/waiting/store.ts';
import { ownChangesOf, type TreeOf } from './leaving/changes.ts';
import { allWorks, type Planning, type Work } from './work.ts';
import type { MayRead } from './workspace/open-repositories.ts';

/**
 * Reads what a run knows of plans. A rewound run knows what the earlier run knew after the turn that it goes back to. A
 * plan that the run may not read does not count as approved.
 */
export async function readPlanning(
  em: EntityManager,
  { run, task, settings }: Work,
  mayRead: MayRead,
): Promise<Planning> {
  const { runIds, kind, until } = await findOrigin(em, run);
  const found = await findApprovedPlan(em, task.id, { runId: run.id, until });
  const isReadable = found !== undefined && (await mayRead(await listOpened(em, found.runId, task.repositoryId)));
  const plan = isReadable ? found : undefined;
  const approved = plan && (runIds.includes(plan.runId) ? 'in this run' : 'before');
  const mode = planModeOf({ kind, planFirst: task.planFirst, repository: settings.plan, approved });
  return { mode, approved: plan };
}

/** Writes the sections of an agent's first message that are about plans. */
export function planSections({ mode, approved }: Planning): string[] {
  if (mode !== 'never') return [part(mode === 'always' ? 'plan-always' : 'plan-large')];
  if (approved === undefined) return [];
  const keep = approved.isChanged
    ? 'A person changed this plan before they approved it. Keep to it as it is now.'
    : 'Keep to this plan.';
  return [`## The approved plan\n${keep}\n\n${approved.markdown}`];
}

/** Finds in each repository the changed files that the task's approved plan does not name. Its pull request lists them. */
export async function findUnplanned(work: Work, treeOf: TreeOf): Promise<void> {
  const { files: planned, isChanged } = work.planning?.approved ?? {};
  // A person who changed the text did not change the agent's list of files, so it says nothing about their plan.
  if (planned === undefined || isChanged) return;
  for (const each of allWorks(work)) {
    const folder = each === work ? '' : `../${each.repository.name}/`;
    const paths = (await changesOfBranch(each, treeOf)).map((path) => folder + path);
    each.unplanned = await filesNotPlanned(planned, paths);
  }
}

/**
 * Returns whether a change is so large that a person approves a plan first, and none has. What earlier runs of the task have pushed to
 * the branch counts: they may have ended before anybody could ask for a plan. In a revision only what it adds counts, because people
 * have seen the rest when they asked for it.
 */
export async function lacksPlan(work: Work, treeOf: TreeOf): Promise<boolean> {
  const isRevision = work.run.kind === 'revise';
  let count = 0;
  for (const each of allWorks(work))
    count += (isRevision ? await ownChangesOf(each, treeOf) : await changesOfBranch(each, treeOf)).length;
  return count > maxUnplannedFiles;
}

/** Returns the files that the branch of a run changes, with what earlier runs pushed to it and without what came from the base. */
async function changesOfBranch(work: Work, treeOf: TreeOf): Promise<string[]> {
  const { checkout } = work;
  const start = await checkout.treeOf(await startOf(work));
  return (await checkout.changes(start, await treeOf(work))).map(({ path }) => path);
}

/** Returns the commit of the base branch from which the branch of a run differs. A run that merges has all of the base branch. */
async function startOf({ checkout, branch }: Work): Promise<string> {
  const { base, from, continues, conflicts } = branch;
  if (conflicts !== undefined) return base;
  return (continues ? await checkout.mergeBase(base, from) : undefined) ?? from;
}
