import type { EntityManager } from 'typeorm';
import type { FinishedWork } from '../domain/forecast/estimates.ts';
import { burndown, type CountedDay, estimatedCompletion, type Throughput } from '../domain/sprint.ts';
import { informative, latest, type SprintView } from './store.ts';

/** Computes the figures of a sprint at its end, or now while it is open, from its history alone. */
export async function metricsOf(em: EntityManager, sprint: SprintView, now = new Date()) {
  const until = sprint.endedAt ?? now;
  const [row]: [{ total: number; completed: number; inProgress: number; lastCompletion: Date | null }] = await em.query(
    `select count(*) filter (where l.status is not null)::int as total,
       count(*) filter (where l.status = 'done')::int as completed,
       count(*) filter (where l.status in ('in_progress', 'in_review', 'waiting_on_subtasks'))::int as "inProgress",
       max(l.at) filter (where l.status = 'done') as "lastCompletion"
     from sprints s, lateral (${latest}) l where s.id = $1`,
    [sprint.id],
  );
  const { total, completed, inProgress, lastCompletion } = row;
  const throughput = await throughputOf(em, sprint, until);
  const isAhead = sprint.startedAt === null && sprint.startDate > until;
  const begins = isAhead ? sprint.startDate : until;
  const progress = { total, completed, lastCompletion, endDate: sprint.endDay, begins, throughput };
  return {
    totalTasks: total,
    completedTasks: completed,
    inProgressTasks: inProgress,
    remainingTasks: total - completed,
    completionPercentage: total === 0 ? 0 : Math.round((1000 * completed) / total) / 10,
    estimatedCompletion: estimatedCompletion(progress, until),
  };
}

/**
 * Counts the tasks that were completed in a sprint since its start, and in each of the last completed sprints before it.
 * The time of a sprint whose tasks were all done ends with the last of them, because the rest says nothing about its
 * pace.
 */
async function throughputOf(em: EntityManager, { id, projectId }: SprintView, until: Date): Promise<Throughput[]> {
  return em.query(
    `select count(*) filter (where l.status = 'done' and l.at > s.started_at)::int as completed,
       extract(epoch from case when s.id <> $1 and bool_and(l.status is null or l.status = 'done')
         then coalesce(max(l.at), s.started_at) else coalesce(s.ended_at, $3) end - s.started_at)::float8 * 1000 as "elapsedMs"
     from (${informative}) s left join lateral (${latest}) l on true
     group by s.id, s.started_at, s.ended_at`,
    [id, projectId, until],
  );
}

/**
 * Counts for each day the tasks in the sprint that were not done when the day ended. Each row of the history is
 * converted to the change that it made to the count, so that 10,000 rows are summed in one pass.
 */
export async function burndownOf(em: EntityManager, sprint: SprintView, now = new Date()): Promise<CountedDay[]> {
  const rows: { date: string; actual: number; scope: number }[] = await em.query(
    `with changes as (
       select h.at,
         (h.status is not null)::int - (lag(h.status) over w is not null)::int as scope,
         (h.status is not null and h.status <> 'done')::int
           - (lag(h.status) over w is not null and lag(h.status) over w <> 'done')::int as open
       from sprint_history h where h.sprint_id = $1
       window w as (partition by h.task_id order by h.at, h.id)),
     days as (
       select greatest((at at time zone 'UTC')::date, $2::date) as day, sum(open) as open from changes group by 1)
     select to_char(d, 'YYYY-MM-DD') as date, coalesce(sum(days.open) over (order by d), 0)::int as actual,
       (select coalesce(sum(c.scope), 0)::int from changes c
        where c.at < $2::date::timestamp at time zone 'UTC' + interval '1 day' or c.at <= coalesce($5::timestamptz, $4)) as scope
     from generate_series($2::date, least($3::date, ($4::timestamptz at time zone 'UTC')::date), interval '1 day') d
     left join days on days.day = d::date
     order by d`,
    [sprint.id, sprint.startDay, sprint.endDay, sprint.endedAt ?? now, sprint.startedAt],
  );
  return burndown(rows, { count: rows[0]?.scope ?? 0, startDate: sprint.startDay, endDate: sprint.endDay });
}

/** Counts the tasks completed in each of the last completed sprints, oldest first. */
export async function velocityOf(em: EntityManager, projectId: string, count: number) {
  const rows: { sprintId: string; name: string; velocity: number }[] = await em.query(
    `select s.id as "sprintId", s.name, (select count(*)::int from (${latest}) l where l.status = 'done') as velocity
     from sprints s where s.project_id = $1 and s.status = 'completed' order by s.ended_at desc, s.id desc limit $2`,
    [projectId, count],
  );
  return rows.reverse();
}

/** Estimates hardly change with more tasks, and older ones say less about the next. */
const most = 500;

/**
 * Returns the latest tasks of a project that agents have finished, newest first, as evidence for estimates. Tasks that
 * people finished without a run are left out, because nobody knows how long they took.
 */
export async function listFinishedWork(em: EntityManager, projectId: string): Promise<FinishedWork[]> {
  return em.query(
    `select t.id, t.title, t.repository_id as "repositoryId", r."workMs",
       greatest(extract(epoch from t.done_at - r.began) * 1000, r."workMs")::float8 as "totalMs"
     from (select * from tasks where project_id = $1 and status = 'done' and not hidden order by created_at desc, id limit $2) t
     cross join lateral (
       select min(started_at) as began,
         sum(greatest(extract(epoch from finished_at - started_at) - waited_seconds, 0) * 1000)::float8 as "workMs"
       from runs where task_id = t.id and finished_at is not null) r
     where t.done_at >= r.began and r."workMs" is not null
     order by t.created_at desc, t.id`,
    [projectId, most],
  );
}
