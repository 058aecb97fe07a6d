import type { EntityManager } from 'typeorm';
import { languagesByExtension } from '../../src/agents/figures.ts';

/** Agents whose figures are counted together, as the user sees them. */
interface Counted {
  user: string;
  agents: string[];
}

/** Rounds an average, because sums of another order differ in the last digits. */
export const inMicroseconds = (seconds: number | null) => seconds && Math.round(1e6 * seconds);

/** Counts all figures from the runs themselves, without the tables of sums. */
export async function countFigures(em: EntityManager, of: Counted) {
  return { ...(await countTasks(em, of)), ...(await countFailures(em, of)), skills: await countSkills(em, of) };
}

const own = `from runs r join members m on m.project_id = r.project_id and m.user_id = $1 where r.agent_id = any($2)`;

async function countTasks(em: EntityManager, { user, agents }: Counted) {
  const [row] = await em.query(
    `with worked as (select r.task_id, min(r.started_at) as began ${own} group by r.task_id),
     latest as (
       select distinct on (r.task_id) r.task_id, r.status from runs r
       where r.task_id in (select task_id from worked) order by r.task_id, r.created_at desc, r.id desc),
     pulls as (
       select p.task_id, count(*) as count, sum(p.additions) filter (where p.status = 'merged') as lines
       from pull_requests p where p.task_id in (select task_id from worked) group by p.task_id)
     select count(*)::int as "totalTasks", count(*) filter (where t.status = 'done')::int as "completedTasks",
       count(*) filter (where t.status <> 'done' and latest.status = 'failed')::int as "failedTasks",
       (avg((1000 * extract(epoch from t.done_at - w.began))::bigint) filter (where t.status = 'done') / 1000)::float8 as "averageSeconds",
       coalesce(sum(pulls.lines), 0)::int as "linesOfCodeWritten", coalesce(sum(pulls.count), 0)::int as "prsCreated"
     from worked w join tasks t on t.id = w.task_id join latest on latest.task_id = w.task_id
     left join pulls on pulls.task_id = w.task_id`,
    [user, agents],
  );
  const ended = await em.query(
    `select to_char(date_trunc('week', r.finished_at at time zone 'UTC'), 'YYYY-MM-DD') as week,
       count(*) filter (where r.status = 'succeeded')::int as succeeded,
       count(*) filter (where r.status = 'failed')::int as failed
     ${own} and r.status in ('succeeded', 'failed') group by 1 order by 1`,
    [user, agents],
  );
  return { ...row, averageSeconds: inMicroseconds(row.averageSeconds), weeks: ended };
}

async function countFailures(em: EntityManager, { user, agents }: Counted) {
  const [row] = await em.query(
    `select (select count(*)::int ${own} and r.status = 'failed'
         and r.failure->>'category' not in ('auth', 'rate_limit', 'repository')
         and r.finished_at > coalesce((select max(r.finished_at) ${own} and r.status = 'succeeded'), '-infinity')
       ) as "consecutiveFailures",
       (select max(greatest(r.started_at, r.heartbeat_at, r.finished_at)) ${own}) as "lastHeartbeat"`,
    [user, agents],
  );
  return row as { consecutiveFailures: number; lastHeartbeat: Date | null };
}

async function countSkills(em: EntityManager, { user, agents }: Counted): Promise<Record<string, number>> {
  const files: { task: string; path: string }[] = await em.query(
    `select d.task_id as task, file->>'path' as path from diffs d cross join jsonb_array_elements(d.files) file
     where d.task_id in (select r.task_id ${own})
       and exists (select 1 from pull_requests p where p.task_id = d.task_id and p.status = 'merged')`,
    [user, agents],
  );
  const languages = await languagesByExtension();
  const pairs = new Set<string>();
  for (const { task, path } of files) {
    const name = path.split('/').at(-1) ?? '';
    const dot = name.lastIndexOf('.');
    const language = dot > 0 ? languages.get(name.slice(dot).toLowerCase()) : undefined;
    if (language !== undefined) pairs.add(`${language}/${task}`);
  }
  const counts: Record<string, number> = {};
  for (const pair of pairs) {
    const language = pair.slice(0, pair.lastIndexOf('/'));
    counts[language] = (counts[language] ?? 0) + 1;
  }
  return counts;
}
