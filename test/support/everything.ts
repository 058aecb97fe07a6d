import { setSecret } from '../../src/environment/secrets/secrets.ts';
import type { Route } from '../../src/http/route.ts';
import { routes } from '../../src/routes.ts';
import { saveView } from '../../src/tasks/views.ts';
import type { TestApp } from './app.ts';
import { storeBenchmark } from './audit/benchmark-rows.ts';

export const named = routes.map((r) => [`${r.method.toUpperCase()} ${r.path}`, r] as const);
export const guarded = named.filter(([, r]) => r.access.kind !== 'public');

/** A project with one object of every kind, so that the parameters of every path have existing ids. */
export interface Everything {
  ids: Record<string, string>;
  owner: string;
  /** Returns the path of a route with existing ids; `last` replaces the last one. */
  pathOf(route: Pick<Route, 'path'>, last?: string): string;
}

export async function makeEverything(service: TestApp, login = 'owner'): Promise<Everything> {
  const owner = await service.token(login);
  const made = async (path: string, body: object) => {
    const answer = await service.call('POST', path, { token: owner, body });
    if (answer.status > 299) throw new Error(`${path} answered ${answer.status} ${answer.body.message}`);
    return answer.body;
  };
  const read = async (path: string) => (await service.call('GET', path, { token: owner })).body;
  const project = await made('/projects', { name: 'One' });
  const repository = await made('/repositories', {
    projectId: project.id,
    name: 'r',
    url: `https://127.0.0.1:1/${login}/r`,
    isDocsRepo: true,
  });
  const task = await made(`/projects/${project.id}/tasks`, { title: 't' });
  const days = { startDate: '2026-01-01', endDate: '2026-01-02' };
  const sprint = await made(`/projects/${project.id}/sprints`, { name: 'S', ...days });
  const inSprint = await made(`/projects/${project.id}/tasks`, { title: 'u', sprintId: sprint.id });
  const wizard = await made(`/projects/${project.id}/wizard/initialize`, { goal: 'g' });
  const agents = await read('/agents');
  const automation = await made(`/projects/${project.id}/automations`, {
    ...{ name: 'A', on: { cron: '0 3 * * *', timezone: 'UTC' } },
    task: { title: 't', owner: agents[0].id, repositoryId: repository.id },
  });
  await setSecret(service.app, project.id, 'NPM_TOKEN', { value: 'a-token-of-npm', hosts: [] });
  const { id: userId } = await read('/me');
  const hook = await made(`/projects/${project.id}/webhooks`, { url: 'https://hooks.example.com/', events: ['proof'] });
  const delivery = await made(`/projects/${project.id}/webhooks/${hook.id}/test`, {});
  await saveView(service.app, { projectId: project.id, userId }, 'NPM_TOKEN', '');
  await storeOfRun(service.app, login, { projectId: project.id, taskId: task.id, repositoryId: repository.id });
  await makeTrial(service, { id: `trial_${login}`, repositoryId: repository.id, agentId: agents[0].id });
  const ids: Record<string, string> = {
    projectId: project.id,
    userId,
    runId: `run_${login}`,
    tokenId: (await read('/me/tokens'))[0].id,
    repository: repository.id,
    task: task.id,
    agent: agents[0].id,
    sprintId: sprint.id,
    taskId: inSprint.id,
    sessionId: wizard.sessionId,
    automationId: automation.id,
    team: 'core',
    name: 'NPM_TOKEN',
    number: '1',
    noteId: `note_${login}`,
    itemId: `item_${login}`,
    webhookId: hook.id,
    deliveryId: delivery.id,
    trialId: `trial_${login}`,
  };
  const pathOf = ({ path }: Pick<Route, 'path'>, id?: string) => {
    const kind = path.split('/')[1]?.replace(/ies$/, 'y').replace(/s$/, '') ?? '';
    const last = path.lastIndexOf(':');
    return path.replace(/:(\w+)/g, (_all, name: string, at: number) => {
      const value = (at === last ? id : undefined) ?? (name === 'id' ? ids[kind] : ids[name]);
      if (value === undefined) throw new Error(`makeEverything creates nothing for :${name} of ${path}; add it there`);
      return encodeURIComponent(value);
    });
  };
  return { ids, owner, pathOf };
}

