import { openTestApp } from '../support/app.ts';

/** Call it once in a test file: opens the service with a project, which has an owner and a member. */
export async function openTeam() {
  const service = await openTestApp({ OPENAI_MODEL: 'shipped-model' });
  afterAll(() => service.close());
  const tokens: Record<string, string> = {};
  for (const login of ['owner', 'member', 'stranger']) tokens[login] = await service.token(login);
  const as = (who: string, method: string, path: string, body?: unknown) =>
    service.call(method, path, { token: tokens[who] ?? '', body });
  const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
  const project: string = (await as('owner', 'POST', '/projects', { name: 'P' })).body.id;
  await as('owner', 'POST', `/projects/${project}/members`, { login: 'member' });

  let count = 0;
  /** Creates a task of an agent with one run in the given status. */
  async function worked(
    agent: string,
    status: string,
    { category, task, minutes = 1 }: { category?: string; task?: string; minutes?: number } = {},
  ): Promise<string> {
    const { id } = (await as('owner', 'POST', `/projects/${project}/tasks`, { title: 't', owner: agent })).body;
    const failure = category ? JSON.stringify({ category, message: 'm', retryable: false }) : null;
    await sql(
      `insert into runs (id, task_id, project_id, agent_id, kind, status, failure, started_at, finished_at, lease_until)
       values ($1, $2, $3, $4, 'start', $5, $6, now() - make_interval(mins => $7), now(), now() - interval '1 second')`,
      [`run_${++count}`, id, project, agent, status, failure, minutes],
    );
    const end = `update tasks set status = $2, done_at = case when $2 = 'done' then now() end where id = $1`;
    if (task !== undefined) await sql(end, [id, task]);
    return id;
  }
  return { as, sql, worked, project, app: service.app };
}
