import pg from 'pg';
import { taskStatuses } from '../../src/domain/task.ts';

const sprints = 6;

/** What the measurements need to know of the project that was filled. */
export interface Filled {
  projectId: string;
  /** A task in review, with a run, a pull request, a handoff and dependencies. */
  taskId: string;
  /** Runs that are under way, whose tasks the live events are about. */
  runIds: string[];
}

/** Fills a project with tasks in every column, with finished, queued and running runs, and with pull requests. */
export async function fillProject(url: string, projectId: string, size: number): Promise<Filled> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  try {
    await db.query('set session_replication_role = replica');
    await db.query(
      `insert into sprints (id, project_id, name, status, start_date, end_date, created_at)
         select 'sprint_' || k, $1, 'Sprint ' || k, case when k = $2 then 'active' else 'completed' end,
           current_date + 14 * (k - $2), current_date + 14 * (k - $2) + 13, now() + 14 * (k - $2) * interval '1 day'
         from generate_series(1, $2::int) k`,
      [projectId, sprints],
    );
    await db.query(tasks, [projectId, size, taskStatuses, sprints]);
    await db.query(runs, [projectId]);
    await db.query(pulls, [projectId]);
    await db.query(
      `insert into task_dependencies (task_id, depends_on_id) select 'task_' || to_char(i, 'FM00000'), 'task_' || to_char(i + 1, 'FM00000')
       from generate_series(1, $1::int - 1, 7) i`,
      [size],
    );
    await db.query('set session_replication_role = origin');
    await db.query('vacuum (analyze)');
    const live = await db.query<{ id: string }>(`select id from runs where status = 'running' order by id`);
    const review = await db.query<{ id: string }>(
      `select id from tasks where status = 'in_review' order by id limit 1`,
    );
    return { projectId, taskId: review.rows[0]?.id ?? '', runIds: live.rows.map(({ id }) => id) };
  } finally {
    await db.end();
  }
}

/** Ids of random characters, as in a real project: they decide how well a reply can be compressed. */
const randomId = `substr(md5(random()::text), 1, 20)`;

const tasks = `
  insert into tasks (id, project_id, title, description, status, owner, repository_id, sprint_id, created_at, updated_at, status_since)
    select 'task_' || to_char(i, 'FM00000'), $1,
      'Fix the ' || substr(md5(i::text), 1, 8) || ' of the ' || substr(md5((i * 7)::text), 1, 12), repeat('What is to be done. ', 20),
      ($3::text[])[1 + i % array_length($3::text[], 1)], (array_agg(a.id))[1 + i % count(a.id)::int],
      (select id from repositories where project_id = $1 limit 1),
      case when i % 3 = 0 then 'sprint_' || 1 + i % $4::int end, at, at, at
    from generate_series(1, $2::int) i cross join lateral (select now() - i * interval '10 minutes' as at) x
    cross join agents a where a.project_id = $1 group by i, at`;

/** One run of each agent is under way, and the others in progress are queued. Leases last until the bench is over. */
const runs = `
  insert into runs (id, task_id, project_id, agent_id, kind, status, steps, cost_usd, lease_until, created_at, started_at, finished_at)
    select 'run_' || ${randomId}, t.id, $1, t.owner, 'start', t.run, 20, random() * 3,
      case when t.run = 'running' then now() + interval '1 day' end, t.created_at,
      case when t.run <> 'queued' then t.created_at end, case when t.run = 'succeeded' then t.created_at + interval '9 minutes' end
    from (select *, case when status <> 'in_progress' then 'succeeded'
        when row_number() over (partition by status, owner order by id) = 1 then 'running' else 'queued' end as run
      from tasks where project_id = $1 and status in ('in_progress', 'in_review', 'done')) t`;

const pulls = `
  insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, created_at)
    select t.id, t.repository_id, substr(t.id, 6)::int, 'https://git.example.org/mona/sample/pull/' || substr(t.id, 6)::int, 'open',
      'agent/' || t.id, 'sha', t.created_at
    from tasks t where t.project_id = $1 and t.status in ('in_review', 'done')`;
