import { until } from '../../demo/real-service.ts';
import { remedyFor } from '../../src/domain/run.ts';
import { addPersonSpend, creatorOf, payForCall, personDayIsOver } from '../../src/projects/budgets.ts';
import { payForAnswer, sumUp } from '../../src/runs/spend.ts';
import { addUsage } from '../../src/runs/store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { awayFromMidnight } from '../support/machine/midnight.ts';

let service: TestApp;
let token: string;
let project: string;
let developer: string;
const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
const spend = async (query = '') => (await call('GET', `/projects/${project}/spend${query}`)).body;
const usage = (inputTokens: number, costUsd: number | null, model = 'a-model') => ({
  model,
  inputTokens,
  cachedInputTokens: 0,
  outputTokens: 1,
  costUsd,
});

/** Inserts a run of a new task, created that many days ago; returns its id. */
async function addRun(agentId: string | null, daysAgo: number, costUsd: number | null = null): Promise<string> {
  const task = (await call('POST', `/projects/${project}/tasks`, { title: 't' })).body.id;
  const id = `run_of_${task}`;
  await sql(
    `insert into runs (id, task_id, project_id, agent_id, kind, status, cost_usd, created_at)
     values ($1, $2, $3, $4, 'start', 'succeeded', $5, now() - make_interval(days => $6))`,
    [id, task, project, agentId, costUsd, daysAgo],
  );
  return id;
}

beforeAll(async () => {
  await awayFromMidnight();
  service = await openTestApp();
  token = await service.token('octocat');
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
  developer = (await call('GET', `/agents?projectId=${project}`)).body[0].id;
});
afterAll(() => service.close());

test('spend is summed up by day and agent, agrees with the runs, and is compared with the budget of a day', async () => {
  const none = await spend('?days=2');
  expect(none.days.map((d: { costUsd: number }) => d.costUsd)).toEqual([0, 0]);
  expect([none.agents, none.budget]).toEqual([[], { dayCostUsd: 50, setBy: 'service' }]);
  await call('PATCH', `/projects/${project}`, { budgets: { dayCostUsd: 2 } });
  const em = service.app.db.manager;
  // A run that waited since yesterday counts today's turns today.
  const waited = await addRun(developer, 1, 0.1);
  await addUsage(em, waited, usage(100, 0.2));
  const unpriced = await addRun(null, 0);
  await addUsage(em, unpriced, usage(50, null));
  // A run that was cancelled has to pay for the answer that it did not wait for.
  const cancelled = await addRun(developer, 2, 7);
  await sql(`update runs set status = 'cancelled' where id = $1`, [cancelled]);
  await addUsage(em, cancelled, usage(20, 0.4));
  const { days, agents, total, budget } = await spend('?days=2');
  expect(days.map((d: { costUsd: number; inputTokens: number }) => [d.costUsd, d.inputTokens])).toEqual([
    [0.1, 0],
    [0.6, 170],
  ]);
  expect(days[1].agents).toEqual([
    { agentId: null, costUsd: 0 },
    { agentId: developer, costUsd: 0.6 },
  ]);
  expect(agents.map((a: { agentId: string; costUsd: number }) => [a.agentId, a.costUsd])).toEqual([
    [developer, 0.7],
    [null, 0],
  ]);
  expect([agents[0].name, agents[1].name, total.costUsd, total.outputTokens]).toEqual(['Developer', null, 0.7, 3]);
  expect(budget).toEqual({ dayCostUsd: 2, setBy: 'project' });
  const [{ cost }] = await sql('select sum(cost_usd)::float8 as cost from runs');
  expect((await spend()).total.costUsd).toBe(cost);
});

