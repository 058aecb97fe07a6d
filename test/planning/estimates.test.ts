import { openSprints } from '../support/sprints.ts';

const given = openSprints();
const { call, makeTask, sql } = given;
const minute = 60_000;
const day = 24 * 60 * minute;

/** Makes a task that an agent finished after this time. */
async function finish(title: string, tookMs: number): Promise<string> {
  const { id } = await makeTask({ title });
  const doneAt = Date.parse('2026-03-01T12:00:00Z');
  const [began, done] = [new Date(doneAt - tookMs), new Date(doneAt)];
  await sql(`update tasks set status = 'done', done_at = $2 where id = $1`, [id, done]);
  await sql(
    `insert into runs (id, task_id, project_id, kind, status, started_at, finished_at)
     values ($1, $2, $3, 'start', 'succeeded', $4, $5)`,
    [`run_${id}`, id, given.project, began, done],
  );
  return id;
}

/** Makes a planning session that has its tasks. */
async function plan(tasks: object[]): Promise<string> {
  const id = `wiz_of_${given.project}`;
  await sql(
    `insert into wizard_sessions (id, project_id, goal, status, steps, prd, plan, tasks)
     values ($1, $2, 'Greet people', 'tasks_ready', '[]', '{"title": "T", "markdown": "m"}', '{"phases": []}', $3)`,
    [id, given.project, JSON.stringify(tasks)],
  );
  return `/projects/${given.project}/wizard/${id}`;
}

const task = (ref: string, title: string, dependsOn: string[] = []) => ({
  ref,
  title,
  description: '',
  owner: null,
  ownerReason: null,
  repositoryId: null,
  dependsOn,
});
const tasks = [
  task('login', 'Fix the login page'),
  task('first', 'Report of open invoices'),
  task('second', 'Report of unpaid invoices', ['first']),
];

test('planned tasks have estimates from similar finished ones, and the session says what does not fit', async () => {
  const logins = [];
  for (const took of [30, 40, 60]) logins.push(await finish('Fix the login page', took * minute));
  for (const took of [10, 10, 12]) await finish('Report of all invoices', took * day);
  const at = await plan(tasks);
  const { body } = await call('GET', at);
  expect(body.tasks[0]).toEqual({
    ...tasks[0],
    estimate: {
      likelyMinutes: 40,
      safeMinutes: 52,
      workMinutes: 40,
      basedOn: expect.arrayContaining(logins),
      isSimilar: true,
    },
  });
  expect(body.tasks[0].estimate.basedOn).toHaveLength(3);
  expect(body.tasks[1].estimate).toMatchObject({ likelyMinutes: (10 * day) / minute, isSimilar: true });
  // 20 days are needed for the second report, and between 13 and 14 remain.
  expect(body.doesNotFit).toEqual([
    {
      ref: 'second',
      doneAt: expect.any(String),
      reason: expect.stringMatching(/^Would be done about [67] days after the end of a 14-day sprint/),
    },
  ]);

  // Tasks can be sent back as they were read, and nothing of what is computed is stored.
  const { prd, updatedAt } = body;
  const edited = await call('PATCH', at, { prd, tasks: body.tasks, updatedAt });
  expect([edited.status, edited.body.tasks]).toEqual([200, body.tasks]);
  const [stored] = await sql('select tasks from wizard_sessions where project_id = $1', [given.project]);
  expect(stored.tasks).toEqual(tasks);

  // The sprint has a forecast of its own.
  expect((await call('POST', `${at}/finalize`, { tasks: body.tasks })).status).toBe(201);
  const final = (await call('GET', at)).body;
  expect([final.tasks, final.doesNotFit]).toEqual([tasks, undefined]);
});

test('with too few finished tasks, nothing is estimated', async () => {
  for (const title of ['Fix the login page', 'Fix the login error']) await finish(title, 30 * minute);
  const { body } = await call('GET', await plan(tasks));
  expect(body.tasks).toEqual(tasks);
  expect(body).not.toHaveProperty('doesNotFit');
});
