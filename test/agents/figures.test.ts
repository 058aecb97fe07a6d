import { migrations } from '../../migrations/list.ts';
import {
  findFigures,
  findHealthFacts,
  hasVersion,
  listSkills,
  listWeeks,
  resetFailures,
} from '../../src/agents/figures-store.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createTestDatabase } from '../support/database.ts';

let db: Database;
let drop: () => Promise<void>;
const sql = (text: string, values: unknown[] = []) => db.manager.query(text, values);

beforeAll(async () => {
  const database = await createTestDatabase();
  drop = database.drop;
  db = await openDatabase(database.url, migrations, { poolSize: 2 });
  await sql(`insert into users (id, login) values ('mona', 'mona'), ('hubot', 'hubot')`);
  await sql(`insert into projects (id, name, slug) values ('ours', 'o', 'o'), ('theirs', 't', 't')`);
  await sql(
    `insert into repositories (id, project_id, name, url) values ('repo', 'ours', 'r', 'https://example.com/r')`,
  );
  await sql(`insert into members (project_id, user_id, role)
    values ('ours', 'mona', 'owner'), ('theirs', 'hubot', 'owner'), ('ours', 'hubot', 'member')`);
});
afterAll(async () => {
  await db.close();
  await drop();
});

let made = 0;
async function addAgent(): Promise<string> {
  const id = `agent_${++made}`;
  await sql(`insert into agents (id, project_id, name, created_at) values ($1, 'ours', $1, '2020-01-01T00:00:00Z')`, [
    id,
  ]);
  return id;
}
async function addTask(status = 'ready', more: { projectId?: string; doneAfter?: number } = {}): Promise<string> {
  const id = `task_${++made}`;
  await sql(
    `insert into tasks (id, project_id, title, status, done_at)
     values ($1, $2, $1, $3, now() - interval '1 day' + $4::int * interval '1 second')`,
    [id, more.projectId ?? 'ours', status, more.doneAfter ?? null],
  );
  return id;
}

interface Ran {
  taskId?: string;
  projectId?: string;
  category?: string;
  /** Times are in seconds after yesterday at this moment. */
  createdAfter?: number;
  startedAfter?: number;
  finishedAfter?: number;
}
async function addRun(agentId: string, status: string, ran: Ran = {}): Promise<string> {
  const id = `run_${++made}`;
  const { projectId = 'ours', createdAfter = 0, startedAfter = 0, finishedAfter = null } = ran;
  const failure = status === 'failed' ? { category: ran.category ?? 'model', message: 'm', retryable: false } : null;
  const time = (parameter: string) => `now() - interval '1 day' + ${parameter}::int * interval '1 second'`;
  await sql(
    `insert into runs (id, task_id, project_id, agent_id, kind, status, failure, created_at, started_at, finished_at)
     values ($1, $2, $3, $4, 'start', $5, $6, ${time('$7')}, ${time('$8')}, ${time('$9')})`,
    [
      id,
      ran.taskId ?? (await addTask()),
      projectId,
      agentId,
      status,
      failure,
      createdAfter,
      startedAfter,
      finishedAfter,
    ],
  );
  return id;
}
const all = (agentId: string) => ({ agentId, version: undefined });
const failuresOf = async (agentId: string, user = 'mona') =>
  (await findHealthFacts(db.manager, user, [agentId]))[0]?.consecutiveFailures;

test('facts and figures come in the order of the ids', async () => {
  const [one, two, three] = [await addAgent(), await addAgent(), await addAgent()];
  for (const ids of [
    [one, two, three],
    [three, one, two],
  ]) {
    expect((await findHealthFacts(db.manager, 'mona', ids)).map((each) => each.agentId)).toEqual(ids);
    expect((await findFigures(db.manager, 'mona', ids)).map((each) => each.agentId)).toEqual(ids);
  }
});

