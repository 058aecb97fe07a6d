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
  webhookId: 'webhook_1',
  trialId: 'trial_1_200',
};

/** An agent of which both versions do half of the tasks. */
export const secondVersion = 'agent_1_5b';

const projects = 50;
/** Sprints of each project, of which the last one is active. */
const sprints = 21;
const tasksOfSprint = 40;
/** The newest tasks of the large project have live runs: this many run, as many wait, and as many are queued. */
const live = 4;
/** Trials of the agents of the large project, each of this many items with two arms. */
const [trials, itemsOfTrial] = [200, 20];

/**
 * Fills a migrated, empty database with tasks, each with a run, a diff and often a pull request: half of them in one
 * project, the others in 49. Finished work grows with the size, and so does the log of one run that is under way. What is
 * open, what belongs to a sprint, and the numbers of projects, agents and trials are always the same. The user is a member
 * of ten projects.
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
    await db.query(proofs);
    await db.query(lab);
    await db.query(logs(login, size));
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
    select t.id, t.repository_id, substr(t.id, 6)::int, 'https://git.example.org/a/r/pull/' || substr(t.id, 6),
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
  update runs r set status = l.status, finished_at = null, failure = null, wait_id = 'wait_' || l.n,
      wait_reason = case when l.status = 'waiting' then 'question' end, wait_text = case when l.status = 'waiting' then 'Which one?' end,
      wait_options = case when l.status = 'waiting' then '[]'::jsonb end,
      waiting_since = case when l.status = 'waiting' then now() end
    from (select n, (array['running', 'waiting', 'queued'])[1 + (n - 1) / ${live}] as status from generate_series(1, ${3 * live}) n) l
    where r.id = 'run_' || 2 * l.n;
  insert into quotes (run_id, project_id, cost_p50, cost_p80, minutes_p50, minutes_p80, from_tasks, created_at)
    select id, project_id, 1, 2, 10, 20, 100, created_at from runs;
  insert into receipts (run_id, repository_id, number, pull_url, commit_sha, envelope, created_at)
    select 'run_' || p.number, p.repository_id, p.number, p.url, p.head_sha, '{"payloadType": "t", "payload": "e30=", "signatures": []}', p.created_at from pull_requests p;
  insert into chat_messages (id, task_id, role, content, at)
    select 'message_' || id, id, 'user', 'What is missing?', created_at from tasks where right(id, 1) = '2';
  insert into review_comments (id, task_id, repository_id, number, path, line, side, text, author, at, round)
    select 'comment_' || p.task_id, p.task_id, p.repository_id, p.number, 'a.js', 1, 'new', 'Why?', 'mona', p.created_at, 1
    from pull_requests p;`;

/** The proofs of pull requests of people, which all repositories have. */
const proofs = `
  insert into tasks (id, project_id, title, status, hidden, repository_id, created_at, status_since)
    select 'task_p' || n, t.project_id, 'Proof', 'done', true, t.repository_id, t.created_at, t.created_at
    from tasks t cross join lateral (select substr(t.id, 6)::int as n) x where n % 20 < 2;
  insert into runs (id, task_id, project_id, kind, status, created_at, started_at, finished_at)
    select 'run_' || substr(id, 6), id, project_id, 'prove', 'succeeded', created_at, created_at, created_at + interval '1 minute'
    from tasks where id like 'task_p%';
  insert into pull_asks (run_id, repository_id, number, head_sha, head_branch, base_branch, is_fork, by_writer, title, body, created_at)
    select 'run_' || substr(id, 6), repository_id, substr(id, 7)::int, 'sha', 'b', 'main', false, true, 'A change', '', created_at
    from tasks where id like 'task_p%';
  insert into pull_proofs (id, repository_id, number, head_sha, author, run_id, is_required, status, seconds, at, created_at)
    select 'proof_' || r.id, a.repository_id, a.number, a.head_sha, 'mona', r.id, false,
      (array['proved', 'unproved', 'no_tests'])[1 + a.number / 20 % 3], 60, r.finished_at, r.created_at
    from runs r join pull_asks a on a.run_id = r.id;
  insert into run_events (run_id, type, text, data, at)
    select id, 'check', 'npm test: passed', '{"seconds": 20}', created_at from runs where kind = 'prove';`;

