import pg from 'pg';
import type { SiegeIssue } from '../siege/traffic.ts';

/** What became of the runs that were asked for. */
export interface Outcome {
  /** Issues whose command led to no run that ended. */
  lost: string[];
  /** Issues with several tasks, runs or pull requests. */
  doubled: string[];
  /** Runs that did not succeed. The model and GitHub give no reason for that. */
  failed: string[];
}

interface Row {
  name: string;
  tasks: number;
  runs: number;
  ended: number;
  succeeded: number;
  pulls: number;
  failure: string | null;
}

/** A task may have other runs only if a person asks, and nobody does. */
export async function outcomeOf(databaseUrl: pg.ClientConfig, issues: SiegeIssue[]): Promise<Outcome> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const rows = await rowsOf(client).finally(() => client.end());
  const found = new Map(rows.map((row) => [row.name, row]));
  const outcome: Outcome = { lost: [], doubled: [], failed: [] };
  for (const { repository, number, asks } of issues) {
    if (asks !== 'start') continue;
    const name = `${repository}#${number}`;
    const row = found.get(name);
    if (row === undefined || row.ended === 0) outcome.lost.push(`${name} has ${row?.runs ?? 0} runs, none ended`);
    else if (row.tasks > 1 || row.runs > 1 || row.pulls > 1)
      outcome.doubled.push(`${name} has ${row.tasks} tasks, ${row.runs} runs and ${row.pulls} pull requests`);
    if (row?.failure != null) outcome.failed.push(`${name} ${row.failure}`);
    else if (row !== undefined && row.succeeded > 0 && row.pulls === 0)
      outcome.lost.push(`${name} has no pull request`);
  }
  return outcome;
}

async function rowsOf(client: pg.Client): Promise<Row[]> {
  const { rows } = await client.query<Row>(
    `select rep.name || '#' || t.issue_number as name, count(distinct t.id)::int as tasks, count(distinct r.id)::int as runs,
       count(distinct r.id) filter (where r.finished_at is not null)::int as ended,
       count(distinct r.id) filter (where r.status = 'succeeded')::int as succeeded,
       count(distinct p.url)::int as pulls, min(coalesce(r.failure ->> 'category', r.status) || ': ' || coalesce(r.failure ->> 'message', ''))
         filter (where r.status <> 'succeeded') as failure
     from tasks t join repositories rep on rep.id = t.issue_repository_id
     left join runs r on r.task_id = t.id left join pull_requests p on p.task_id = t.id group by 1`,
  );
  return rows;
}
