import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
let other: string;
let project: string;
let developer: string;
const call = (method: string, path: string, body?: unknown, as = token) =>
  service.call(method, path, { token: as, ...(body === undefined ? {} : { body }) });
const create = async (title: string, body: object = {}): Promise<string> =>
  (await call('POST', `/projects/${project}/tasks`, { title, ...body })).body.id;
const board = async (query = '') => (await call('GET', `/projects/${project}/board${query}`)).body;
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);

/** Adds a run that began some minutes ago. */
const addRun = (
  id: string,
  taskId: string,
  status: string,
  minutes: number,
  more: { cost?: number; failure?: string } = {},
) =>
  sql(
    `insert into runs (id, task_id, project_id, kind, status, steps, cost_usd, failure, created_at, started_at)
     values ($1, $2, $3, 'start', $4, 3, $6, $7, now() - make_interval(mins => $5), now() - make_interval(mins => $5))`,
    [
      id,
      taskId,
      project,
      status,
      minutes,
      more.cost ?? null,
      more.failure === undefined ? null : { category: more.failure, message: 'm', retryable: true },
    ],
  );
const addProof = (runId: string, taskId: string, status: string) =>
  sql('insert into proofs (run_id, task_id, status) values ($1, $2, $3)', [runId, taskId, status]);

beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
  other = await service.token('hubot');
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
  developer = (await call('GET', '/agents')).body[0].id;
});
afterAll(() => service.close());

test('a card has the newest run, the cost of all runs and the names it needs', async () => {
  const sprint = (
    await call('POST', `/projects/${project}/sprints`, { name: 'S', startDate: '2026-01-01', endDate: '2026-01-14' })
  ).body;
  const first = await create('first', { owner: developer, sprintId: sprint.id });
  const second = await create('second', { dependsOn: [first] });
  await addRun('run_a', first, 'failed', 60, { cost: 0.25 });
  await addRun('run_b', first, 'running', 5, { cost: 0.5 });
  const { total, tasks, agents, sprints } = await board();
  expect([total, tasks.map(({ id }: { id: string }) => id)]).toEqual([2, [second, first]]);
  expect(tasks[1]).toMatchObject({
    owner: developer,
    sprintId: sprint.id,
    runCount: 2,
    costUsd: 0.75,
    checks: null,
    run: { id: 'run_b', status: 'running', steps: 3, waitingSince: null, waitedSeconds: 0 },
  });
  expect(tasks[0]).toMatchObject({ dependsOn: [first], run: null, costUsd: null, runCount: 0 });
  expect(tasks[0]).not.toHaveProperty('description');
  expect(agents).toContainEqual({ id: developer, name: 'Developer' });
  expect(sprints).toEqual([{ id: sprint.id, name: 'S', status: 'planning' }]);
});

test('the tasks near a task are those that it depends on and those that depend on it, in its own project', async () => {
  const [first, other] = [await create('first of three'), await create('depends on nothing')];
  const second = await create('second of three', { dependsOn: [first] });
  const third = await create('third of three', { dependsOn: [second] });
  const near = async (id: string, projectId = project) =>
    (await call('GET', `/projects/${projectId}/board?near=${id}`)).body.tasks.map((card: { id: string }) => card.id);
  expect(await near(second)).toEqual([third, first]);
  expect([await near(first), await near(third), await near(other)]).toEqual([[second], [second], []]);
  const elsewhere = (await call('POST', '/projects', { name: 'Elsewhere' })).body.id;
  expect([await near(second, elsewhere), await near('task_unknown')]).toEqual([[], []]);
});

