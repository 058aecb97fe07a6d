import { until } from '../../demo/real-service.ts';
import { openSprints } from '../support/sprints.ts';

const given = openSprints();
const { call, makeSprint, makeTask, sql } = given;

test('a sprint has the fields of the contract, from creation to its list entry', async () => {
  const { status, body } = await call('POST', `/projects/${given.project}/sprints`, {
    name: ' One ',
    goal: 'g',
    startDate: '2026-03-01',
    endDate: '2026-03-14',
  });
  expect([status, body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^sprint_/),
      projectId: given.project,
      name: 'One',
      goal: 'g',
      status: 'planning',
      startDate: '2026-03-01T00:00:00.000Z',
      endDate: '2026-03-14T00:00:00.000Z',
      createdAt: expect.stringMatching(/Z$/),
      taskCount: 0,
      completedCount: 0,
    },
  ]);
  expect((await call('GET', `/sprints/${body.id}`)).body).toEqual(body);
  const entry = { id: body.id, name: 'One', status: 'planning', goal: 'g' };
  expect((await call('GET', `/projects/${given.project}/sprints`)).body).toEqual([entry]);
  expect((await call('GET', `/projects/${given.project}/sprints?status=active`)).body).toEqual([]);
  expect((await call('GET', `/projects/${given.project}/sprints/active`)).body).toBeNull();
  const changed = await call('PATCH', `/sprints/${body.id}`, { name: 'Two', endDate: '2026-03-01' });
  expect(changed.body).toEqual({ ...body, name: 'Two', endDate: '2026-03-01T00:00:00.000Z' });
  expect((await call('PATCH', `/sprints/${body.id}`, { endDate: '2026-02-28' })).body.message).toBe(
    'endDate must not be before startDate',
  );
});

test.each([
  [{ name: '' }],
  [{ name: 'x'.repeat(201) }],
  [{ startDate: '2026-02-30' }],
  [{ startDate: '2026-2-3' }],
  [{ startDate: 'today' }],
  [{ endDate: '2026-13-01' }],
  [{ startDate: '2026-05-02', endDate: '2026-05-01' }],
  [{ startDate: '0001-01-01', endDate: '9999-12-31' }],
  [{ startDate: undefined }],
  [{ status: 'active' }],
])('%j is refused with 400', async (wrong) => {
  const body = { name: 'S', startDate: '2026-01-01', endDate: '2026-01-02', ...wrong };
  expect((await call('POST', `/projects/${given.project}/sprints`, body)).status).toBe(400);
});

test('one active sprint per project; start only from planning, complete and cancel only from active', async () => {
  const [one, two] = [await makeSprint(), await makeSprint()];
  const act = async (id: string, what: string, body?: object) => {
    const answer = await call('POST', `/sprints/${id}/${what}`, body);
    return answer.status === 200 ? answer.body.status : answer.body.message;
  };
  expect(await act(one.id, 'complete')).toBe('Only a sprint that is active can be completed; this one is in planning.');
  expect(await act(one.id, 'cancel')).toBe('Only a sprint that is active can be cancelled; this one is in planning.');
  expect(await act(one.id, 'start')).toBe('active');
  expect((await call('GET', `/projects/${given.project}/sprints/active`)).body.id).toBe(one.id);
  expect(await act(one.id, 'start')).toBe('Only a sprint that is in planning can be started; this one is active.');
  expect(await act(two.id, 'start')).toBe(
    'Another sprint of the project is still active. Complete or cancel it first.',
  );
  expect(await act(one.id, 'complete')).toBe('completed');
  expect(await act(one.id, 'complete')).toBe('Only a sprint that is active can be completed; this one is completed.');
  expect((await call('PATCH', `/sprints/${one.id}`, { name: 'x' })).status).toBe(409);
  expect(await act(two.id, 'start')).toBe('active');
  expect(await act(two.id, 'cancel')).toBe('cancelled');
  expect((await call('GET', `/sprints/${two.id}/digest`)).body.message).toBe(`Digest of sprint ${two.id} not found`);
});