/** A benchmark, and the trials of agents on it. */
const lab = `
  insert into tasks (id, project_id, title, status, hidden, repository_id, created_at, status_since)
    values ('task_h', 'proj_1', 'Harvest', 'done', true, 'repo_1', now(), now());
  insert into runs (id, task_id, project_id, kind, status, finished_at) values ('run_h', 'task_h', 'proj_1', 'harvest', 'succeeded', now());
  insert into benchmarks (repository_id, task_id, run_id, most) values ('repo_1', 'task_h', 'run_h', 50);
  insert into benchmark_items (id, repository_id, title, text, removed, base_sha, solution_sha, tests, single_tests, seconds, state,
      environment_key, place)
    select 'item_' || n, 'repo_1', 'Item ' || n, 'What is to be done.', '[]', 'sha', 'sha' || n, '[]', '[]', 20, 'usable', 'key', n
    from generate_series(1, 50) n;
  insert into agent_trials (id, project_id, repository_id, agent_id, status, seed, budget_usd, created_at, finished_at)
    select 'trial_1_' || n, 'proj_1', 'repo_1', 'agent_1_1', 'done', 'seed', 10, now() - (${trials} - n) * interval '1 day', now()
    from generate_series(1, ${trials}) n;
  insert into agent_trial_arms (trial_id, arm, agent_id, version, model, system_prompt, prompt_hash)
    select t.id, arm, 'agent_1_' || 1 + arm, 1, 'model', '', encode(sha256(''), 'hex') from agent_trials t, generate_series(0, 1) arm;
  insert into agent_trial_items (trial_id, place, item_id, title, text, base_sha, solution_sha, tests)
    select t.id, n, 'item_' || n, 'Item ' || n, 'What is to be done.', 'sha', 'sha' || n, '[]'
    from agent_trials t, generate_series(1, ${itemsOfTrial}) n;
  insert into agent_trial_runs (run_id, trial_id, place, arm, result)
    select 'run_t_' || i.trial_id || '_' || i.place || '_' || m.arm, i.trial_id, i.place, m.arm,
      case when (i.place + m.arm) % 3 = 0 then 'unsolved' else 'solved' end
    from agent_trial_items i join agent_trial_arms m on m.trial_id = i.trial_id;
  insert into tasks (id, project_id, title, status, hidden, repository_id, created_at, status_since)
    select 'task_t' || substr(run_id, 6), 'proj_1', 'Trial', 'done', true, 'repo_1', now(), now() from agent_trial_runs;
  insert into runs (id, task_id, project_id, agent_id, kind, status, cost_usd, created_at, started_at, finished_at)
    select x.run_id, 'task_t' || substr(x.run_id, 6), 'proj_1', m.agent_id, 'trial', 'succeeded', 0.1, t.created_at, t.created_at,
      t.created_at + interval '5 minutes'
    from agent_trial_runs x join agent_trials t on t.id = x.trial_id join agent_trial_arms m on m.trial_id = x.trial_id and m.arm = x.arm;`;

const logs = (login: string, size: number) => `
  insert into run_events (run_id, type, text, at)
    select id, 'note', 'It works on it.', created_at from runs, generate_series(1, 2) where kind = 'start';
  insert into run_events (run_id, type, text, at)
    select 'run_4', (array['model', 'tool'])[1 + n % 2], 'read_file a.js', now() from generate_series(1, ${Math.ceil(size / 5)}) n;
  insert into run_turns (run_id, turn, messages, input_tokens, output_tokens)
    select 'run_4', n, '[]', 1000, 100 from generate_series(1, 100) n;
  insert into webhooks (id, project_id, url, events, format, key_id, ciphertext)
    values ('webhook_1', 'proj_1', 'https://hooks.example.org', '["task.status"]', 'standard', 'key', '');
  insert into webhook_deliveries (id, webhook_id, event, lane, data, status, at, delivered_at)
    select 'delivery_' || id, 'webhook_1', 'task.status', id, '{}', 'delivered', created_at, created_at
    from tasks where project_id = 'proj_1' and not hidden order by created_at;
  insert into deliveries (guid, event, signature, payload, digest, received_at, handled_at)
    select 'guid_' || id, 'push', '', null, '', created_at, created_at from tasks where not hidden;
  insert into audit_records (id, project_id, actor_login, via, action, object_type, object_id, at)
    select 'audit_' || id, project_id, '${login}', 'token', 'task.start', 'task', id, created_at from tasks where not hidden;
  insert into reconciliations (id, trigger, started_at, finished_at)
    select 'recon_' || n, 'scheduled', now() - n * interval '1 hour', now() - n * interval '1 hour' from generate_series(1, 1000) n;
  insert into reconciled_projects (reconciliation_id, project_id, checked)
    select 'recon_' || n, 'proj_' || p, 10 from generate_series(1, 1000) n, generate_series(1, ${projects}) p;`;
