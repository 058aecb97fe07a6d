import type { EntityManager } from 'typeorm';
import { listReconciliations, listStuckTasks, reconcile } from '../../src/worker/lease/reconcile.ts';
import { openRuns } from '../support/runs.ts';

const given = openRuns();
const { addRun, addTask, set, undone } = given;

/** Makes the service's operations join a transaction that is rolled back. */
const rolledBack = async (act: (em: EntityManager) => Promise<void>) => {
  const { db } = given.service.app;
  const undo = new Error('undo');
  const work = db.together('start', async () => {
    await act(db.manager);
    throw undo;
  });
  await expect(work).rejects.toBe(undo);
};
const userOf = async (em: EntityManager, login: string) =>
  (await em.query('select id from users where login = $1', [login]))[0].id;
const inSeconds = (seconds: number) => `now() + interval '${seconds} seconds'`;

test('a task in progress is stuck without a live run, or when the lease and the pause of its run are over', () =>
  undone(async (em) => {
    const withRun = async (run: object, columns: Record<string, string> = {}) => {
      const taskId = await addTask(em);
      const id = await addRun(em, { taskId, agentId: null, ...run });
      if (Object.keys(columns).length > 0) await set(em, id, columns);
      return taskId;
    };
    const running = { status: 'running' as const };
    const lost = await withRun(running, { lease_until: inSeconds(-1) });
    await withRun(running, { lease_until: inSeconds(1) });
    await withRun(running, { lease_until: inSeconds(-1), not_before: inSeconds(1) });
    const over = await withRun(running, { lease_until: inSeconds(-9), not_before: inSeconds(-1) });
    await withRun({ status: 'queued' });
    const without = await withRun({ status: 'failed' });
    await addTask(em, { status: 'ready' });
    const { checked, stuck } = await listStuckTasks(em, null);
    expect(checked).toHaveLength(6);
    expect(stuck.map(({ id, hasLapsedRun }) => [id, hasLapsedRun]).sort()).toEqual(
      [[lost, true] as const, [over, true] as const, [without, false] as const].sort(),
    );
  }));

test('a task that waits for its subtasks is stuck when all of them are done', () =>
  undone(async (em) => {
    const parentOf = async (...statuses: ('done' | 'ready')[]) => {
      const parentId = await addTask(em, { status: 'waiting_on_subtasks' });
      for (const status of statuses) await addTask(em, { parentId, status });
      return parentId;
    };
    const [done, none] = [await parentOf('done', 'done'), await parentOf()];
    await parentOf('done', 'ready');
    const { checked, stuck } = await listStuckTasks(em, null);
    expect([checked.length, stuck.map((task) => task.id).sort()]).toEqual([3, [done, none].sort()]);
  }));

test('a user reconciles the projects of which they are a member; tasks are handled oldest first', () =>
  undone(async (em) => {
    const [young, old] = [await addTask(em), await addTask(em)];
    await set(em, young, { created_at: inSeconds(-1) });
    await set(em, old, { created_at: inSeconds(-2) });
    await em.query(`insert into projects (id, name, slug) values ('elsewhere', 'e', 'e')`);
    await addTask(em, { projectId: 'elsewhere' });
    expect((await listStuckTasks(em, await userOf(em, 'octocat'))).checked).toEqual([old, young]);
    expect((await listStuckTasks(em, null)).checked).toHaveLength(3);
    expect((await listStuckTasks(em, 'nobody')).checked).toEqual([]);
  }));

test('lost runs are continued, tasks without a run fail, and finished parents join', () =>
  rolledBack(async (em) => {
    const { app } = given.service;
    const lost = await addTask(em);
    await set(em, await addRun(em, { taskId: lost, status: 'running' }), { lease_until: inSeconds(-1) });
    const without = await addTask(em);
    const parent = await addTask(em, { status: 'waiting_on_subtasks' });
    const split = await addTask(em, { owner: given.agentIds[1] ?? '', splitByAgent: true });
    for (const [at, id] of [lost, without, parent, split].entries())
      await set(em, id, { created_at: inSeconds(at - 9) });
    const caughtUp = [{ taskId: without, action: 'observed', reason: 'by the caller' }];
    const { checked, recovered } = await reconcile(app, 'scheduled', null, caughtUp);
    expect(checked).toBe(4);
    expect(recovered.map(({ taskId, action }) => [taskId, action])).toEqual([
      [without, 'observed'],
      [lost, 'continued'],
      [parent, 'joined'],
      [split, 'continued'],
    ]);
    const [task] = await em.query('select status, failure from tasks where id = $1', [without]);
    expect(task).toMatchObject({ status: 'ready', failure: { category: 'internal', message: 'the run was lost' } });
    expect(await em.query(`select kind, status from runs where task_id = $1`, [split])).toEqual([
      { kind: 'continue', status: 'queued' },
    ]);
    const jobs = await em.query(`select 1 from pgboss.job where name = 'run'`);
    expect(jobs).toHaveLength(2);
  }));

test('a user sees scheduled reconciliations and their own, with what was done in their projects', () =>
  rolledBack(async (em) => {
    const { app } = given.service;
    const octocat = await userOf(em, 'octocat');
    await em.query(`insert into users (id, login) values ('user_2', 'hubot')`);
    await em.query(`insert into projects (id, name, slug) values ('elsewhere', 'e', 'e')`);
    const ours = await addTask(em);
    await addTask(em, { projectId: 'elsewhere' });
    const all = await reconcile(app, 'scheduled', null);
    expect(all.recovered).toHaveLength(2);
    await reconcile(app, 'manual', 'user_2');
    const own = await reconcile(app, 'manual', octocat);
    await em.query(`update reconciliations set started_at = now() - interval '1 hour' where id = $1`, [all.id]);
    const seen = await listReconciliations(em, octocat, { limit: 5, offset: 0 });
    expect(seen.map(({ id, checked, recovered }) => [id, checked, recovered.map((each) => each.taskId)])).toEqual([
      [own.id, 0, []],
      [all.id, 1, [ours]],
    ]);
    expect(await listReconciliations(em, octocat, { limit: 0, offset: 1 })).toHaveLength(1);
    expect(await listReconciliations(em, 'user_2', { limit: 5, offset: 0 })).toMatchObject([
      { trigger: 'manual' },
      { trigger: 'scheduled', checked: 0, recovered: [] },
    ]);
  }));