test('of two simultaneous starts, one succeeds and the other is refused', async () => {
  const sprints = await Promise.all([makeSprint(), makeSprint(), makeSprint()]);
  const answers = await Promise.all(sprints.map((s) => call('POST', `/sprints/${s.id}/start`)));
  expect(answers.map((a) => a.status).sort()).toEqual([200, 409, 409]);
});

test('a task joins a sprint, moves to another and leaves; the backlog has the tasks without a sprint', async () => {
  const [one, two] = [await makeSprint(), await makeSprint()];
  const tasks = [await makeTask(), await makeTask(), await makeTask({ sprintId: one.id })];
  const [a, b, c] = tasks.map((t) => t.id);
  expect(tasks[2].sprintId).toBe(one.id);
  const added = await call('POST', `/sprints/${one.id}/tasks`, { taskId: a });
  expect([added.status, added.body.sprintId]).toEqual([200, one.id]);
  const bulk = await call('POST', `/sprints/${one.id}/tasks/bulk`, { taskIds: [b, a] });
  expect([bulk.status, bulk.body.map((t: { id: string }) => t.id)]).toEqual([200, [b, a]]);
  const idsOf = async (path: string) => (await call('GET', path)).body.map((t: { id: string }) => t.id);
  expect(await idsOf(`/sprints/${one.id}/tasks`)).toEqual([c, b, a]);
  expect(await idsOf(`/sprints/${one.id}/tasks?limit=1&offset=1`)).toEqual([b]);
  expect(await idsOf(`/sprints/${one.id}/tasks?status=done`)).toEqual([]);
  expect(await idsOf(`/projects/${given.project}/tasks?sprintId=${one.id}`)).toEqual([c, b, a]);
  await call('POST', `/sprints/${two.id}/tasks`, { taskId: b });
  expect(await idsOf(`/sprints/${one.id}/tasks`)).toEqual([c, a]);
  expect((await call('DELETE', `/sprints/${one.id}/tasks/${a}`)).status).toBe(204);
  expect((await call('DELETE', `/sprints/${one.id}/tasks/${a}`)).body.message).toBe(`Task ${a} not found`);
  expect((await call('DELETE', `/sprints/${one.id}/tasks/${b}`)).status).toBe(404);
  expect(await idsOf(`/projects/${given.project}/backlog`)).toEqual([a]);
  expect((await call('GET', `/sprints/${one.id}`)).body).toMatchObject({ taskCount: 1, completedCount: 0 });
});

test('the backlog is complete without a limit, and paged with one', async () => {
  await call('POST', `/projects/${given.project}/tasks/bulk`, {
    tasks: Array.from({ length: 30 }, (_, i) => ({ title: `${i}` })),
  });
  expect((await call('GET', `/projects/${given.project}/backlog`)).body).toHaveLength(30);
  const page = await call('GET', `/projects/${given.project}/backlog?limit=10&offset=5`);
  expect(page.body).toHaveLength(10);
  expect(page.headers.get('link')).toContain('rel="next"');
  expect((await call('GET', `/projects/${given.project}/backlog?offset=1`)).headers.get('link')).toBeNull();
});

test('tasks of another project, repeated ids, too many tasks and an ended sprint are refused as a whole', async () => {
  const sprint = await makeSprint();
  const task = await makeTask();
  const foreign = (await call('POST', '/projects', { name: 'Q' })).body.id;
  const theirs = (await call('POST', `/projects/${foreign}/tasks`, { title: 't' })).body;
  const add = async (body: object) => (await call('POST', `/sprints/${sprint.id}/tasks/bulk`, body)).body.message;
  expect(await add({ taskIds: [task.id, theirs.id] })).toBe(
    `taskIds.1 must be a task of this project, not ${theirs.id}`,
  );
  expect(await add({ taskIds: [task.id, task.id] })).toBe('taskIds must name each task once');
  expect(await add({ taskIds: [] })).toBe('taskIds must have 1 to 100 ids');
  expect(await add({ taskIds: Array.from({ length: 101 }, (_, i) => `task_${i}`) })).toBe(
    'taskIds must have 1 to 100 ids',
  );
  expect((await call('GET', `/sprints/${sprint.id}`)).body.taskCount).toBe(0);
  await call('POST', `/sprints/${sprint.id}/start`);
  await call('POST', `/sprints/${sprint.id}/complete`);
  expect((await call('POST', `/sprints/${sprint.id}/tasks`, { taskId: task.id })).status).toBe(409);
  expect((await call('POST', `/projects/${given.project}/tasks`, { title: 'x', sprintId: sprint.id })).status).toBe(
    409,
  );
});