test('spend is summed up by person, model, sprint and repository: of runs by their task, of other calls by what they are for', async () => {
  const projectId = (await call('POST', '/projects', { name: 'Groups' })).body.id;
  const { id: userId } = (await call('GET', '/me')).body;
  const [agent] = (await call('GET', `/agents?projectId=${projectId}`)).body;
  for (const [id, isPrimary] of [
    ['first', true],
    ['second', false],
  ])
    await sql(`insert into repositories (id, project_id, name, url, is_primary) values ($1, $2, $1, $3, $4)`, [
      ...[id, projectId, `https://github.com/o/${id}`, isPrimary],
    ]);
  const days = { startDate: '2026-01-01', endDate: '2026-01-02' };
  const sprintId = (await call('POST', `/projects/${projectId}/sprints`, { name: 'S', ...days })).body.id;
  /** Pays for an answer to a run of a new task. */
  const paid = async (by: string | null, task: object, cost: number, model: string) => {
    const taskId = (await call('POST', `/projects/${projectId}/tasks`, { title: 't', ...task })).body.id;
    const run = { id: `run_of_${taskId}`, projectId, taskId, agentId: agent.id as string, startedBy: by };
    await sql(
      `insert into runs (id, task_id, project_id, agent_id, started_by, kind, status)
       values ($1, $2, $3, $4, $5, 'start', 'succeeded')`,
      [run.id, taskId, projectId, agent.id, by],
    );
    await payForAnswer(service.app.db, run, userId, usage(1, cost, model));
  };
  await paid(userId, { sprintId }, 0.1, 'small');
  await paid(userId, { repositoryId: 'second' }, 0.2, 'large');
  await paid(null, {}, 0.4, 'small');
  // A chat about the sprint.
  const chat = { projectId, agentId: null, userId, sprintId, repositoryId: 'first' };
  await payForCall(service.app.db, chat, userId, usage(1, 0.8, 'large'));

  const groups = async (by: string) => {
    const spent = (await call('GET', `/projects/${projectId}/spend?days=1&by=${by}`)).body;
    expect([spent.by, spent.total.costUsd]).toEqual([by, 1.5]);
    return spent.groups.map((each: Record<string, unknown>) => [each.id, each.name, each.costUsd, each.inputTokens]);
  };
  expect(await groups('person')).toEqual([
    [userId, 'octocat', 1.1, 3],
    [null, null, 0.4, 1],
  ]);
  expect(await groups('model')).toEqual([
    ['large', 'large', 1, 2],
    ['small', 'small', 0.5, 2],
  ]);
  expect(await groups('sprint')).toEqual([
    [sprintId, 'S', 0.9, 2],
    [null, null, 0.6, 2],
  ]);
  expect(await groups('repository')).toEqual([
    ['first', 'first', 1.3, 3],
    ['second', 'second', 0.2, 1],
  ]);
  expect(await groups('agent')).toEqual([
    [null, null, 0.8, 1],
    [agent.id, agent.name, 0.7, 3],
  ]);
  expect(await groups('day')).toEqual([[expect.stringMatching(/^\d{4}-\d\d-\d\d$/), null, 1.5, 4]]);

  // What is deleted keeps its figures, without a name.
  await call('DELETE', `/sprints/${sprintId}`);
  expect((await groups('sprint'))[0]).toEqual([sprintId, null, 0.9, 2]);
  expect((await call('GET', `/projects/${projectId}/spend?by=colour`)).status).toBe(400);
});

test('the cost of a run stays when its task is deleted, and is deleted with the project', async () => {
  const before = (await spend()).total.costUsd;
  const run = await addRun(developer, 0, 1);
  await call('DELETE', `/tasks/${run.slice('run_of_'.length)}`);
  expect((await spend()).total.costUsd).toBe(before + 1);
  const other = (await call('POST', '/projects', { name: 'Other' })).body.id;
  await sql(`insert into spend_days values ($1, current_date, '', 1, 1, 0, 1)`, [other]);
  expect((await call('DELETE', `/projects/${other}`)).status).toBe(204);
  expect(await sql('select 1 from spend_days where project_id = $1', [other])).toEqual([]);
  for (const days of ['0', '367', 'x'])
    expect((await call('GET', `/projects/${project}/spend?days=${days}`)).status).toBe(400);
});

test('what the projects of a person cost today is limited together, also after one was deleted', async () => {
  const { id } = (await call('GET', '/me')).body;
  await sql('delete from person_spend_days');
  const over = () => personDayIsOver(service.app, id);
  expect(await creatorOf(service.app.db.manager, project)).toBe(id);
  await addRun(developer, 1, 30);
  const today = await addRun(developer, 0, 12);
  await addUsage(service.app.db.manager, today, usage(1, 0.5));
  const other = (await call('POST', '/projects', { name: 'Other' })).body.id;
  await sql(`insert into spend_days values ($1, (now() at time zone 'UTC')::date, '', 7, 1, 0, 1)`, [other]);
  expect(await over()).toBeUndefined();
  await addPersonSpend(service.app.db.manager, id, 0.5);
  await call('DELETE', `/projects/${other}`);
  expect(await over()).toContain('$20 a day for all projects that one person created without the GitHub App');
  expect(remedyFor({ category: 'budget', message: (await over()) ?? '' })).toContain(
    'Retry tomorrow (UTC). Ask the operator',
  );
  // A project that an account installed is paid for by nobody in particular.
  await sql('update projects set created_by = null where id = $1', [project]);
  expect(await creatorOf(service.app.db.manager, project)).toBeNull();
  expect(await personDayIsOver(service.app, null)).toBeUndefined();
});

