import { versionForTask } from '../../../src/agents/learning/rollout.ts';
import { queueRun } from '../../../src/runs/operations.ts';
import { endRun } from '../../../src/runs/store.ts';
import { openRuns } from '../../support/runs.ts';
import { storeTrial } from './trials.ts';

const given = openRuns();
const em = () => given.service.app.db.manager;
const call = (method: string, path: string, body?: unknown) =>
  given.service.call(method, path, { token: given.token, body });
let made = 0;

/** Creates an agent and its second version with a rollout. */
async function twoVersions(rollout: number): Promise<{ old: string; now: string }> {
  const old = (await call('POST', '/agents', { name: `Agent ${++made}` })).body.id;
  const evolved = await call('POST', `/agents/${old}/evolve`, { newSystemPrompt: 'New.', rollout });
  expect([evolved.status, evolved.body.rollout]).toEqual([201, rollout]);
  return { old, now: evolved.body.id };
}
const task = (owner: string, more = {}) => given.addTask(em(), { owner, ...more });
const versionOf = async (id: string, owner: string) => versionForTask(em(), owner, { id, parentId: null });
const agentOf = async (runId: string) =>
  (await em().query('select agent_id as id from runs where id = $1', [runId]))[0].id;
const ownerOf = async (id: string) => (await em().query('select owner from tasks where id = $1', [id]))[0].owner;

test('with a rollout below 100 the old version is available, may own tasks, and takes the remaining tasks', async () => {
  const { old, now } = await twoVersions(30);
  expect((await call('GET', `/agents/${old}`)).body.status).toBe('available');
  const path = `/projects/${given.projectId}/tasks`;
  expect((await call('POST', path, { title: 't', owner: old })).status).toBe(201);
  expect((await call('POST', `/agents/${old}/evolve`, { newSystemPrompt: 'x' })).status).toBe(409);
  expect((await call('PATCH', `/agents/${old}`, { rollout: 50 })).status).toBe(409);
  const chosen: string[] = [];
  for (let i = 0; i < 200; i++) chosen.push(await versionOf(`task_${made}_${i}`, now));
  const share = chosen.filter((id) => id === now).length / chosen.length;
  expect(new Set(chosen)).toEqual(new Set([old, now]));
  // Ids are the same in each run of this test, except for that of the version.
  expect(Math.abs(share - 0.3)).toBeLessThan(0.2);
  expect(await versionOf(`task_${made}_0`, now)).toBe(chosen[0]);
});

test('a run gets the version of its task; a subtask goes with its parent', async () => {
  const { old, now } = await twoVersions(50);
  const seen = new Set<string>();
  for (let i = 0; i < 40 && seen.size < 2; i++) {
    const id = await task(now);
    await given.service.app.db.transaction((tx) =>
      queueRun(given.service.app, tx, id, { kind: 'start', startedBy: null }),
    );
    const [run] = await em().query('select id, agent_id as "agentId" from runs where task_id = $1', [id]);
    seen.add(run.agentId);
    expect(await versionForTask(em(), now, { id: `task_of_${i}`, parentId: id })).toBe(run.agentId);
    expect(await ownerOf(id)).toBe(now);
  }
  expect(seen).toEqual(new Set([old, now]));
});

test('a task stays with the version that worked on it, until one version takes all', async () => {
  const { old, now } = await twoVersions(50);
  for (const agentId of [old, now]) {
    const id = await task(now);
    await given.addRun(em(), { taskId: id, agentId, status: 'failed' });
    expect(await versionOf(id, now)).toBe(agentId);
    await call('PATCH', `/agents/${now}`, { rollout: 99 });
    expect(await versionOf(id, now)).toBe(agentId);
    await call('PATCH', `/agents/${now}`, { rollout: 0 });
    expect(await versionOf(id, now)).toBe(old);
    await call('PATCH', `/agents/${now}`, { rollout: 100 });
    expect(await versionOf(id, now)).toBe(now);
    await call('PATCH', `/agents/${now}`, { rollout: 50 });
  }
});

test('tasks and queued runs follow when a version takes all tasks', async () => {
  const { old, now } = await twoVersions(50);
  const id = await task(old);
  const run = await given.addRun(em(), { taskId: id, agentId: old });
  await call('PATCH', `/agents/${now}`, { rollout: 0 });
  expect([await ownerOf(id), await agentOf(run)]).toEqual([old, old]);
  const answer = await call('PATCH', `/agents/${now}`, { rollout: 100 });
  expect([answer.status, answer.body.rollout]).toEqual([200, 100]);
  expect([await ownerOf(id), await agentOf(run)]).toEqual([now, now]);
  expect((await call('GET', `/agents/${old}`)).body.status).toBe('offline');
  const path = `/projects/${given.projectId}/tasks`;
  expect((await call('POST', path, { title: 't', owner: old })).status).toBe(400);
  await call('PATCH', `/agents/${now}`, { rollout: 0 });
  expect(await agentOf(run)).toBe(old);
});

