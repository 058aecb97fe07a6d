import pg from 'pg';
import { median, percentile, say } from './figures.ts';

/** Reads the burndown of a sprint with 10,000 rows of history, over HTTP. */
export async function burndownSpeed(databaseUrl: string, projectId: string, api: { url: string; token: string }) {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await db.query(
    `insert into sprints (id, project_id, name, status, start_date, end_date, started_at)
     values ('sprint_bench', $1, 'Bench', 'planning', current_date - 20, current_date + 10, now() - interval '20 days')`,
    [projectId],
  );
  await db.query(
    `insert into sprint_history (sprint_id, task_id, status, at)
     select 'sprint_bench', 'task_' || n % 500, (array['ready', 'in_progress', 'in_review', 'done', null])[1 + n * 7 % 5],
       now() - interval '20 days' + n * interval '170 seconds' from generate_series(1, 10000) n`,
  );
  await db.end();
  const times = [];
  for (let i = 0; i < 50; i++) {
    const began = performance.now();
    const headers = { Authorization: `Bearer ${api.token}` };
    const response = await fetch(`${api.url}/sprints/sprint_bench/burndown`, { headers });
    const points = (await response.json()) as unknown[];
    if (points.length !== 21) throw new Error(`the burndown has ${points.length} points`);
    times.push(performance.now() - began);
  }
  say(
    `burndown         median ${median(times).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms of 10,000 events (under 50 ms wanted)`,
  );
}