test('only failures that are the fault of the agent count, since its last success and the last reset', async () => {
  const agent = await addAgent();
  await addRun(agent, 'failed', { finishedAfter: 10 });
  await addRun(agent, 'succeeded', { finishedAfter: 20 });
  expect(await failuresOf(agent)).toBe(0);
  for (const category of ['auth', 'rate_limit', 'repository', 'model', 'checks'])
    await addRun(agent, 'failed', { category, finishedAfter: 30 });
  await addRun(agent, 'cancelled', { finishedAfter: 40 });
  expect(await failuresOf(agent)).toBe(2);
  await addRun(agent, 'failed', { projectId: 'theirs', finishedAfter: 50 });
  expect([await failuresOf(agent), await failuresOf(agent, 'hubot')]).toEqual([2, 3]);
  // A success in a project that the user cannot see does not count for them.
  await addRun(agent, 'succeeded', { projectId: 'theirs', finishedAfter: 60 });
  expect([await failuresOf(agent), await failuresOf(agent, 'hubot')]).toEqual([2, 0]);
  await resetFailures(db.manager, 'mona', agent);
  expect(await failuresOf(agent)).toBe(0);
  await sql(`update health_resets set at = now() - interval '1 hour'`);
  await addRun(agent, 'failed', { finishedAfter: 86_300 });
  expect(await failuresOf(agent)).toBe(1);
  await sql(`update health_resets set at = (select max(finished_at) from runs where agent_id = $1)`, [agent]);
  expect(await failuresOf(agent)).toBe(0);
  await resetFailures(db.manager, 'mona', agent);
  expect(await failuresOf(agent)).toBe(0);
});

test('how a trial ends neither makes an agent ill nor well', async () => {
  const agent = await addAgent();
  const trial = async (status: string, finishedAfter: number) =>
    sql(`update runs set kind = 'trial' where id = $1`, [await addRun(agent, status, { finishedAfter })]);
  await trial('failed', 10);
  expect(await failuresOf(agent)).toBe(0);
  await addRun(agent, 'failed', { finishedAfter: 20 });
  await trial('succeeded', 30);
  await trial('failed', 40);
  expect(await failuresOf(agent)).toBe(1);
});

test('expired leases and the last heartbeat count only in the projects of the user', async () => {
  const agent = await addAgent();
  const facts = async () => (await findHealthFacts(db.manager, 'mona', [agent]))[0];
  expect(await facts()).toMatchObject({ hasLapsedRun: false, lastHeartbeat: new Date('2020-01-01T00:00:00Z') });
  const foreign = await addRun(agent, 'running', { projectId: 'theirs' });
  await sql(`update runs set lease_until = now() - interval '1 second' where id = $1`, [foreign]);
  expect(await facts()).toMatchObject({ hasLapsedRun: false, lastHeartbeat: new Date('2020-01-01T00:00:00Z') });
  const own = await addRun(agent, 'running');
  const times = `started_at = '2021-01-01', heartbeat_at = '2022-01-01', finished_at = '2023-01-01'`;
  await sql(`update runs set lease_until = now() + interval '1 hour', ${times} where id = $1`, [own]);
  expect(await facts()).toMatchObject({ hasLapsedRun: false, lastHeartbeat: new Date('2023-01-01') });
  await sql(`update runs set lease_until = now() - interval '1 second', finished_at = null where id = $1`, [own]);
  expect(await facts()).toMatchObject({ hasLapsedRun: true, lastHeartbeat: new Date('2022-01-01') });
  const waiting = await addRun(agent, 'queued');
  await sql(`update runs set started_at = '2021-06-01', heartbeat_at = null, finished_at = null where id = $1`, [
    waiting,
  ]);
  expect(await facts()).toMatchObject({ lastHeartbeat: new Date('2022-01-01') });
  await sql(`update runs set status = 'failed' where id = $1`, [own]);
  expect((await facts())?.hasLapsedRun).toBe(false);
});