/** Stores a run, and what it has made: a comment of a review, and a benchmark. */
async function storeOfRun(
  app: TestApp['app'],
  login: string,
  { projectId, taskId, repositoryId }: { projectId: string; taskId: string; repositoryId: string },
): Promise<void> {
  const query = (sql: string, values: unknown[]) => app.db.manager.query(sql, values);
  const runId = `run_${login}`;
  await query(`insert into runs (id, task_id, project_id, kind, status) values ($3, $1, $2, 'start', 'failed')`, [
    ...[taskId, projectId, runId],
  ]);
  await query(
    `insert into review_notes (id, run_id, repository_id, number, place, path, line, side, quote, severity, text, not_useful, not_useful_at)
     values ($1, $2, $3, 1, 0, 'a.js', 1, 'RIGHT', '', 'minor', 'A word.', 'resolved', now())`,
    [`note_${login}`, runId, repositoryId],
  );
  await storeBenchmark(query, { repositoryId, taskId, runId, itemId: `item_${login}` });
}

/** Stores a trial of an agent that has ended, without items. */
export async function makeTrial(
  { app }: Pick<TestApp, 'app'>,
  {
    id,
    repositoryId,
    agentId,
    status = 'done',
  }: { id: string; repositoryId: string; agentId: string; status?: string },
): Promise<void> {
  await app.db.manager.query(
    `insert into agent_trials (id, project_id, repository_id, agent_id, status, reason, seed, budget_usd, finished_at)
     select $1, r.project_id, r.id, $3, $4, 'Every item was tried.', 's', 5, case when $4 <> 'running' then now() end
     from repositories r where r.id = $2`,
    [id, repositoryId, agentId, status],
  );
  await app.db.manager.query(
    `insert into agent_trial_arms (trial_id, arm, agent_id, version, model, system_prompt, prompt_hash)
     values ($1, 0, $2, 1, 'm', '', 'hash')`,
    [id, agentId],
  );
}

/** Stores a benchmark of a repository with one usable item, without a harvest. */
export async function makeBenchmark({ app }: Pick<TestApp, 'app'>, repositoryId: string): Promise<void> {
  const em = app.db.manager;
  const known: unknown[] = await em.query('select 1 from benchmarks where repository_id = $1', [repositoryId]);
  if (known.length > 0) return;
  const [task, run] = [`task_of_${repositoryId}`, `run_of_${repositoryId}`];
  await em.query(
    `insert into tasks (id, project_id, repository_id, title, status, hidden)
     select $1, r.project_id, r.id, 'benchmark', 'done', true from repositories r where r.id = $2`,
    [task, repositoryId],
  );
  await em.query(
    `insert into runs (id, task_id, project_id, kind, status, finished_at)
     select $1, t.id, t.project_id, 'harvest', 'succeeded', now() from tasks t where t.id = $2`,
    [run, task],
  );
  await em.query('insert into benchmarks (repository_id, task_id, run_id, most) values ($1, $2, $3, 20)', [
    repositoryId,
    task,
    run,
  ]);
  await em.query(
    `insert into benchmark_items (id, repository_id, title, text, removed, base_sha, solution_sha, tests, single_tests,
       seconds, state, environment_key, place)
     values ($2, $1, 'Greet', 'Greet people.', '[]', 'a', 'b', '["a.test"]', '[]', 1, 'usable', 'key', 0)`,
    [repositoryId, `item_of_${repositoryId}`],
  );
}

/** Returns every row of the database's tables as text, except for the tables in `but`. */
export async function rowsOf({ app }: TestApp, but: string[] = []): Promise<string[]> {
  const tables: { name: string }[] = await app.db.manager.query(
    `select tablename as name from pg_tables where schemaname = 'public'`,
  );
  const asked = tables.filter(({ name }) => !but.includes(name));
  // In one statement, because a test that changes a body many times would otherwise send tens of thousands.
  const each = asked.map(({ name }) => `select '${name} ' || t::text as row from ${name} t`);
  const rows: { row: string }[] = await app.db.manager.query(`${each.join(' union all ')} order by 1`);
  return rows.map(({ row }) => row);
}
