import { LeaseLost } from '../../src/domain/run.ts';
import { costOfDay } from '../../src/projects/budgets.ts';
import { hasMcpAnswers } from '../../src/runs/journal.ts';
import {
  addUsage,
  assertLeased,
  countTurn,
  endRun,
  findLiveRun,
  listLiveSubtasks,
  listRuns,
  lockForCancel,
  lockForPush,
  readFigures,
} from '../../src/runs/store.ts';
import { openRuns } from '../support/runs.ts';

const given = openRuns();
const { addRun, addTask, set, undone } = given;

test('a run ends once; the task goes to the newest version of its agent, unless it is done', () =>
  undone(async (em) => {
    const [old = '', middle = 'agent_m', newest = 'agent_n'] = given.agentIds;
    for (const [id, previous] of [
      [middle, old],
      [newest, middle],
    ])
      await em.query('update agents set previous_version_id = $2 where id = $1', [id, previous]);
    await em.query('update agents set is_newest = (id = $1) where id = any($2)', [newest, [old, middle, newest]]);
    const ownerAfter = async (task: object) => {
      const taskId = await addTask(em, { owner: old, ...task });
      const id = await addRun(em, { taskId });
      expect(await endRun(em, id, 'failed', null)).toBe(true);
      expect(await endRun(em, id, 'succeeded', null)).toBe(false);
      expect((await listRuns(em, taskId, { limit: 1, offset: 0 }))[0]).toMatchObject({
        status: 'failed',
        finishedAt: expect.any(Date),
        leaseUntil: null,
      });
      return (await em.query('select owner from tasks where id = $1', [taskId]))[0].owner;
    };
    expect(await ownerAfter({})).toBe(newest);
    expect(await ownerAfter({ status: 'done' })).toBe(old);
    expect(await ownerAfter({ owner: given.agentIds[3] ?? null })).toBe(given.agentIds[3] ?? null);
  }));

test('only the worker that holds a run now passes the check of its lease', () =>
  undone(async (em) => {
    const id = await addRun(em, { status: 'running' });
    const other = await addRun(em, { status: 'running', agentId: null });
    await set(em, id, { fence: '2' });
    await set(em, other, { fence: '1' });
    await expect(assertLeased(em, { id, fence: 2 })).resolves.toBeUndefined();
    await expect(assertLeased(em, { id, fence: 1 })).rejects.toBeInstanceOf(LeaseLost);
    await endRun(em, id, 'failed', null);
    await expect(assertLeased(em, { id, fence: 2 })).rejects.toBeInstanceOf(LeaseLost);
  }));

test('runs that were queued at the same time are listed in the order of their ids, newest first', () =>
  undone(async (em) => {
    const taskId = await addTask(em);
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await addRun(em, { taskId, status: 'failed' }));
    for (const id of ids) await set(em, id, { created_at: `'2026-01-05'` });
    const listed = await listRuns(em, taskId, { limit: 3, offset: 0 });
    expect(listed.map(({ id }) => id)).toEqual(ids.sort().reverse());
  }));

test('the revisions of a run that did not succeed are left to the next run', () =>
  undone(async (em) => {
    const revised = async (status: 'succeeded' | 'failed') => {
      const taskId = await addTask(em);
      const id = await addRun(em, { taskId });
      await em.query(`insert into revisions (id, task_id, source, text, run_id) values ($1, $1, 'person', '', $2)`, [
        taskId,
        id,
      ]);
      await endRun(em, id, status, null);
      return (await em.query('select run_id as run from revisions where id = $1', [taskId]))[0].run;
    };
    expect([await revised('succeeded'), await revised('failed')]).toEqual([expect.any(String), null]);
  }));

test('the live run of a task and its live subtasks are found', () =>
  undone(async (em) => {
    const parentId = await addTask(em);
    const subtasks = [];
    for (const status of ['running', 'queued', 'failed'] as const) {
      const taskId = await addTask(em, { parentId });
      const agentId = null;
      const id = await addRun(em, { taskId, status, agentId });
      expect((await findLiveRun(em, taskId))?.id).toBe(status === 'failed' ? undefined : id);
      if (status !== 'failed') subtasks.push(taskId);
    }
    expect((await listLiveSubtasks(em, parentId)).sort()).toEqual(subtasks.sort());
    await set(em, subtasks[0] ?? '', { created_at: `now() + interval '1 minute'` });
    expect(await listLiveSubtasks(em, parentId)).toEqual([subtasks[1], subtasks[0]]);
    expect(await findLiveRun(em, parentId)).toBeNull();
  }));

test('the runs of a task are listed newest first, one more than asked for', () =>
  undone(async (em) => {
    const taskId = await addTask(em);
    const ids = [];
    for (const hours of [1, 3, 2]) {
      const id = await addRun(em, { taskId, status: 'failed' });
      await set(em, id, { created_at: `now() - interval '${hours} hours'` });
      ids.push(id);
    }
    const listed = async (page: { limit: number; offset: number }) =>
      (await listRuns(em, taskId, page)).map((run) => run.id);
    expect(await listed({ limit: 5, offset: 0 })).toEqual([ids[0], ids[2], ids[1]]);
    expect(await listed({ limit: 1, offset: 1 })).toEqual([ids[2], ids[1]]);
    expect(await listed({ limit: 1, offset: 0 })).toEqual([ids[0], ids[2]]);
  }));

