import { type Approvable, ModelUnavailable } from '../../src/conversation/ending.ts';
import type { RunRow } from '../../src/db/tables/run.ts';
import { modelPause } from '../../src/domain/waiting.ts';
import { ModelFailed } from '../../src/llm/model.ts';
import { openJournal } from '../../src/runs/journal.ts';
import { countTurn, insertRun } from '../../src/runs/store.ts';
import { resumeDueRuns, waitForModel } from '../../src/runs/waiting/park.ts';
import { approveChange, hasAccepted, holdChange, isApproved } from '../../src/runs/waiting/store.ts';
import { claimRun, hasClaimable } from '../../src/worker/lease/lease-store.ts';
import { readElapsedMs } from '../../src/worker/lease/run-clock.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
let projectId: string;
let agentId: string;
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
const call = (method: string, path: string, body?: unknown) => service.call(method, path, { token, body });

beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true' });
  token = await service.token('octocat');
  projectId = (await call('POST', '/projects', { name: 'Waiting' })).body.id;
  agentId = (await call('GET', `/agents?projectId=${projectId}`)).body[0].id;
});
afterAll(() => service.close());
afterEach(() => sql('delete from tasks'));

const away = (retryAfterMs?: number) =>
  new ModelUnavailable(
    new ModelFailed('rate_limit', 'the model server limits the rate (HTTP 429)', {
      isTransient: true,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }),
  );

/** Creates a task in progress whose run is claimed. */
async function claimed(): Promise<RunRow> {
  const { id } = (await call('POST', `/projects/${projectId}/tasks`, { title: 'x', owner: agentId })).body;
  await sql(`update tasks set status = 'in_progress' where id = $1`, [id]);
  const run = { taskId: id, projectId, agentId, startedBy: null, kind: 'start' as const, instructions: '' };
  await insertRun(service.app.db.manager, run);
  return (await claimRun(service.app.db.manager, 30))?.run as RunRow;
}

const park = (run: RunRow, retryAfterMs?: number) =>
  waitForModel(service.app, run, openJournal(service.app, run), away(retryAfterMs));
const attentionOf = async (run: RunRow) => (await call('GET', `/tasks/${run.taskId}`)).body.attention;
const statusOf = async (run: RunRow) => (await call('GET', `/runs/${run.id}`)).body.status;
const due = () => sql(`update runs set resume_at = now() - interval '1 second' where status = 'waiting'`);

