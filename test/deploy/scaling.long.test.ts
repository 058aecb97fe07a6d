import type { EntityManager } from 'typeorm';
import type { Database } from '../../src/db/database.ts';
import type { RunKind } from '../../src/domain/run.ts';
import { createMetrics, scrape } from '../../src/http/metrics.ts';
import { figuresOfDatabase } from '../../src/worker/lease/figures.ts';
import { noteWorker } from '../../src/worker/lease/labels.ts';
import { claimRun } from '../../src/worker/lease/lease-store.ts';
import { openRuns } from '../support/runs.ts';
import { renderChart } from './chart.ts';

const given = openRuns();
const { addRun, set, undone } = given;

/** Returns the query by which KEDA scales a group of workers with these labels, the only one if `isAlone`. */
function queryOf(labels: string[], maxPerProject = 0, isAlone = true): string {
  const manifests = renderChart({
    image: { repository: 'registry.example.org/deckhand' },
    settings: { MAX_RUNS_PER_PROJECT: String(maxPerProject) },
    autoscaling: { enabled: true },
    workers: { ...(isAlone ? { default: null } : {}), group: { runsOn: labels } },
  });
  const scaled = manifests.find(({ kind, metadata }) => kind === 'ScaledObject' && /-group$/.test(metadata.name));
  return scaled?.spec.triggers[0].metadata.query;
}

async function asked(em: EntityManager, query: string): Promise<number> {
  const [row] = await em.query(query);
  return row.coalesce;
}

/** Claims until nothing is left, and returns how many runs workers with these labels then hold. */
async function held(em: EntityManager, labels: string[], maxPerProject: number): Promise<number> {
  await em.query('savepoint before');
  while ((await claimRun(em, 30, maxPerProject, labels)) !== undefined);
  const [{ count }] = await em.query(
    `select count(*)::int as count from runs where status = 'running' and runs_on <@ $1::text[]`,
    [labels],
  );
  await em.query('rollback to savepoint before');
  return count;
}

/** Numbers that look random and are the same each time. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * sides);
  };
}

type Roll = (sides: number) => number;

/** Stores a run, queued or running; an agent has one running run of a project. With `labelled` it may need labels. */
async function addRandomRun(
  em: EntityManager,
  roll: Roll,
  { projectId, kind, busy, labelled }: { projectId: string; kind: RunKind; busy: Set<unknown>; labelled: boolean },
): Promise<void> {
  const agentId = [...given.agentIds.slice(0, 2), null][roll(3)] ?? null;
  const labels = ['{}', '{}', '{gpu}', '{big,gpu}'][labelled ? roll(4) : 0];
  const id = await addRun(em, { agentId, kind });
  await set(em, id, { project_id: `'${projectId}'`, runs_on: `'${labels}'` });
  if (roll(4) > 0 || busy.has(agentId)) return;
  busy.add(agentId);
  await set(em, id, { status: `'running'`, lease_until: `now() + interval '1 hour'` });
}

/** Stores runs in four projects; those of every second one let others go first. */
async function addRandomRuns(em: EntityManager, roll: Roll, labelled: boolean): Promise<void> {
  for (let p = 0; p < 4; p++) {
    const project = { projectId: `random_${p}`, kind: (p % 2 === 1 ? 'trial' : 'start') as RunKind, labelled };
    await em.query('insert into projects (id, name, slug) values ($1, $1, $1) on conflict do nothing', [
      project.projectId,
    ]);
    const busy = new Set();
    for (let count = 1 + roll(6); count > 0; count--) await addRandomRun(em, roll, { ...project, busy });
  }
}

test.each(
  Array.from({ length: 6 }, (_, seed) => seed + 1),
)('KEDA counts the runs that workers would hold (%i)', (seed) =>
  undone(async (em) => {
    await em.query('savepoint empty');
    await addRandomRuns(em, dice(seed), true);
    for (const labels of [[], ['gpu'], ['gpu', 'big']])
      expect([labels, await asked(em, queryOf(labels))]).toEqual([labels, await held(em, labels, 0)]);
    await em.query('rollback to savepoint empty');
    await addRandomRuns(em, dice(seed), false);
    for (const most of [1, 2, 3])
      expect([most, await asked(em, queryOf([], most))]).toEqual([most, await held(em, [], most)]);
  }));

test('runs that let others go first are counted only while no other of their project is queued', () =>
  undone(async (em) => {
    const [first] = [await addRun(em), await addRun(em, { kind: 'trial' })];
    expect(await asked(em, queryOf([]))).toBe(1);
    await set(em, first, { status: `'running'`, lease_until: `now() + interval '1 hour'` });
    expect(await asked(em, queryOf([]))).toBe(2);
  }));

test('a group with labels starts for runs that wait for them, and leaves others to the group without', () =>
  undone(async (em) => {
    const [run] = [await addRun(em), await addRun(em, { agentId: given.agentIds[1] ?? null })];
    const counts = async () => [
      await asked(em, queryOf(['gpu'], 0, false)),
      await asked(em, queryOf(['gpu'])),
      await asked(em, queryOf([])),
    ];
    expect(await counts()).toEqual([0, 2, 2]);
    const waits = {
      wait_id: `'wait_1'`,
      wait_reason: `'host'`,
      wait_text: `'no worker'`,
      wait_options: `'[]'`,
      waiting_since: 'now()',
    };
    await set(em, run, { ...waits, status: `'waiting'`, runs_on: `'{gpu}'` });
    expect(await counts()).toEqual([1, 2, 1]);
    // It waits for a host, not for a worker.
    await set(em, run, { runs_on: `'{}'` });
    expect(await counts()).toEqual([0, 1, 1]);
  }));

test('one worker reports the queue, and no one while the database does not answer', () =>
  undone(async (em) => {
    const { app } = given.service;
    const report = async (workerId: string, manager: EntityManager) => {
      const metrics = createMetrics();
      metrics.readers.push(figuresOfDatabase({ metrics, config: app.config, db: { manager } as Database }, workerId));
      const lines = (await scrape(metrics)).split('\n');
      return lines.filter((line) => /^deckhand_(queued|waiting|oldest|last)/.test(line));
    };
    await em.query('delete from workers');
    await noteWorker(em, 'worker_a', []);
    await noteWorker(em, 'worker_b', []);
    const run = await addRun(em);
    await set(em, run, { created_at: `now() - interval '5 minutes'` });
    await em.query(`insert into reconciliations (id, trigger, started_at, finished_at)
      values ('rec_1', 'scheduled', to_timestamp(1000), to_timestamp(2000000000))`);
    expect(await report('worker_a', em)).toEqual([
      'deckhand_queued_runs{kind="start"} 1',
      'deckhand_oldest_queued_run_seconds 300',
      'deckhand_last_sweep_timestamp_seconds 2000000000',
    ]);
    expect(await report('worker_b', em)).toEqual([]);
    await em.query(`update workers set seen_at = now() - interval '2 minutes' where id = 'worker_a'`);
    expect(await report('worker_b', em)).toContain('deckhand_queued_runs{kind="start"} 1');
    const away = { query: () => Promise.reject(new Error('away')) } as unknown as EntityManager;
    expect(await report('worker_b', away)).toEqual([]);
  }));