describe('an answer that arrives after a cancel', () => {
  const costOfPerson = async (id: string) =>
    (await sql('select coalesce(sum(cost_usd), 0)::float8 as cost from person_spend_days where user_id = $1', [id]))[0]
      .cost;

  /** Returns a new project of the caller with the run of a task in it. */
  async function projectWithRun() {
    const creatorId: string = (await call('GET', '/me')).body.id;
    const projectId: string = (await call('POST', '/projects', { name: 'Short' })).body.id;
    const agentId: string = (await call('GET', `/agents?projectId=${projectId}`)).body[0].id;
    const taskId: string = (await call('POST', `/projects/${projectId}/tasks`, { title: 't' })).body.id;
    const run = { id: `run_of_${taskId}`, projectId, taskId, agentId, startedBy: creatorId };
    await sql(
      `insert into runs (id, task_id, project_id, agent_id, kind, status) values ($1, $2, $3, $4, 'start', 'cancelled')`,
      [run.id, taskId, projectId, agentId],
    );
    return { run, taskId, creatorId };
  }

  test('counts for the project and its creator when the task is deleted, under its agent', async () => {
    const { run, taskId, creatorId } = await projectWithRun();
    const before = await costOfPerson(creatorId);
    await payForAnswer(service.app.db, run, creatorId, usage(10, 1));
    await call('DELETE', `/tasks/${taskId}`);
    await payForAnswer(service.app.db, run, creatorId, usage(20, 0.5));
    await payForAnswer(service.app.db, run, creatorId, usage(5, null));
    const { total, agents } = (await call('GET', `/projects/${run.projectId}/spend`)).body;
    expect(total).toEqual({ costUsd: 1.5, inputTokens: 35, cachedInputTokens: 0, outputTokens: 3 });
    expect(agents).toEqual([expect.objectContaining({ agentId: run.agentId, costUsd: 1.5 })]);
    expect((await costOfPerson(creatorId)) - before).toBeCloseTo(1.5);
  });

  test('counts for the person who created the project when that is deleted', async () => {
    const { run, creatorId } = await projectWithRun();
    const before = await costOfPerson(creatorId);
    expect((await call('DELETE', `/projects/${run.projectId}`)).status).toBe(204);
    await payForAnswer(service.app.db, run, creatorId, usage(20, 0.5));
    await payForAnswer(service.app.db, run, creatorId, usage(20, null));
    await payForAnswer(service.app.db, run, null, usage(20, 0.5));
    expect((await costOfPerson(creatorId)) - before).toBeCloseTo(0.5);
  });

  test('waits for a deletion that is under way, and counts once', async () => {
    const { run, creatorId } = await projectWithRun();
    const before = await costOfPerson(creatorId);
    let paid: Promise<void> | undefined;
    await service.app.db.transaction(async (em) => {
      await em.query('select 1 from projects where id = $1 for update', [run.projectId]);
      paid = payForAnswer(service.app.db, run, creatorId, usage(20, 0.5));
      await until('the payment to wait', async () => (await sql(waitingForLocks))[0].count > 0);
      await em.query('delete from projects where id = $1', [run.projectId]);
    });
    await paid;
    expect((await costOfPerson(creatorId)) - before).toBeCloseTo(0.5);
  });

  const waitingForLocks = `select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
});

test('sums of doubles are rounded, and days without spend are included', () => {
  const row = { lineId: 'a', agentId: 'agent_a', name: 'A', inputTokens: 1, cachedInputTokens: 0, outputTokens: 0 };
  const { days, agents } = sumUp(
    [
      { ...row, day: '2026-03-01', costUsd: 0.1 },
      { ...row, day: '2026-02-27', costUsd: 0.2 },
    ],
    '2026-03-01',
    3,
  );
  expect(days.map(({ day, costUsd }) => [day, costUsd])).toEqual([
    ['2026-02-27', 0.2],
    ['2026-02-28', 0],
    ['2026-03-01', 0.1],
  ]);
  expect(agents).toEqual([
    { agentId: 'agent_a', name: 'A', costUsd: 0.3, inputTokens: 2, cachedInputTokens: 0, outputTokens: 0 },
  ]);
});
