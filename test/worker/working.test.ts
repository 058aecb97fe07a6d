import { until } from '../../demo/real-service.ts';
import type { App } from '../../src/app.ts';
import { type RunRow, Runs } from '../../src/db/tables/run.ts';
import { openJournal } from '../../src/runs/journal.ts';
import { openLiveRuns } from '../../src/runs/live-runs.ts';
import { noteHostReached } from '../../src/runs/waiting/park.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { currentTenant } from '../../src/threads/tenant.ts';
import {
  assertLabels,
  forgetWorker,
  leaveToOthers,
  noteWorker,
  OtherWorkerNeeded,
  releaseUnclaimed,
  waitsForOthers,
} from '../../src/worker/lease/labels.ts';
import { claimRun } from '../../src/worker/lease/lease-store.ts';
import { queueRunJobIfDue, workOnRuns } from '../../src/worker/lease/work-on-runs.ts';
import { openRuns } from '../support/runs.ts';

const given = openRuns({
  ALLOW_PRIVATE_HOSTS: 'true',
  OPENAI_API_KEY: 'sk-x',
  OPENAI_MODEL: 'm',
  RUN_HEARTBEAT_SECONDS: '1',
});
const { addRun, addTask, set } = given;
const sql = (text: string, values: unknown[] = []) => given.service.app.db.manager.query(text, values);

let repositoryId: string;
beforeAll(async () => {
  const { projectId, token } = given;
  const body = { projectId, name: 'r', url: 'https://127.0.0.1:1/o/r' };
  repositoryId = (await given.service.call('POST', '/repositories', { token, body })).body.id;
});
afterEach(async () => {
  await sql('delete from runs');
  await sql('delete from pgboss.job');
});

/** A worker, whose runs go no further than the preparation of their sandbox. */
const workerWith = (confine: Sandbox['confine'], stopping = new AbortController().signal): App => ({
  ...given.service.app,
  sandbox: { ...given.service.app.sandbox, confine },
  stopping,
});
const untilAborted: Sandbox['confine'] = (signal) =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
const fullDisk: Sandbox['confine'] = async () => {
  throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
};

async function queueRun(): Promise<string> {
  const { manager } = given.service.app.db;
  return addRun(manager, { taskId: await addTask(manager, { repositoryId }) });
}
const read = async (id: string, columns: string) => (await sql(`select ${columns} from runs where id = $1`, [id]))[0];
const logOf = async (id: string) =>
  (await sql('select text, data from run_events where run_id = $1 order by id', [id])).map(
    ({ text, data }: { text: string; data: { interrupted?: string } }) => [text, data.interrupted],
  );
const jobs = async () =>
  (
    await sql(`select extract(epoch from start_after - created_on)::int as wait from pgboss.job where name = 'run'`)
  ).map((job: { wait: number }) => job.wait);

test('a run that cannot begin fails with its reason, and the worker takes the next one', async () => {
  const { manager } = given.service.app.db;
  const ids = [await addRun(manager, { agentId: null }), await addRun(manager)];
  await workOnRuns(workerWith(untilAborted));
  for (const [id, message] of [
    [ids[0], 'the agent of this run was deleted'],
    [ids[1], 'the repository of the task is no longer connected'],
  ] as const) {
    const { status, failure, taskId } = await read(id ?? '', 'status, failure, task_id as "taskId"');
    expect([status, failure.message]).toEqual(['failed', message]);
    expect(await sql('select status, failure from tasks where id = $1', [taskId])).toEqual([
      { status: 'ready', failure },
    ]);
  }
});

