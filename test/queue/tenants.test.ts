import type { App } from '../../src/app.ts';
import { PooledClient } from '../../src/db/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { jobs, tenantOf, workersOf } from '../../src/jobs.ts';
import { tenantOfProject } from '../../src/projects/budgets.ts';
import type { JobName, Jobs } from '../../src/queue/names.ts';
import { openQueue } from '../../src/queue/queue.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
const db = await openDatabase(database.url, [], { poolSize: 2 });
const queue = await openQueue(database.url, jobs, {
  isWorker: false,
  tenantOf,
  Client: PooledClient,
  onError: () => {},
});
afterAll(async () => {
  await queue.stop(1000);
  await db.close();
  await database.drop();
});

/** A job of every kind, all for the project `proj` where it is about one. */
const examples: { [N in JobName]: Jobs[N] } = {
  delivery: { guid: 'g', account: 'octo' },
  run: {},
  continue: { taskId: 'task' },
  mirror: { taskId: 'task', recheck: false },
  tidy: { taskId: 'deleted', repositoryId: 'repo', number: 1 },
  sprint: { projectId: 'proj' },
  automation: { automationId: 'auto' },
  digest: { sprintId: 'sprint' },
  suggestions: { agentId: 'agent', userId: 'mona' },
  milestones: { projectId: 'proj' },
  compare: { projectId: 'proj' },
  plan: { projectId: 'proj', sessionId: 's', goesOn: false },
  cancel: { taskId: 'task', runId: 'r' },
  prd: { projectId: 'proj', sessionId: 's' },
  trial: { trialId: 'trial' },
  trialAnswer: { trialId: 'trial' },
  agentTrial: { projectId: 'proj', agentTrialId: 'tried' },
  pull: { repositoryId: 'repo', number: 1 },
  diff: { repositoryId: 'repo', number: 1 },
  review: { repositoryId: 'repo', number: 1, after: 'run' },
  proof: { repositoryId: 'repo', number: 1 },
  proofCheck: { repositoryId: 'repo', headSha: 'a' },
  collisions: { repositoryId: 'repo', number: 1 },
  webhook: { webhookId: 'hook', projectId: 'proj' },
  mail: { userId: 'mona' },
  redeliver: {},
  sweep: {},
};
/** One job does the work for all tenants. */
const nobodys: JobName[] = ['run', 'redeliver', 'sweep'];

test('every job has the tenant that it is for', async () => {
  const em = db.manager;
  await em.query(`insert into projects (id, name, slug) values ('proj', 'p', 'p')`);
  await em.query(`insert into tasks (id, project_id, title, status) values ('task', 'proj', 't', 'ready')`);
  await em.query(`insert into repositories (id, project_id, name, url) values ('repo', 'proj', 'r', 'u')`);
  await em.query(`insert into sprints (id, project_id, name, status, start_date, end_date)
    values ('sprint', 'proj', 's', 'planning', now(), now())`);
  await em.query(
    `insert into automations (id, project_id, name, trigger, task) values ('auto', 'proj', 'a', '{}', '{}')`,
  );
  await em.query(`insert into environment_trials (id, repository_id, status) values ('trial', 'repo', 'running')`);
  for (const [name, data] of Object.entries(examples)) await queue.send(em, name as JobName, data);
  const rows: { name: JobName; tenant: string }[] = await em.query('select name, group_id as tenant from pgboss.job');
  const tenant = (name: string) =>
    ({ delivery: 'octo', suggestions: 'mona', mail: 'mona' })[name] ??
    (nobodys.includes(name as JobName) ? 'none' : 'proj');
  expect(Object.fromEntries(rows.map((row) => [row.name, row.tenant]))).toEqual(
    Object.fromEntries(Object.keys(jobs).map((name) => [name, tenant(name)])),
  );
});

test('the projects that a person created without an installation are one tenant', async () => {
  const em = db.manager;
  await em.query(`insert into users (id, login) values ('vera', 'vera')`);
  await em.query(
    `insert into projects (id, name, slug, created_by) values ('own1', 'p', 'o1', 'vera'), ('own2', 'p', 'o2', 'vera')`,
  );
  for (const key of ['own1', 'own2']) await queue.send(em, 'webhook', { webhookId: key, projectId: key }, { key });
  const rows: { tenant: string }[] = await em.query(
    `select group_id as tenant from pgboss.job where data ->> 'projectId' like 'own%'`,
  );
  expect(rows).toEqual([{ tenant: 'vera' }, { tenant: 'vera' }]);
  // Clones and validations take turns in the same way.
  expect([await tenantOfProject(em, 'own1'), await tenantOfProject(em, 'proj')]).toEqual(['vera', 'proj']);
});

test.each([1, 2, 4, 5])('with %i simultaneous runs, a tenant holds at most half of the slots of each kind', (runs) => {
  const workers = workersOf({ config: { MAX_CONCURRENT_RUNS: runs } } as App);
  for (const [name, { concurrency, mostOfTenant }] of Object.entries(workers)) {
    const isNobodys = nobodys.includes(name as JobName);
    expect([name, mostOfTenant]).toEqual([name, isNobodys ? undefined : Math.ceil(concurrency / 2)]);
    if (!isNobodys) expect([name, concurrency > 1]).toEqual([name, true]);
  }
});
