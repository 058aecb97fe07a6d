import type { World } from '../support/world.ts';

/** Adds a sprint in which people finished a task every two days, so that other sprints have a forecast. */
export async function addFinishedSprint({ project, sql }: World): Promise<void> {
  await sql(
    `insert into sprints (id, project_id, name, status, start_date, end_date, started_at, ended_at)
     values ('sprint_before', $1, 'Before', 'completed', current_date - 20, current_date, now() - interval '20 days', now())`,
    [project.id],
  );
  await sql(
    `insert into sprint_history (sprint_id, task_id, status, at)
     select 'sprint_before', 'task_' || n, s.status, now() - interval '20 days' + s.done * n * interval '2 days'
     from generate_series(1, 8) n, (values ('ready', 0), ('done', 1)) s (status, done)`,
    [],
  );
}
