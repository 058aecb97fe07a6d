import type { App } from '../app.ts';
import { lockUntilCommit } from '../db/locks.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { Refused } from '../domain/machine.ts';
import { notFound } from '../errors.ts';
import { findLiveRun, insertRun } from '../runs/store.ts';
import { moveTask } from '../tasks/move.ts';
import { insertTask } from '../tasks/operations.ts';
import { setTaskFields } from '../tasks/store.ts';
import {
  type Benchmark,
  type BenchmarkItem,
  beginBenchmark,
  countRejected,
  findBenchmark,
  findBenchmarkTask,
  listItems,
  setEnabled,
} from './benchmark-store.ts';

/** How many usable items a harvest looks for by default, and at most. */
export const [usualItems, maxItems] = [20, 30];

interface Harvesting {
  repository: RepositoryRow;
  userId: string;
  most: number;
  /** Changes before this moment are left alone. */
  since: Date | null;
}

/** Items of a benchmark that are returned. */
interface Page {
  limit: number;
  offset: number;
}

export interface ShownBenchmark extends Omit<Benchmark, 'dropped'> {
  /** Why the other commits were dropped, the most frequent reason first. */
  dropped: { reason: string; count: number }[];
  items: BenchmarkItem[];
}

/**
 * Starts a harvest: a run looks through the history of the repository for changes whose tests fail before and pass after
 * them. Usable items of earlier harvests stay. @throws Refused while one runs
 */
export async function startHarvest(app: App, harvesting: Harvesting, page: Page): Promise<ShownBenchmark> {
  const { repository, userId, most, since } = harvesting;
  await app.db.transaction(async (em) => {
    await lockUntilCommit(em, 'benchmarks', repository.id);
    const known = await findBenchmarkTask(em, repository.id);
    if (known !== undefined && (await findLiveRun(em, known)) !== null)
      throw new Refused('A harvest of this repository is running. Wait until it has ended, or cancel it.');
    const title = `Benchmark of ${repository.name}`.slice(0, 200);
    const taskId =
      known ??
      (await insertTask(app, em, repository.projectId, {
        title,
        description: 'Earlier changes of the repository become tasks with hidden tests.',
        status: 'ready',
        repositoryId: repository.id,
        createdBy: null,
        planFirst: false,
        hidden: true,
      }));
    await setTaskFields(em, taskId, { title });
    await moveTask(app, em, taskId, 'harvest');
    const runId = await insertRun(em, {
      taskId,
      projectId: repository.projectId,
      agentId: null,
      startedBy: userId,
      directedBy: [userId],
      kind: 'harvest',
      instructions: '',
    });
    await beginBenchmark(em, { repositoryId: repository.id, taskId, runId, most, since });
    await app.queue.send(em, 'run', {});
    app.audit.note({
      run: [null, runId],
      most: [null, most],
      ...(since === null ? {} : { since: [null, since.toISOString()] }),
    });
  });
  return getBenchmark(app, repository, page);
}

/** Returns the benchmark of a repository. @throws AppError 404 before the first harvest */
export async function getBenchmark(app: App, { id }: Pick<RepositoryRow, 'id'>, page: Page): Promise<ShownBenchmark> {
  const em = app.db.manager;
  const found = await findBenchmark(em, id);
  if (found === undefined) throw notFound('Benchmark of repository', id);
  const counts = { ...found.dropped };
  for (const [reason, count] of Object.entries(await countRejected(em, id)))
    counts[reason] = (counts[reason] ?? 0) + count;
  const dropped = Object.entries(counts).map(([reason, count]) => ({ reason, count }));
  dropped.sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
  return { ...found, dropped, items: await listItems(em, id, page) };
}

/** Switches an item on or off. Trials that have begun keep their items. @throws AppError 404 */
export async function switchItem(
  app: App,
  repository: Pick<RepositoryRow, 'id' | 'name'>,
  itemId: string,
  enabled: boolean,
): Promise<BenchmarkItem> {
  return app.db.transaction(async (em) => {
    const before = await setEnabled(em, repository.id, itemId, enabled);
    if (before === undefined) throw notFound(`Benchmark item of repository ${repository.name}`, itemId);
    app.audit.note(
      before.enabled === enabled ? {} : { enabled: [before.enabled, enabled], item: [null, before.title] },
    );
    return { ...before, enabled };
  });
}