test('each task counts once, with the state of its latest run, whichever agent made it', async () => {
  const [agent, other] = [await addAgent(), await addAgent()];
  const done = await addTask('done', { doneAfter: 150 });
  await addRun(agent, 'failed', { taskId: done, startedAfter: 80, createdAfter: 2 });
  await addRun(agent, 'succeeded', { taskId: done, startedAfter: 50, createdAfter: 1 });
  const quick = await addTask('done', { doneAfter: 100 });
  await addRun(agent, 'succeeded', { taskId: quick, startedAfter: 50 });
  const failed = await addTask();
  await addRun(agent, 'succeeded', { taskId: failed, createdAfter: 1 });
  await addRun(other, 'failed', { taskId: failed, createdAfter: 2 });
  const mended = await addTask();
  await addRun(agent, 'failed', { taskId: mended, createdAfter: 1 });
  await addRun(other, 'succeeded', { taskId: mended, createdAfter: 2 });
  await addRun(agent, 'failed', { projectId: 'theirs', taskId: await addTask('ready', { projectId: 'theirs' }) });
  for (const [number, status, additions] of [
    [1, 'merged', 10],
    [2, 'merged', 5],
    [3, 'closed', 100],
  ] as const)
    await sql(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, additions)
       values ($1, 'repo', $2, '', $3, '', '', $4)`,
      [number === 1 ? quick : done, number, status, additions],
    );
  const figures = {
    completedTasks: 2,
    failedTasks: 1,
    averageSeconds: expect.closeTo(75, 0),
    linesOfCodeWritten: 15,
    prsCreated: 3,
  };
  expect(await findFigures(db.manager, 'mona', [agent])).toEqual([{ agentId: agent, totalTasks: 4, ...figures }]);
  expect((await findFigures(db.manager, 'hubot', [agent]))[0]).toMatchObject({ totalTasks: 5, failedTasks: 2 });
  const [nothing] = await findFigures(db.manager, 'mona', [await addAgent()]);
  expect(nothing).toMatchObject({
    totalTasks: 0,
    completedTasks: 0,
    failedTasks: 0,
    averageSeconds: null,
    linesOfCodeWritten: 0,
    prsCreated: 0,
  });
});

test('weeks begin on Monday in UTC and are listed oldest first, also those without runs', async () => {
  const agent = await addAgent();
  const monday = `(date_trunc('week', now() at time zone 'UTC') at time zone 'UTC')`;
  const ended = async (status: string, finished: string, projectId = 'ours') =>
    sql(`update runs set finished_at = ${monday} ${finished} where id = $1`, [
      await addRun(agent, status, { projectId }),
    ]);
  await ended('succeeded', '');
  await ended('failed', `- interval '1 second'`);
  await ended('failed', `- interval '1 week'`);
  await ended('cancelled', '');
  await ended('succeeded', `- interval '2 weeks 1 second'`);
  await ended('succeeded', '', 'theirs');
  const weeks = await listWeeks(db.manager, 'mona', all(agent), 3);
  expect(weeks.map(({ succeeded, failed }) => [succeeded, failed])).toEqual([
    [0, 0],
    [0, 2],
    [1, 0],
  ]);
  const ofAnotherVersion = await listWeeks(db.manager, 'mona', { agentId: agent, version: 2 }, 3);
  expect(ofAnotherVersion.map(({ succeeded, failed }) => succeeded + failed)).toEqual([0, 0, 0]);
  const [{ day }] = await sql(`select to_char(${monday} at time zone 'UTC', 'YYYY-MM-DD') as day`);
  expect(weeks.at(-1)?.week).toBe(day);
  expect((await listWeeks(db.manager, 'hubot', all(agent), 1))[0]).toMatchObject({ succeeded: 2, failed: 0 });
});

test('skills are the languages of the merged tasks on which the agent worked', async () => {
  const [agent, other] = [await addAgent(), await addAgent()];
  const changed = async (by: string, status: string, projectId = 'ours') => {
    const taskId = await addTask('done', { projectId });
    await addRun(by, 'succeeded', { taskId, projectId });
    await sql(`insert into diffs (task_id, branch_name, base_branch, head_sha, files) values ($1, '', '', '', $2)`, [
      taskId,
      JSON.stringify([{ path: 'src/a.ts' }, { path: 'b.mts' }, { path: 'c.RS' }, { path: '.ts' }, { path: 'no' }]),
    ]);
    await sql(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
       values ($1, 'repo', $2, '', $3, '', '')`,
      [taskId, 1000 + ++made, status],
    );
  };
  await changed(agent, 'merged');
  await changed(agent, 'closed');
  await changed(other, 'merged');
  await changed(agent, 'merged', 'theirs');
  await changed(agent, 'merged');
  await sql(`update diffs set files = '[{"path": "d.rs"}]' where task_id = (select max(task_id) from diffs)`);
  const skills = await listSkills(db.manager, 'mona', all(agent));
  expect(skills.sort((a, b) => b.tasks - a.tasks)).toEqual([
    { language: 'Rust', tasks: 2 },
    { language: 'TypeScript', tasks: 1 },
  ]);
  expect(await listSkills(db.manager, 'mona', { agentId: agent, version: 2 })).toEqual([]);
});

test('an agent has the versions of its line, and no others', async () => {
  const agent = await addAgent();
  expect(await hasVersion(db.manager, agent, 1)).toBe(true);
  expect(await hasVersion(db.manager, agent, 2)).toBe(false);
});