test('of three versions only the last two take on tasks, and all tasks move to the last', async () => {
  const { old: first, now: second } = await twoVersions(50);
  const id = await task(second);
  const working = await given.addRun(em(), { taskId: id, agentId: first, status: 'running', startedAt: new Date() });
  const idle = await task(first);
  const waiting = await given.addRun(em(), { taskId: idle, agentId: first });
  const third = (await call('POST', `/agents/${second}/evolve`, { newSystemPrompt: 'x', rollout: 20 })).body.id;
  expect((await call('GET', `/agents/${first}`)).body.status).toBe('busy');
  expect([await ownerOf(id), await ownerOf(idle), await agentOf(waiting)]).toEqual([second, third, second]);
  await given.service.app.db.transaction((tx) => endRun(tx, working, 'failed', null));
  expect(await ownerOf(id)).toBe(third);
  expect((await call('GET', `/agents/${first}`)).body.status).toBe('offline');
  expect((await call('GET', `/agents/${second}`)).body.status).toBe('available');
  expect([second, third]).toContain(await versionOf(id, third));
});

test('the only version of an agent takes all tasks, whatever its rollout', async () => {
  const { id } = (await call('POST', '/agents', { name: 'Alone' })).body;
  const changed = await call('PATCH', `/agents/${id}`, { rollout: 0 });
  expect([changed.status, changed.body.rollout]).toEqual([200, 0]);
  expect(await versionOf(await task(id), id)).toBe(id);
});

test('versions are compared by the tasks that each did alone while both took on tasks', async () => {
  const { old, now } = await twoVersions(50);
  const first = await call('GET', `/agents/${old}/comparison`);
  expect([first.status, first.body.message]).toEqual([
    404,
    `Version 1 of Agent ${made} has no earlier version to compare it with.`,
  ]);
  const empty = (await call('GET', `/agents/${now}/comparison`)).body;
  expect([empty.earlier.tasks, empty.later.tasks, empty.sentence]).toEqual([
    0,
    0,
    expect.stringContaining('Too few tasks'),
  ]);
  let n = 0;
  const finish = async (agentId: string, isDone: boolean, more = {}) => {
    const id = await task(now, { status: isDone ? 'done' : 'ready', ...(isDone ? { doneAt: new Date() } : {}) });
    const at = new Date(Date.now() + 1000 * ++n);
    await given.addRun(em(), {
      taskId: id,
      agentId,
      status: isDone ? 'succeeded' : 'failed',
      costUsd: 1 + (n % 3),
      createdAt: at,
      startedAt: at,
      finishedAt: new Date(at.getTime() + 60_000 * (5 + (n % 4))),
      ...more,
    });
    return { id, at };
  };
  // A task that both worked on, one that is not finished, and one from before the second version count for neither.
  const { id: shared } = await finish(old, false);
  await given.addRun(em(), { taskId: shared, agentId: now, status: 'failed', createdAt: new Date(Date.now() + 5000) });
  await given.addRun(em(), { taskId: await task(now, { status: 'in_review' }), agentId: now, status: 'succeeded' });
  await finish(old, true, { createdAt: new Date(Date.now() - 3_600_000) });
  for (let i = 0; i < 40; i++) await finish(now, i % 10 !== 0);
  for (let i = 0; i < 40; i++) await finish(old, i % 2 === 0);
  // It began after the last task of the old version.
  await finish(now, false);
  const { status, body } = await call('GET', `/agents/${now}/comparison`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    earlier: { id: old, version: 1, tasks: 40 },
    later: { id: now, version: 2, tasks: 40 },
    rollout: 50,
    sentence: expect.stringMatching(
      /^Version 1 succeeded in 50% of 40 tasks and version 2 in 90% of 40\. Chance hardly explains/,
    ),
  });
  expect(body.measures.map((m: { measure: string; verdict: string }) => [m.measure, m.verdict])).toEqual([
    ['success', 'better'],
    ['cost', 'chance'],
    ['time', 'chance'],
    ['revisions', 'chance'],
  ]);
  const [success] = body.measures;
  expect(success.later).toMatchObject({ value: 0.9 });
  expect(success.later.low).toBeLessThan(0.9);
});

test('a comparison shows the latest trial of both prompts on the same items, whichever of them was tried', async () => {
  const { old, now } = await twoVersions(100);
  const read = async () => (await call('GET', `/agents/${now}/comparison`)).body.trial;
  expect(await read()).toBeNull();
  // The later version solves all of 12 items, the earlier one none.
  await storeTrial(given, { arms: [now, old], results: Array(12).fill(['solved', 'unsolved']) });
  const better = { of: 12, earlier: { solved: 0 }, later: { solved: 12 }, difference: 1, verdict: 'better' };
  expect(await read()).toMatchObject(better);
  // The other way round, with an item that only one of them has tried.
  await storeTrial(given, {
    arms: [old, now],
    results: [...Array(12).fill(['solved', 'unsolved']), ['solved', 'error']],
  });
  const worse = { of: 12, earlier: { solved: 12 }, later: { solved: 0 }, difference: -1, verdict: 'worse' };
  expect(await read()).toMatchObject(worse);
  await storeTrial(given, { arms: [now, old], results: [], status: 'cancelled' });
  expect(await read()).toMatchObject(worse);
  const { now: another } = await twoVersions(100);
  expect((await call('GET', `/agents/${another}/comparison`)).body.trial).toBeNull();
});

test('an owner that was deleted at the same moment is left to the caller, who finds that it is gone', async () => {
  expect(await versionForTask(em(), 'agent_gone', { id: 'task_1', parentId: null })).toBe('agent_gone');
});