test('usage adds up; a turn without a price does not change the cost, and each turn is progress', () =>
  undone(async (em) => {
    const id = await addRun(em, { interruptions: 4 });
    await addUsage(em, id, { model: 'm', inputTokens: 10, cachedInputTokens: 8, outputTokens: 3, costUsd: null });
    const used =
      'steps, input_tokens::int as i, cached_input_tokens::int as c, output_tokens::int as o, cost_usd::float8 as cost, interruptions as n';
    const read = async () => (await em.query(`select ${used} from runs where id = $1`, [id]))[0];
    expect(await read()).toEqual({ steps: 0, i: 10, c: 8, o: 3, cost: null, n: 4 });
    await countTurn(em, id);
    await addUsage(em, id, { model: 'm', inputTokens: 5, cachedInputTokens: 1, outputTokens: 2, costUsd: 0.25 });
    await addUsage(em, id, { model: 'm', inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0.5 });
    await addUsage(em, id, { model: 'm', inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: null });
    expect(await read()).toEqual({ steps: 1, i: 17, c: 9, o: 7, cost: 0.75, n: 0 });
  }));

test('a task has answers of MCP servers if a run of it got one, or of a task whose words its runs read', () =>
  undone(async (em) => {
    const parentId = await addTask(em);
    const [asked, needed, other] = [await addTask(em, { parentId }), await addTask(em), await addTask(em)];
    await em.query('insert into task_dependencies (task_id, depends_on_id) values ($1, $2)', [needed, asked]);
    const note = async (taskId: string, data: object) => {
      const id = await addRun(em, { taskId, status: 'failed' });
      await em.query(`insert into run_events (run_id, type, text, data) values ($1, 'mcp', 't', $2)`, [id, data]);
    };
    const all = async () =>
      Promise.all([parentId, asked, needed, other].map((each) => hasMcpAnswers(em, each))).then(String);
    await note(asked, { ok: false });
    await note(asked, {});
    expect(await all()).toBe('false,false,false,false');
    await note(asked, { ok: true });
    expect(await all()).toBe('true,true,true,false');
    // It reads its parent, whose words may repeat those of the other subtask.
    expect(await hasMcpAnswers(em, await addTask(em, { parentId }))).toBe(true);
  }));

test('the cost of a day counts what runs of the project used today in UTC, whenever they were created', () =>
  undone(async (em) => {
    await em.query(`insert into projects (id, name, slug) values ('elsewhere', 'e', 'e')`);
    expect(await costOfDay(em, 'elsewhere')).toBe(0);
    const [{ midnight }] = await em.query(`select date_trunc('day', now(), 'UTC') as midnight`);
    const yesterday = new Date(midnight.getTime() - 1);
    const add = (more: object) => addRun(em, { status: 'failed', ...more });
    await add({ costUsd: 2 });
    await add({ costUsd: null });
    await add({ costUsd: 4, createdAt: midnight });
    await add({ costUsd: 16, projectId: 'elsewhere' });
    const waited = await add({ costUsd: 8, createdAt: yesterday });
    await addUsage(em, waited, { model: 'm', inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 32 });
    expect([await costOfDay(em, given.projectId), await costOfDay(em, 'elsewhere')]).toEqual([38, 16]);
  }));

test('the other runs of a task that its agent split share its budget, from the run of the split on', () =>
  undone(async (em) => {
    const parentId = await addTask(em);
    const [byAgent, byPerson, unrelated] = [
      await addTask(em, { parentId }),
      await addTask(em, { parentId, createdBy: (await em.query('select id from users'))[0].id }),
      await addTask(em),
    ];
    const later = await addTask(em, { parentId });
    await set(em, later, { created_at: `now() + interval '1 hour'` });
    const spend = async (taskId: string, costUsd: number, columns: Record<string, string>) => {
      const id = await addRun(em, {
        taskId,
        costUsd,
        inputTokens: costUsd + 1000,
        cachedInputTokens: 1000,
        outputTokens: 100,
        status: 'succeeded',
      });
      await set(em, id, columns);
      return id;
    };
    const at = (minutes: number) => `now() + interval '${minutes} minutes'`;
    await spend(parentId, 1, { created_at: at(-9), finished_at: at(-1) });
    const split = await spend(parentId, 2, { created_at: at(-8), finished_at: at(0) });
    await spend(byAgent, 4, { created_at: at(0), finished_at: 'null' });
    await spend(byPerson, 8, { created_at: at(1) });
    await spend(unrelated, 16, { created_at: at(1) });
    const own = await spend(parentId, 32, { created_at: at(2) });
    expect(await readFigures(em, own, parentId)).toMatchObject({ tokens: 132 + 206, costUsd: 32 + 6 });
    expect(await readFigures(em, split, parentId)).toMatchObject({ tokens: 102 + 236, costUsd: 2 + 36 });
    expect(await readFigures(em, own, unrelated)).toMatchObject({ tokens: 132, costUsd: 32 });
    expect(await readFigures(em, own, parentId)).toMatchObject({
      steps: 0,
      dayCostUsd: 63,
      creatorDayCostUsd: 63,
      minutes: 0,
    });
    await expect(readFigures(em, 'run_gone', parentId)).rejects.toThrow(LeaseLost);
  }));

test('a cancel waits for a push that is under way, but no longer than three seconds', async () => {
  const { db } = given.service.app;
  const id = await addRun(db.manager);
  const waited = async () => {
    const began = performance.now();
    await db.transaction(async (em) => {
      await lockForCancel(em, id);
      const taken = db.manager.query('select 1 from runs where id = $1 for update nowait', [id]);
      await expect(taken).rejects.toMatchObject({ code: '55P03' });
    });
    return performance.now() - began;
  };
  await waited();
  await db.transaction(async (em) => {
    await lockForPush(em, id);
    // A transaction that only waits for its push is not ended.
    const idle = await em.query('show idle_in_transaction_session_timeout');
    expect(idle).toEqual([{ idle_in_transaction_session_timeout: '0' }]);
    // It gives up although the push is still under way.
    expect(await waited()).toBeGreaterThan(2900);
  });
  await endRun(db.manager, id, 'cancelled', null);
});