test('a run that waits holds no worker, lease or slot; its task says what it waits for', async () => {
  const run = await claimed();
  expect(await attentionOf(run)).toBeNull();
  expect(await park(run, 7000)).toBeUndefined();
  const task = (await call('GET', `/tasks/${run.taskId}`)).body;
  expect(task).toMatchObject({ status: 'in_progress', failure: null });
  expect(task.attention).toEqual({
    id: expect.stringMatching(/^wait_/),
    reason: 'model',
    text: 'the model server limits the rate (HTTP 429)',
    options: [],
    since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect((await call('GET', `/projects/${projectId}/tasks`)).body[0].attention.reason).toBe('model');
  expect(await statusOf(run)).toBe('waiting');
  const [row] = await sql(
    'select lease_until, extract(epoch from resume_at - waiting_since)::float8 as seconds from runs where id = $1',
    [run.id],
  );
  expect(row).toEqual({ lease_until: null, seconds: 7 });
  const agent = (await call('GET', `/agents/${agentId}`)).body;
  expect([agent.status, agent.currentTaskId]).toEqual(['available', null]);
  // The slot is free: another run of the same agent is claimed at once.
  const other = await claimed();
  expect(other.id).not.toBe(run.id);
  const log = (await call('GET', `/runs/${run.id}/events`)).body;
  expect(log.at(-1)).toMatchObject({ type: 'waiting', text: expect.stringMatching(/^waiting for 7 s: the model/) });
});

test('when its wait is over it is queued, then claimed; the time that it waited does not count', async () => {
  const run = await claimed();
  await park(run);
  await resumeDueRuns(service.app);
  expect([await statusOf(run), await hasClaimable(service.app.db.manager)]).toEqual(['waiting', false]);
  await due();
  expect(await hasClaimable(service.app.db.manager)).toBe(true);
  await resumeDueRuns(service.app);
  expect([await statusOf(run), await attentionOf(run)]).toEqual(['queued', null]);
  await sql(`update runs set waiting_since = waiting_since - interval '10 minutes' where id = $1`, [run.id]);
  const again = (await claimRun(service.app.db.manager, 30))?.run as RunRow;
  expect(again).toMatchObject({ id: run.id, fence: run.fence + 1, waitReason: null, waitingSince: null });
  expect(again.startedAt).toEqual(run.startedAt);
  await sql(`update runs set started_at = started_at - interval '10 minutes' where id = $1`, [run.id]);
  expect(await readElapsedMs(service.app.db.manager, run.id)).toBeLessThan(300_000);
  // The worker that parked the run can no longer write.
  await expect(openJournal(service.app, run).note('x', 'late')).rejects.toThrow('no longer held');
});

test('a resumed run waits for the slot of its agent', async () => {
  const run = await claimed();
  await park(run);
  await claimed();
  await due();
  await resumeDueRuns(service.app);
  expect(await claimRun(service.app.db.manager, 30)).toBeUndefined();
  expect(await statusOf(run)).toBe('queued');
});

test('pauses grow until the next turn, and after an hour in all the run fails', async () => {
  const run = await claimed();
  let held = run;
  const resume = async () => {
    await due();
    await resumeDueRuns(service.app);
    held = (await claimRun(service.app.db.manager, 30))?.run as RunRow;
  };
  const pauses = [];
  for (let i = 0; i < 3; i++) {
    await park(held);
    pauses.push((await sql('select model_pause_seconds as all from runs where id = $1', [run.id]))[0].all);
    await resume();
  }
  expect(pauses).toEqual([5, 15, 35]);
  await countTurn(service.app.db.manager, run.id);
  await park(held);
  expect((await sql('select model_pause_seconds as all from runs where id = $1', [run.id]))[0].all).toBe(40);
  await resume();
  expect(await park(held, 3_600_000)).toMatchObject({ category: 'rate_limit', retryable: true });
  expect(await statusOf(run)).toBe('running');
});

test.each<[string, number | undefined, number[]]>([
  ['without Retry-After', undefined, [5, 10, 20, 40, 80, 160, 320, 600]],
  ['with Retry-After: 0', 0, [1, 2, 4, 8, 16, 32, 60, 60]],
  ['with Retry-After: 30', 30_000, [30, 30, 30, 30, 30, 32, 60, 60]],
])('the pauses %s', (_what, retryAfterMs, seconds) => {
  expect(seconds.map((_, count) => modelPause({ count, totalSeconds: 0 }, retryAfterMs))).toEqual(seconds);
});

test('a Retry-After of more than an hour is not waited for', () => {
  expect(modelPause({ count: 0, totalSeconds: 0 }, 3_600_000)).toBe(3600);
  expect(modelPause({ count: 0, totalSeconds: 0 }, 3_601_000)).toBeUndefined();
  expect(modelPause({ count: 0, totalSeconds: 3596 }, undefined)).toBeUndefined();
});

test('a waiting run is live: nothing else starts, changes, deletes or replaces it', async () => {
  const run = await claimed();
  await park(run);
  const path = `/tasks/${run.taskId}`;
  expect((await call('PATCH', path, { title: 'still allowed' })).status).toBe(200);
  for (const [method, where, body] of [
    ['PATCH', path, { owner: null }],
    ['PATCH', path, { status: 'ready' }],
    ['DELETE', path, undefined],
    ['POST', `${path}/start`, undefined],
    ['POST', `${path}/retry`, {}],
    ['POST', `${path}/subtasks`, { title: 'sub' }],
    ['DELETE', `/agents/${agentId}`, undefined],
    ['DELETE', `/projects/${projectId}`, undefined],
  ] as const)
    expect([method, where, (await call(method, where, body)).status]).toEqual([method, where, 409]);
  const insert = insertRun(service.app.db.manager, {
    taskId: run.taskId,
    projectId,
    agentId,
    startedBy: null,
    kind: 'start',
    instructions: '',
  });
  await expect(insert).rejects.toThrow('runs_live_task');
  const reconciled = (await call('POST', '/agents/pool/reconcile')).body;
  expect(reconciled.recovered).toEqual([]);
  expect(await statusOf(run)).toBe('waiting');
});

test('cancel ends a waiting run, and its handoff says what it did', async () => {
  const run = await claimed();
  const messages = [
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: '1', name: 'write_file', arguments: '{"path":"a.txt","content":""}' }],
    },
    { role: 'tool', toolCallId: '1', content: 'wrote a.txt' },
  ];
  await sql('insert into run_turns (run_id, turn, messages) values ($1, 0, $2)', [run.id, JSON.stringify(messages)]);
  await park(run);
  await sql(`update runs set waiting_since = now() - interval '90 seconds' where id = $1`, [run.id]);
  const cancelled = await call('POST', `/tasks/${run.taskId}/cancel`);
  expect([cancelled.status, cancelled.body.status, cancelled.body.attention]).toEqual([200, 'ready', null]);
  expect(await statusOf(run)).toBe('cancelled');
  // Its last wait does not count as work either.
  const { waitedSeconds, waitingSince } = (await call('GET', `/runs/${run.id}`)).body;
  expect([waitedSeconds >= 90, waitingSince]).toEqual([true, null]);
  const { handoffs } = (await call('GET', `/tasks/${run.taskId}/handoffs`)).body;
  expect(handoffs).toHaveLength(1);
  expect(handoffs[0].summary).toMatch(/^The run was cancelled\.\n\n1 turn of the model\.\n\nFiles changed:\n- a\.txt/);
  await due();
  await resumeDueRuns(service.app);
  expect(await statusOf(run)).toBe('cancelled');
});

