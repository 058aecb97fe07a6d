import pg from 'pg';

export interface Crowd {
  /** The id of the project with 50,000 tasks. */
  large: string;
  /** The id of the project with 100 tasks. */
  small: string;
  /** A task, a run and an agent of the large project. */
  task: string;
  run: string;
  agent: string;
}

/**
 * Creates 100,000 tasks in 50 projects: one has 50,000, one has 100, the others share the rest. Every twentieth task has
 * a run. The first user is a member of ten projects.
 */
export async function seedCrowd(url: string): Promise<Crowd> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  try {
    await db.query(`
      insert into projects (id, name, slug, description)
        select 'proj_crowd' || n, 'Crowd ' || n, 'crowd-' || n, '' from generate_series(1, 50) n;
      insert into members (project_id, user_id, role)
        select 'proj_crowd' || n, (select id from users order by created_at limit 1), 'owner' from generate_series(1, 10) n;
      insert into agents (id, project_id, name, team)
        select 'agent_crowd' || n || '_' || k, 'proj_crowd' || n, 'Agent ' || k, 'core'
        from generate_series(1, 50) n, generate_series(1, 5) k;
      insert into repositories (id, project_id, name, url, is_primary)
        select 'repo_crowd' || n, 'proj_crowd' || n, 'r', 'https://git.example.org/a/r' || n, true from generate_series(1, 50) n;
      insert into tasks (id, project_id, title, description, status, owner, repository_id, created_at)
        select 'task_crowd' || i, 'proj_crowd' || p, 'Task number ' || i, repeat('What is to be done. ', 20),
          (array['backlog', 'ready', 'in_review', 'done'])[1 + i % 4], 'agent_crowd' || p || '_' || 1 + i / 20 % 5, 'repo_crowd' || p,
          now() - make_interval(secs => i)
        from (select i, case when i <= 50000 then 1 when i <= 50100 then 2 else 3 + i % 48 end as p
          from generate_series(1, 100000) i) x;
      insert into runs (id, task_id, project_id, agent_id, kind, status, started_at, finished_at)
        select 'run_crowd' || i, 'task_crowd' || i, t.project_id, t.owner, 'start', (array['succeeded', 'failed'])[1 + i / 20 % 2],
          now() - interval '2 hours', now() - interval '1 hour'
        from generate_series(20, 100000, 20) i join tasks t on t.id = 'task_crowd' || i;
      analyze`);
    return {
      large: 'proj_crowd1',
      small: 'proj_crowd2',
      task: 'task_crowd20',
      run: 'run_crowd20',
      agent: 'agent_crowd1_1',
    };
  } finally {
    await db.end();
  }
}
