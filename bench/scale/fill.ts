import pg from 'pg';
import { taskStatuses } from '../../src/domain/task.ts';

/** The ids that the paths of the reads contain. All belong to the project with half of the tasks. */
export const filledIds: Record<string, string> = {
  projectId: 'proj_1',
  repository: 'repo_1',
  task: 'task_2',
  taskId: 'task_2',
  runId: 'run_2',
  agent: 'agent_1_1',
  team: 'core',
  sprintId: 'sprint_1_21',
  completedSprint: 'sprint_1_1',
  sessionId: 'wizard_1',
};

/** An agent of which both versions do half of the tasks. */
export const secondVersion = 'agent_1_5b';

const projects = 50;
/** Sprints of each project, of which the last one is active. */
const sprints = 21;
const tasksOfSprint = 40;

/**
 * Fills a migrated, empty database with tasks, each with a run, a diff and often a pull request: half of them in one
 * project, the others in 49. Finished work grows with the size. What is open, what belongs to a sprint, and the numbers
 * of projects and agents are always the same. The user is a member of ten projects.
 */
export async function fill(url: string, size: number, login: string): Promise<void> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  try {
    // Triggers and foreign keys would look up each row. The figures are computed afterwards.
    await db.query('set session_replication_role = replica');
    await db.query(frame(login));
    await db.query(tasks(size));
    await db.query(work);
    await db.query(logs(login));
  } finally {
    await db.end();
  }
}

/** Frees PostgreSQL from the work that follows a large import, so that it does not disturb the measurement. */
export async function settle(url: string): Promise<void> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  await db.query('vacuum (analyze)');
  await db.query('checkpoint');
  await db.end();
}

const frame = (login: string) => `
  insert into projects (id, name, slug) select 'proj_' || n, 'Project ' || n, 'project-' || n from generate_series(1, ${projects}) n;
  insert into members (project_id, user_id, role)
    select 'proj_' || n, (select id from users where login = '${login}'), 'owner' from generate_series(1, 10) n;
  insert into agents (id, project_id, name, team, line_id)
    select 'agent_' || n || '_' || k, 'proj_' || n, 'Agent ' || k, 'core', 'agent_' || n || '_' || k
    from generate_series(1, ${projects}) n, generate_series(1, 5) k;
  update agents set is_newest = false where id = 'agent_1_5';
  insert into agents (id, project_id, name, team, line_id, version, previous_version_id, rollout, created_at)
    select '${secondVersion}', project_id, name, team, line_id, 2, id, 50, now() - interval '2 years' from agents where id = 'agent_1_5';
  insert into repositories (id, project_id, name, url, is_primary, is_docs_repo)
    select 'repo_' || n, 'proj_' || n, 'r', 'https://git.example.org/a/r' || n, true, true from generate_series(1, ${projects}) n;
  insert into sprints (id, project_id, name, status, start_date, end_date, created_at, started_at, ended_at)
    select 'sprint_' || n || '_' || k, 'proj_' || n, 'Sprint ' || k, case when k = ${sprints} then 'active' else 'completed' end,
      current_date - 14 * (${sprints} - k) - 10, current_date - 14 * (${sprints} - k) + 3,
      now() - (14 * (${sprints} - k) + 10) * interval '1 day', now() - (14 * (${sprints} - k) + 10) * interval '1 day',
      case when k < ${sprints} then now() - (14 * (${sprints} - k) - 3) * interval '1 day' end
    from generate_series(1, ${projects}) n, generate_series(1, ${sprints}) k;
  insert into digests (sprint_id, markdown, completed, carried_over, failed, cost_usd)
    select id, 'What was done.', '[]', '[]', '[]', 1 from sprints where status = 'completed';
  insert into wizard_sessions (id, project_id, goal, status, steps) values ('wizard_1', 'proj_1', 'A goal', 'collecting', '[]');
  insert into environment_trials (id, repository_id, status, finished_at) values ('trial_1', 'repo_1', 'ready', now());`;

const words = `array['login', 'report', 'cache', 'invoice', 'search', 'upload', 'export', 'timezone', 'webhook', 'avatar',
  'queue', 'locale', 'banner', 'ledger', 'parser', 'cursor', 'widget', 'router', 'pricing', 'digest']`;

