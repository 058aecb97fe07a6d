import type { EntityManager } from 'typeorm';
import { liveRun } from '../db/tables/run.ts';
import { storableJson, storableText } from '../domain/text/sanitize.ts';

export const benchmarkStatuses = ['harvesting', 'ready', 'failed'] as const;
export type BenchmarkStatus = (typeof benchmarkStatuses)[number];

/** The benchmark of a repository: what its history offered as tasks with hidden tests. */
export interface Benchmark {
  repositoryId: string;
  /** The hidden task to which the runs belong that harvest it. */
  taskId: string;
  /** The latest of these runs. */
  runId: string;
  /** `harvesting` while that run is live; `ready` when it succeeded, or was cancelled after it had found something. */
  status: BenchmarkStatus;
  /** Why the run failed. */
  reason: string | null;
  /** How many usable items were asked for. */
  most: number;
  /** Changes before this moment are left alone. */
  since: Date | null;
  /** The commits that the latest run has looked at. */
  looked: number;
  /** The number of usable items, including those of earlier runs. */
  usable: number;
  /** How many commits were dropped without being tried, by the reason. */
  dropped: Record<string, number>;
  startedAt: Date;
  finishedAt: Date | null;
}

export const itemStates = ['usable', 'rejected'] as const;

/** A change of the past as a task with hidden tests. */
export interface BenchmarkItem {
  id: string;
  repositoryId: string;
  title: string;
  text: string;
  /** What the text said about the solution and says no longer. */
  removed: string[];
  /** The commit from which an agent begins. */
  baseSha: string;
  solutionSha: string;
  /** The paths of the solution's tests, and of new files that only these use. */
  tests: string[];
  /** The single tests that fail before the solution and pass with it, where the output of the checks names them. */
  singleTests: string[];
  /** How long the checks took with the solution. */
  seconds: number;
  /** Usable: the checks pass on the base and with the solution, and fail on the base with the solution's tests. */
  state: (typeof itemStates)[number];
  /** Why it is rejected. */
  reason: string | null;
  /** Whether trials use it. */
  enabled: boolean;
  /** The key of the environment of the base, under which its set-up is kept. */
  environmentKey: string;
  /** Newer changes have smaller numbers. */
  place: number;
}

const itemColumns = `i.id, i.repository_id as "repositoryId", i.title, i.text, i.removed, i.base_sha as "baseSha",
  i.solution_sha as "solutionSha", i.tests, i.single_tests as "singleTests", i.seconds, i.state, i.reason, i.enabled,
  i.environment_key as "environmentKey", i.place`;

/** Returns the benchmark of a repository; undefined before the first harvest. */
export async function findBenchmark(em: EntityManager, repositoryId: string): Promise<Benchmark | undefined> {
  const rows: Benchmark[] = await em.query(
    `select b.repository_id as "repositoryId", b.task_id as "taskId", b.run_id as "runId", b.most, b.since, b.looked,
       b.dropped, u.count as usable /* not null */, r.created_at as "startedAt", r.finished_at as "finishedAt",
       r.failure->>'message' as reason,
       case when r.status in ${liveRun} then 'harvesting'
         when r.status = 'succeeded' or r.status = 'cancelled' and u.count > 0 then 'ready'
         else 'failed' end as status /* not null */
     from benchmarks b join runs r on r.id = b.run_id
     cross join lateral (
       select count(*)::int as count from benchmark_items i
       where i.repository_id = b.repository_id and i.state = 'usable') u
     where b.repository_id = $1`,
    [repositoryId],
  );
  return rows[0];
}

/** Returns the hidden task of the benchmark of a repository. */
export async function findBenchmarkTask(em: EntityManager, repositoryId: string): Promise<string | undefined> {
  const rows: { taskId: string }[] = await em.query(
    'select task_id as "taskId" from benchmarks where repository_id = $1',
    [repositoryId],
  );
  return rows[0]?.taskId;
}

/** Begins a harvest. Usable items of earlier ones stay; rejected ones are forgotten, because they are tried again. */
export async function beginBenchmark(
  em: EntityManager,
  { repositoryId, taskId, runId, most, since }: Pick<Benchmark, 'repositoryId' | 'taskId' | 'runId' | 'most' | 'since'>,
): Promise<void> {
  await em.query(
    `insert into benchmarks (repository_id, task_id, run_id, most, since) values ($1, $2, $3, $4, $5)
     on conflict (repository_id) do update set run_id = excluded.run_id, most = excluded.most, since = excluded.since,
       looked = 0, dropped = '{}'`,
    [repositoryId, taskId, runId, most, since],
  );
  await em.query(`delete from benchmark_items where repository_id = $1 and state = 'rejected'`, [repositoryId]);
}