test('a run whose worker lacks a resource is given back, and a job continues it after a pause', async () => {
  const id = await queueRun();
  const live = async () => (await given.service.app.metrics.liveRuns.get()).values[0]?.value;
  const seen: unknown[] = [];
  const worker = workerWith(async (signal) => {
    seen.push(await live());
    return fullDisk(signal);
  });
  await workOnRuns(worker);
  expect([seen, await live()]).toEqual([[1], 0]);
  const state = `status, interruptions, lease_until < now() as "isLeft", not_before > heartbeat_at as "isPaused"`;
  expect(await read(id, state)).toEqual({ status: 'running', interruptions: 1, isLeft: true, isPaused: true });
  const why = "the worker's disk is full";
  expect(await logOf(id)).toEqual([[`${why}; trying again in 1 s`, why]]);
  expect(await jobs()).toEqual([1]);
  await set(given.service.app.db.manager, id, {
    not_before: `now()`,
    heartbeat_at: `now() - interval '7000 seconds'`,
  });
  await workOnRuns(worker);
  expect((await logOf(id)).slice(1)).toEqual([
    [expect.stringMatching(/^continued after 70\d\d s$/), undefined],
    [`${why}; trying again in 2 s`, why],
  ]);
});

test('a run that loses the database for a moment is given back as soon as the database answers', async () => {
  const id = await queueRun();
  const { app } = given.service;
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  let failures = 0;
  const manager = Object.assign(Object.create(app.db.manager), {
    query: (text: string, values: unknown[]) => {
      if (failures === 0 || !text.startsWith('update runs set interruptions')) return sql(text, values);
      failures -= 1;
      throw away;
    },
  });
  const worker = workerWith(async () => {
    failures = 2;
    throw away;
  });
  await workOnRuns({ ...worker, db: { ...app.db, manager } });
  expect(failures).toBe(0);
  const state = 'status, lease_until < now() as "isLeft", not_before is not null as "isGivenBack"';
  expect(await read(id, state)).toEqual({ status: 'running', isLeft: true, isGivenBack: true });
  const why = 'the database cannot be reached, or cannot write';
  expect(await logOf(id)).toEqual([[`${why}; trying again in 1 s`, why]]);
});

test('a run whose git host is unavailable waits without a slot, and fails only after WAIT_DAYS', async () => {
  const id = await queueRun();
  const { app } = given.service;
  const em = app.db.manager;
  const worker = { ...app, config: { ...app.config, REMOTE_RETRY_SECONDS: 0 } };
  await workOnRuns(worker);
  const seconds = 'extract(epoch from resume_at - waiting_since)::float8 as seconds';
  const state = `status, slot is not null and lease_until is not null as "isHeld", wait_reason, wait_host, ${seconds}`;
  const waiting = { status: 'waiting', isHeld: false, wait_reason: 'host', wait_host: '127.0.0.1:1' };
  expect(await read(id, state)).toEqual({ ...waiting, seconds: 15 });
  expect(await jobs()).toEqual([15]);

  // Another run that reaches the host ends the wait, unless the wait has just begun.
  const [other] = [await queueRun()];
  const reached = { ...(await em.findOneByOrFail(Runs, { id: other })) };
  await sql('delete from runs where id = $1', [other]);
  await noteHostReached(app, reached);
  expect((await read(id, 'resume_at > now() as "isLater"')).isLater).toBe(true);
  await set(em, id, { waiting_since: `now() - interval '10 seconds'` });
  await noteHostReached(app, reached);
  expect((await read(id, 'resume_at <= now() as "isDue"')).isDue).toBe(true);

  await workOnRuns(worker);
  expect(await read(id, state)).toEqual({ ...waiting, seconds: 30 });
  await set(em, id, { resume_at: 'now()', host_away_since: `now() - interval '8 days'` });
  await workOnRuns(worker);
  const failed = await read(id, 'status, failure');
  expect(failed).toMatchObject({ status: 'failed', failure: { category: 'repository', retryable: true } });
});

