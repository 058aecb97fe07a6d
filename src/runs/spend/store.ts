import type { EntityManager } from 'typeorm';

/** What the runs of one agent in a project have used on a day (UTC). */
export interface SpendOfDay {
  /** YYYY-MM-DD. */
  day: string;
  /** Identifies the agent across its versions; empty for runs without an agent. */
  lineId: string;
  /** The newest version of the agent; null for an agent that was deleted. */
  agentId: string | null;
  name: string | null;
  costUsd: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
}

/** Returns what a project has used in the given number of days, of which today (UTC) is the last, oldest first. */
export async function listSpend(
  em: EntityManager,
  projectId: string,
  days: number,
): Promise<{ today: string; rows: SpendOfDay[] }> {
  const [{ today }] = await em.query(`select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today`);
  const rows: SpendOfDay[] = await em.query(
    `select to_char(s.day, 'YYYY-MM-DD') as day, s.line_id as "lineId", a.id as "agentId", a.name,
       s.cost_usd::float8 as "costUsd", s.input_tokens::float8 as "inputTokens",
       s.cached_input_tokens::float8 as "cachedInputTokens", s.output_tokens::float8 as "outputTokens"
     from spend_days s left join lateral (
       select id, name from agents where line_id = s.line_id order by version desc limit 1) a on true
     where s.project_id = $1 and s.day > $2::date - $3::int and s.day <= $2::date order by s.day, s.line_id`,
    [projectId, today, days],
  );
  return { today, rows };
}

/** Returns what the runs of a project have cost today (UTC) so far, in US dollars. */
export async function costOfDay(em: EntityManager, projectId: string): Promise<number> {
  const [row] = await em.query(
    `select coalesce(sum(cost_usd), 0)::float8 as cost from spend_days
     where project_id = $1 and day = (now() at time zone 'UTC')::date`,
    [projectId],
  );
  return row.cost;
}