/** In each project the newest 100 tasks are open, whatever its size. Older ones are done or in the backlog. */
const tasks = (size: number) => `
  insert into tasks (id, project_id, title, description, status, owner, repository_id, sprint_id, branch_name, created_at,
      status_since, done_at)
    select 'task_' || i, 'proj_' || p, 'Fix the ' || (${words})[1 + i * 7 % 20] || ' of the ' || (${words})[1 + i / 20 % 20] || ' ' || i,
      'It is described here: ' || (${words})[1 + i * 3 % 20] || ' of item ' || i || repeat(' What is to be done.', 10)
        || case when i % 4000 = 0 then ' Payments are retried.' else '' end, s.status,
      'agent_' || p || '_' || 1 + nth % 5 || case when p = 1 and nth % 5 = 4 then 'b' else '' end, 'repo_' || p,
      case when nth < ${sprints * tasksOfSprint} then 'sprint_' || p || '_' || ${sprints} - nth / ${tasksOfSprint} end,
      'agent/branch-' || i, c.at, c.at, case when s.status = 'done' then c.at + interval '2 hours' end
    from (select i, case when i % 2 = 0 then 1 else 2 + i / 2 % ${projects - 1} end as p,
        case when i % 2 = 0 then i / 2 else i / 2 / ${projects - 1} end as nth from generate_series(1, ${size}) i) x
    cross join lateral (select case when nth < 100 then (array['${taskStatuses.join("', '")}'])[1 + nth % ${taskStatuses.length}]
      when nth % 5 = 0 then 'backlog' else 'done' end as status) s
    cross join lateral (select now() - i * interval '365 days' / ${size} - interval '3 hours' as at) c;
  insert into task_dependencies (task_id, depends_on_id)
    select 'task_' || i, 'task_' || i + 2 from generate_series(2, ${size} - 2, 10) i;`;

const work = `
  insert into runs (id, task_id, project_id, agent_id, kind, status, failure, steps, input_tokens, output_tokens, cost_usd,
      created_at, started_at, finished_at)
    select 'run_' || substr(t.id, 6), t.id, t.project_id,
      case when t.owner = '${secondVersion}' and n % 2 = 0 then 'agent_1_5' else t.owner end, 'start', s.status,
      case when s.status = 'failed' then jsonb_build_object('category', (array['checks', 'model', 'timeout', 'auth'])[1 + n % 4],
        'message', 'It failed.', 'retryable', false) end,
      20, 100000, 5000, 0.5, t.created_at, t.created_at + interval '1 minute', t.created_at + interval '30 minutes'
    from tasks t cross join lateral (select substr(t.id, 6)::int / 2 as n) x
    cross join lateral (select (array['succeeded', 'succeeded', 'failed', 'succeeded', 'succeeded', 'succeeded', 'succeeded',
      'cancelled', 'succeeded'])[1 + n % 9] as status) s;
  insert into spend_days
    select r.project_id, (r.created_at at time zone 'UTC')::date, a.line_id, sum(r.cost_usd), sum(r.input_tokens),
      0, sum(r.output_tokens)
    from runs r join agents a on a.id = r.agent_id group by 1, 2, 3;
  insert into revisions (id, task_id, source, text, created_at)
    select 'revision_' || n, id, (array['review', 'person', 'checks', 'conflict'])[1 + n % 4], 'Name the variable better.',
      created_at + interval '1 hour'
    from tasks cross join lateral (select substr(id, 6)::int as n) x where n % 7 < 2;
  insert into handoffs (id, task_id, run_id, summary)
    select 'handoff_' || substr(id, 5), task_id, id, 'What was done.' from runs where status = 'succeeded';
  insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, additions, created_at)
    select t.id, t.repository_id, substr(t.id, 6)::int, 'https://git.example.org/a/r/pull/1',
      case when t.status = 'done' then 'merged' else 'open' end, t.branch_name, 'sha', 100, t.created_at
    from tasks t where t.status in ('done', 'in_review');
  insert into diffs (task_id, branch_name, base_branch, head_sha, files)
    select id, branch_name, 'main', 'sha', case when right(id, 1) < '5' then '[{"path": "src/main.ts", "status": "modified", "additions": 9, "deletions": 1, "hunks": []},
      {"path": "README.md", "status": "modified", "additions": 9, "deletions": 1, "hunks": []}]'::jsonb else '[{"path": "lib/a.py", "status": "added", "additions": 9, "deletions": 0, "hunks": []}]' end
    from tasks;
  insert into proofs (run_id, task_id, status) select id, task_id, 'no_tests' from runs;
  insert into sprint_history (sprint_id, task_id, status, at)
    select sprint_id, id, h.status, h.at from tasks t
    cross join lateral (values ('ready', t.created_at), (t.status, t.created_at + interval '2 hours')) h (status, at)
    where sprint_id is not null;
  insert into run_events (run_id, type, text)
    select id, 'note', 'It works on it.' from runs, generate_series(1, 2);`;

const logs = (login: string) => `
  insert into audit_records (id, project_id, actor_login, via, action, object_type, object_id, at)
    select 'audit_' || id, project_id, '${login}', 'token', 'task.start', 'task', id, created_at from tasks;
  insert into reconciliations (id, trigger, started_at, finished_at)
    select 'recon_' || n, 'scheduled', now() - n * interval '1 hour', now() - n * interval '1 hour' from generate_series(1, 1000) n;
  insert into reconciled_projects (reconciliation_id, project_id, checked)
    select 'recon_' || n, 'proj_' || p, 10 from generate_series(1, 1000) n, generate_series(1, ${projects}) p;`;