test('checks have passed with a proof, and failed with the newest run or on GitHub', async () => {
  const ids = [];
  for (const title of ['passed', 'not run', 'failed', 'failed on GitHub', 'taken up']) ids.push(await create(title));
  const [passed, notRun, failed, onGitHub, takenUp] = ids as [string, string, string, string, string];
  for (const id of ids) {
    await addRun(`run_${id}`, id, 'succeeded', 30);
    await addProof(`run_${id}`, id, id === notRun ? 'not_run' : 'no_tests');
  }
  await addRun('run_failed', failed, 'failed', 1, { failure: 'checks' });
  const revision = `insert into revisions (id, task_id, source, text, run_id) values ($1, $2, 'checks', 'red', $3)`;
  await sql(revision, ['rev_1', onGitHub, null]);
  await sql(revision, ['rev_2', takenUp, `run_${takenUp}`]);
  const { tasks } = await board(`?ids=${ids.join(',')}`);
  const checksOf = (id: string) => tasks.find((task: { id: string }) => task.id === id).checks;
  expect(checksOf(passed)).toBe('passed');
  expect(checksOf(notRun)).toBeNull();
  expect(checksOf(failed)).toBe('failed');
  expect(checksOf(onGitHub)).toBe('failed');
  expect(checksOf(takenUp)).toBe('passed');
});

test('only the tasks that changed are read, by their ids or those of their runs, and only of this project', async () => {
  const [one, two] = [await create('one'), await create('two')];
  await addRun('run_of_two', two, 'queued', 0);
  const elsewhere = (await call('POST', '/projects', { name: 'Q' })).body.id;
  const foreign = (await call('POST', `/projects/${elsewhere}/tasks`, { title: 'foreign' })).body.id;
  const idsOf = async (query: string) => (await board(query)).tasks.map(({ id }: { id: string }) => id);
  expect(await idsOf(`?ids=${one}`)).toEqual([one]);
  expect(await idsOf(`?ids=${one},run_of_two,run_unknown,${foreign}`)).toEqual([two, one]);
  expect(await idsOf(`?ids=${foreign}`)).toEqual([]);
  for (const bad of ['?ids=', `?ids=${Array.from({ length: 101 }, (_, i) => `t${i}`).join(',')}`, '?limit=2001'])
    expect([bad, (await call('GET', `/projects/${project}/board${bad}`)).status]).toEqual([bad, 400]);
});

test('pages together have every task once', async () => {
  const { total } = await board();
  const seen: string[] = [];
  for (let offset = 0; offset < total; offset += 2)
    for (const { id } of (await board(`?limit=2&offset=${offset}`)).tasks) seen.push(id);
  expect(new Set(seen).size).toBe(total);
  expect(seen).toHaveLength(total);
});

test('views belong to one person and project, are replaced by name, and are bounded', async () => {
  const at = `/projects/${project}/views`;
  const put = (name: string, query: string, as = token) =>
    call('PUT', `${at}/${encodeURIComponent(name)}`, { query }, as);
  await call('POST', `/projects/${project}/members`, { login: 'hubot', role: 'member' });
  expect((await put('Failed & mine', 'state=failed')).status).toBe(204);
  expect((await put('Failed & mine', 'state=failed&sort=cost')).status).toBe(204);
  expect((await put('Theirs', '', other)).status).toBe(204);
  expect((await call('GET', at)).body).toEqual([{ name: 'Failed & mine', query: 'state=failed&sort=cost' }]);
  for (const bad of [' x', 'x'.repeat(61), 'a\u0007b']) expect([bad, (await put(bad, '')).status]).toEqual([bad, 400]);
  expect((await put('x', 'q'.repeat(1001))).status).toBe(400);
  await sql(
    `insert into saved_views (project_id, user_id, name, query)
     select $1, user_id, 'v' || n, '' from members, generate_series(2, 50) n
     where project_id = $1 and user_id <> (select id from users where login = 'hubot')`,
    [project],
  );
  expect((await put('one more', '')).status).toBe(409);
  expect((await put('v2', 'sort=age')).status).toBe(204);
  expect((await call('DELETE', `${at}/Theirs`)).status).toBe(404);
  expect((await call('DELETE', `${at}/v2`)).status).toBe(204);
  // The views of a person who leaves are deleted.
  await call('DELETE', `/projects/${project}/members/me`, undefined, other);
  expect(await sql(`select name from saved_views where name = 'Theirs'`)).toEqual([]);
});