describe('labels of workers', () => {
  const leave = async (id: string, wanted: string[]) => {
    const { app } = given.service;
    const claim = await claimRun(app.db.manager, 30, 0, wanted);
    const run = claim?.run as RunRow;
    expect(run.id).toBe(id);
    await leaveToOthers(app, run, openJournal(app, run), new OtherWorkerNeeded(wanted));
  };
  afterEach(async () => {
    await sql('delete from workers');
    await sql(`update repositories set runs_on = '{}'`);
  });

  test('the labels of a repository are kept for its next runs; a worker that lacks one refuses', async () => {
    const { app } = given.service;
    const has = { ...app, config: { ...app.config, RUNS_ON: ['gpu', 'linux'] } };
    await assertLabels(has, repositoryId, ['gpu']);
    expect(await read(await queueRun(), 'runs_on')).toEqual({ runs_on: ['gpu'] });
    await expect(assertLabels(app, repositoryId, ['gpu'])).rejects.toBeInstanceOf(OtherWorkerNeeded);
    await assertLabels(app, repositoryId, []);
    expect(await read(await queueRun(), 'runs_on')).toEqual({ runs_on: [] });
  });

  test('a run is left to a running worker that has its labels', async () => {
    const em = given.service.app.db.manager;
    const id = await queueRun();
    await noteWorker(em, 'one', ['gpu', 'linux']);
    await leave(id, ['gpu']);
    const state = 'status, runs_on, lease_until, waiting_since is not null as "stands"';
    expect(await read(id, state)).toEqual({ status: 'queued', runs_on: ['gpu'], lease_until: null, stands: true });
    expect([await waitsForOthers(em, []), await waitsForOthers(em, ['gpu'])]).toEqual([true, false]);
    // While the worker is running, the run waits for it.
    await set(em, id, { created_at: `now() - interval '1 hour'`, waiting_since: `now() - interval '1 hour'` });
    await releaseUnclaimed(em);
    expect(await read(id, 'runs_on')).toEqual({ runs_on: ['gpu'] });
    await forgetWorker(em, 'one');
    await releaseUnclaimed(em);
    expect(await read(id, 'runs_on')).toEqual({ runs_on: [] });
  });

  test('without such a worker, the run says what it waits for, until one appears', async () => {
    const em = given.service.app.db.manager;
    const id = await queueRun();
    await noteWorker(em, 'silent', ['gpu']);
    await sql(`update workers set seen_at = now() - interval '91 seconds'`);
    await leave(id, ['gpu']);
    expect(await read(id, 'status, wait_reason, wait_text, resume_at')).toEqual({
      status: 'waiting',
      wait_reason: 'host',
      wait_text: 'No running worker has the label gpu, which .deckhand.yml asks for.',
      resume_at: null,
    });
    await noteWorker(em, 'other', ['linux']);
    expect(await read(id, 'resume_at')).toEqual({ resume_at: null });
    await noteWorker(em, 'one', ['linux', 'gpu']);
    expect(await read(id, 'resume_at <= now() as "isDue"')).toEqual({ isDue: true });
  });

  test('a process takes no more runs than it has places', () => {
    const live = openLiveRuns();
    const [first, second] = [live.enter(2), live.enter(2)];
    expect([first, second, live.enter(2)]).toEqual([expect.any(Function), expect.any(Function), undefined]);
    second?.();
    expect(live.enter(2)).toBeDefined();
  });
});

test('what a run does in threads counts for its project', async () => {
  await queueRun();
  const tenants: unknown[] = [];
  const worker = workerWith(async (signal) => {
    tenants.push(currentTenant());
    return fullDisk(signal);
  });
  await workOnRuns(worker);
  expect(tenants).toEqual([given.projectId]);
});

test('an internal error is not shown, and a run that was interrupted ten times fails with the last reason', async () => {
  const id = await queueRun();
  const worker = workerWith(async () => {
    throw new Error('secret');
  });
  await workOnRuns(worker);
  expect((await read(id, 'failure')).failure).toMatchObject({
    category: 'internal',
    message: 'an internal error occurred; the log of the service has the details',
  });
  const again = await queueRun();
  await workOnRuns(workerWith(fullDisk));
  await set(given.service.app.db.manager, again, { interruptions: '10', not_before: 'now()' });
  await workOnRuns(workerWith(fullDisk));
  expect((await read(again, 'failure')).failure.message).toBe(
    "the run was interrupted 10 times without progress; the last time: the worker's disk is full",
  );
});

test('a worker that is asked to stop hands its run over, and claims no other one', async () => {
  const [id, other] = [await queueRun(), await queueRun()];
  await set(given.service.app.db.manager, other, { agent_id: `'${given.agentIds[1]}'` });
  const stop = new AbortController();
  const confine: Sandbox['confine'] = (signal) => {
    const waiting = untilAborted(signal);
    stop.abort(new Error('stopping'));
    return waiting;
  };
  await workOnRuns(workerWith(confine, stop.signal));
  const state = `status, interruptions, lease_until < now() as "isLeft", not_before <= now() as "isFree"`;
  expect(await read(id, state)).toEqual({ status: 'running', interruptions: 0, isLeft: true, isFree: true });
  expect(await read(other, 'status')).toEqual({ status: 'queued' });
  expect([await logOf(id), await jobs()]).toEqual([[], []]);
});