test('the stream of a waiting run stays open', async () => {
  const run = await claimed();
  await park(run);
  const stop = new AbortController();
  const response = await fetch(`${service.url}/api/v1/runs/${run.id}/events`, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' },
    signal: stop.signal,
  });
  let heard = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    heard += Buffer.from(chunk).toString('utf8');
    if (heard.includes('event: waiting')) await call('POST', `/tasks/${run.taskId}/cancel`);
    if (heard.includes('event: end')) break;
  }
  stop.abort();
  expect(heard.indexOf('event: end')).toBeGreaterThan(heard.indexOf('event: waiting'));
  expect(heard).toContain('"status":"cancelled"');
});

test('an approval counts for exactly one change and purpose, and another change resets it', async () => {
  const run = await claimed();
  const em = service.app.db.manager;
  const { id: userId } = (await sql('select id from users limit 1'))[0];
  const diff = { branchName: 'agent/1', baseBranch: 'main', headSha: '', files: [], truncated: false };
  const change: Approvable = {
    purpose: 'push',
    trees: { a: 'tree 1' },
    parents: { a: ['commit 1'] },
    findings: ['a:1 x'],
    expectations: [],
  };
  const setup: Approvable = { ...change, purpose: 'setup' };
  const approve = async (wanted: Approvable) => {
    await holdChange(em, run, wanted, diff);
    expect(await isApproved(em, run.id, wanted)).toBe(false);
    await approveChange(em, run.id, userId);
  };
  await approve(setup);
  await approve(change);
  expect([await isApproved(em, run.id, setup), await isApproved(em, run.id, change)]).toEqual([true, true]);
  for (const other of [
    { trees: { a: 'tree 2' } },
    { parents: { a: ['commit 2'] } },
    { trees: { a: 'tree 1', b: 't' } },
    { findings: [] },
    { findings: ['a:1 x', 'a:2 x'] },
    { expectations: ['a'] },
  ])
    expect(await isApproved(em, run.id, { ...change, ...other })).toBe(false);
  // Only what the person was told counts as accepted, and it counts for this tree of this repository.
  const accepted = (repository: string, tree: string, expectations = 'a 1') =>
    hasAccepted(em, run.taskId, repository, tree, expectations);
  expect(await accepted('a', 'tree 1')).toBe(false);
  await approve({ ...change, expectations: ['a 1'] });
  expect(await accepted('a', 'tree 1')).toBe(true);
  expect(await accepted('a', 'tree 1', 'a 2')).toBe(false);
  expect([await accepted('a', 'tree 2'), await accepted('b', 'tree 1')]).toEqual([false, false]);
  expect(await isApproved(em, run.id, change)).toBe(true);
  await holdChange(em, run, { ...setup, findings: ['a:2 x'] }, diff);
  expect([await isApproved(em, run.id, setup), await isApproved(em, run.id, change)]).toEqual([false, false]);
  await approve(change);
  await holdChange(em, run, { ...change, trees: { a: 'tree 2' } }, diff);
  expect([await isApproved(em, run.id, setup), await isApproved(em, run.id, change)]).toEqual([false, false]);
});