test('if a task is deleted while it is added, the request is refused and the others are not added', async () => {
  const sprint = await makeSprint();
  const [gone, other] = [await makeTask(), await makeTask()];
  let adding: ReturnType<typeof call>[] = [];
  await given.service.app.db.transaction(async (em) => {
    await em.query('delete from tasks where id = $1', [gone.id]);
    adding = [
      call('POST', `/sprints/${sprint.id}/tasks`, { taskId: gone.id }),
      call('POST', `/sprints/${sprint.id}/tasks/bulk`, { taskIds: [other.id, gone.id] }),
    ];
    await until('both to wait', async () => {
      const [row] = await sql(
        `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      return row.n >= 2;
    });
  });
  expect((await Promise.all(adding)).map((a) => a.status)).toEqual([400, 400]);
  expect((await call('GET', `/sprints/${sprint.id}`)).body.taskCount).toBe(0);
});

test('a sprint has at most 2,000 tasks, however they come', async () => {
  const [full, ended] = [await makeSprint(), await makeSprint()];
  const ids = [(await makeTask()).id, (await makeTask()).id];
  await sql(
    `insert into tasks (id, project_id, title, description, status, sprint_id)
     select 'task_' || right($2, 18) || lpad(n::text, 8, '0'), $1, 'T', '', 'backlog', $2 from generate_series(1, 1999) n`,
    [given.project, full.id],
  );
  const message = 'A sprint has at most 2000 tasks, and this one would have 2001.';
  const path = `/sprints/${full.id}/tasks`;
  expect(await call('POST', `${path}/bulk`, { taskIds: ids })).toMatchObject({ status: 409, body: { message } });
  expect((await call('POST', path, { taskId: ids[0] })).status).toBe(200);
  const create = { title: 't', sprintId: full.id };
  expect(await call('POST', `/projects/${given.project}/tasks`, create)).toMatchObject({
    status: 409,
    body: { message },
  });
  // What an ended sprint leaves goes elsewhere.
  await call('POST', `/sprints/${ended.id}/tasks`, { taskId: ids[1] });
  await call('POST', `/sprints/${ended.id}/start`);
  const complete = (unfinished: string) => call('POST', `/sprints/${ended.id}/complete`, { unfinished });
  expect(await complete(full.id)).toMatchObject({ status: 409, body: { message } });
  expect((await complete('backlog')).status).toBe(200);
});

test('subtasks join and leave with their parent, and count', async () => {
  const sprint = await makeSprint();
  const parent = await makeTask();
  const sub = (await call('POST', `/tasks/${parent.id}/subtasks`, { title: 's' })).body;
  expect((await call('POST', `/sprints/${sprint.id}/tasks`, { taskId: sub.id })).body.message).toContain(parent.id);
  await call('POST', `/sprints/${sprint.id}/tasks`, { taskId: parent.id });
  const later = (await call('POST', `/tasks/${parent.id}/subtasks`, { title: 'later' })).body;
  expect(later.sprintId).toBe(sprint.id);
  expect((await call('GET', `/sprints/${sprint.id}`)).body.taskCount).toBe(3);
  expect((await call('GET', `/sprints/${sprint.id}/metrics`)).body.inProgressTasks).toBe(1);
  await call('DELETE', `/sprints/${sprint.id}/tasks/${parent.id}`);
  expect((await call('GET', `/tasks/${sub.id}`)).body.sprintId).toBeNull();
});