test('a stop between the claim of a run and its start hands the run over', async () => {
  const id = await queueRun();
  const stop = new AbortController();
  const live = openLiveRuns();
  const hold: typeof live.hold = (runId) => {
    stop.abort(new Error('stopping'));
    return live.hold(runId);
  };
  await workOnRuns({ ...workerWith(untilAborted, stop.signal), liveRuns: { ...live, hold } });
  expect(await read(id, 'status, interruptions, not_before <= now() as "isFree"')).toEqual({
    status: 'running',
    interruptions: 0,
    isFree: true,
  });
});

test('a worker renews its lease, and stops when another one has taken over the run', async () => {
  const id = await queueRun();
  const working = workOnRuns(workerWith(untilAborted));
  const seconds = async () =>
    (await given.service.app.metrics.runSeconds.get()).values.find(({ metricName }) => metricName?.endsWith('_sum'))
      ?.value ?? 0;
  const before = await seconds();
  await until(
    'the lease to be renewed',
    async () => (await read(id, 'heartbeat_at > started_at as "isLater"')).isLater,
  );
  await set(given.service.app.db.manager, id, { fence: 'fence + 1', lease_until: `now() + interval '1 hour'` });
  await working;
  expect(await read(id, 'status, fence, interruptions, not_before, lease_until > now() as "isLeased"')).toEqual({
    status: 'running',
    fence: 2,
    interruptions: 0,
    not_before: null,
    isLeased: true,
  });
  expect([await logOf(id), await jobs()]).toEqual([[], []]);
  // A lease is renewed after a second, so the run took at least that.
  const took = (await seconds()) - before;
  expect([took > 0.9, took < 900]).toEqual([true, true]);
});

test('the takeover of a lost worker is noted with its time', async () => {
  const id = await queueRun();
  const lost = { status: `'running'`, heartbeat_at: `now() - interval '4000 seconds'` };
  await set(given.service.app.db.manager, id, { ...lost, lease_until: `now() - interval '10 seconds'` });
  await workOnRuns(workerWith(fullDisk));
  expect((await logOf(id))[0]).toEqual([
    expect.stringMatching(/^its worker was lost; another worker continues after 40\d\d s$/),
    'its worker was lost',
  ]);
  const { values } = await given.service.app.metrics.takeovers.get();
  expect(values).toContainEqual(expect.objectContaining({ labels: { cause: 'lost' } }));
});

test('a worker cancels the runs that nobody answered in time', async () => {
  const [old, recent] = [await queueRun(), await queueRun()];
  for (const [id, days] of [
    [old, 8],
    [recent, 6],
  ] as const)
    await set(given.service.app.db.manager, id, {
      status: `'waiting'`,
      wait_id: `'wait_${id}'`,
      wait_reason: `'question'`,
      wait_text: `'Which colour?'`,
      wait_options: `'[]'`,
      waiting_since: `now() - interval '${days} days'`,
    });
  await workOnRuns(workerWith(untilAborted));
  const status = async (id: string) => (await read(id, 'status')).status;
  expect([await status(old), await status(recent)]).toEqual(['cancelled', 'waiting']);
  expect((await logOf(old)).map(([text]: [string]) => text)).toEqual([
    'Nobody reacted for 7 days, so the run was cancelled. Its branch is kept; retry continues it.',
  ]);
});

test('workers are woken by one job, and only if a run can be claimed', async () => {
  const { app } = given.service;
  await queueRunJobIfDue(app);
  expect(await jobs()).toEqual([]);
  await set(app.db.manager, await queueRun(), { created_at: `now() - interval '1 minute'` });
  await queueRunJobIfDue(app);
  await queueRunJobIfDue(app);
  expect(await jobs()).toEqual([0]);
});