/** Stores how far a harvest has come. */
export async function setLooked(
  em: EntityManager,
  runId: string,
  { looked, dropped }: Pick<Benchmark, 'looked' | 'dropped'>,
): Promise<void> {
  await em.query('update benchmarks set looked = $2, dropped = $3 where run_id = $1', [
    runId,
    looked,
    storableJson(dropped),
  ]);
}

/** Stores an item. Whether it is switched on stays as people chose. */
export async function upsertItem(em: EntityManager, item: Omit<BenchmarkItem, 'enabled'>): Promise<void> {
  await em.query(
    `insert into benchmark_items (id, repository_id, title, text, removed, base_sha, solution_sha, tests, single_tests,
       seconds, state, reason, environment_key, place)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     on conflict (repository_id, solution_sha) do update set title = excluded.title, text = excluded.text,
       removed = excluded.removed, base_sha = excluded.base_sha, tests = excluded.tests,
       single_tests = excluded.single_tests, seconds = excluded.seconds, state = excluded.state,
       reason = excluded.reason, environment_key = excluded.environment_key, place = excluded.place`,
    [
      ...[item.id, item.repositoryId, storableText(item.title), storableText(item.text), storableJson(item.removed)],
      ...[item.baseSha, item.solutionSha, storableJson(item.tests), storableJson(item.singleTests)],
      ...[item.seconds, item.state, item.reason, item.environmentKey, item.place],
    ],
  );
}

/** Returns whether a change is a usable item already, and stores where it is in the history now. */
export async function meetItem(
  em: EntityManager,
  repositoryId: string,
  { solutionSha, place }: Pick<BenchmarkItem, 'solutionSha' | 'place'>,
): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    `update benchmark_items set place = $3 where repository_id = $1 and solution_sha = $2 and state = 'usable'`,
    [repositoryId, solutionSha, place],
  );
  return count > 0;
}

/** Returns the items of a repository: usable ones first, then by their age, the newest change first. */
export async function listItems(
  em: EntityManager,
  repositoryId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<BenchmarkItem[]> {
  return em.query(
    `select ${itemColumns} from benchmark_items i where i.repository_id = $1
     order by i.state = 'rejected', i.place, i.id limit $2 offset $3`,
    [repositoryId, limit, offset],
  );
}

/** Returns the items that trials use, the newest change first. */
export async function listUsableItems(em: EntityManager, repositoryId: string): Promise<BenchmarkItem[]> {
  return em.query(
    `select ${itemColumns} from benchmark_items i
     where i.repository_id = $1 and i.state = 'usable' and i.enabled order by i.place, i.id`,
    [repositoryId],
  );
}

export async function findItem(em: EntityManager, id: string): Promise<BenchmarkItem | undefined> {
  const rows: BenchmarkItem[] = await em.query(`select ${itemColumns} from benchmark_items i where i.id = $1`, [
    storableText(id),
  ]);
  return rows[0];
}

/** Switches an item of a repository on or off, and returns it as it was before; undefined if there is no such item. */
export async function setEnabled(
  em: EntityManager,
  repositoryId: string,
  id: string,
  enabled: boolean,
): Promise<BenchmarkItem | undefined> {
  const rows: BenchmarkItem[] = await em.query(
    `select ${itemColumns} from benchmark_items i where i.id = $1 and i.repository_id = $2 for update`,
    [storableText(id), repositoryId],
  );
  const [before] = rows;
  if (before !== undefined && before.enabled !== enabled)
    await em.query('update benchmark_items set enabled = $2 where id = $1', [before.id, enabled]);
  return before;
}

/** Counts the rejected items of a repository by the reason. */
export async function countRejected(em: EntityManager, repositoryId: string): Promise<Record<string, number>> {
  const rows: { reason: string; count: number }[] = await em.query(
    `select i.reason as reason /* not null */, count(*)::int as count from benchmark_items i
     where i.repository_id = $1 and i.state = 'rejected' group by 1`,
    [repositoryId],
  );
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]));
}
