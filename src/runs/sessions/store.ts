import type { EntityManager } from 'typeorm';
import { behindOthers, liveRun, urgencyOf } from '../../db/tables/run.ts';
import type { RunKind, RunStatus } from '../../domain/run.ts';
import type { WaitReason } from '../../domain/waiting.ts';
import { activityOf, type LogEntry, maxLine, newestLines } from './activity.ts';

interface SessionRow {
  id: string;
  taskId: string;
  taskTitle: string;
  projectId: string;
  projectName: string;
  agentId: string | null;
  agentName: string | null;
  startedBy: string | null;
  isAutomatic: boolean;
  kind: RunKind;
  status: RunStatus;
  waitReason: WaitReason | null;
  failure: string | null;
  steps: number;
  costUsd: number | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  waitingSince: Date | null;
  waitedSeconds: number;
  queuePosition: number | null;
}

/** A run that is further back in the queue of its project has no position, because counting would take longer. */
const maxPosition = 200;

/** SQL: the place of a queued run `r` among those of its project, by the order in which workers claim them. */
const position = `case when r.status = 'queued' then (
    select nullif(count(*)::int, ${maxPosition + 1}) from (
      select from runs q where q.project_id = r.project_id and q.status = 'queued'
        and (q.kind in ${behindOthers}, ${urgencyOf('q')}, q.created_at, q.id) <= (r.kind in ${behindOthers}, ${urgencyOf('r')}, r.created_at, r.id)
      limit ${maxPosition + 1}) ahead) end`;

/** SQL: what is shown of the runs `r`. */
const columns = `r.id, r.task_id as "taskId", t.title as "taskTitle", r.project_id as "projectId", p.name as "projectName",
    r.agent_id as "agentId", g.name as "agentName", u.login as "startedBy", r.is_automatic as "isAutomatic", r.kind, r.status,
    case when r.status = 'waiting' then r.wait_reason end as "waitReason", r.failure->>'message' as failure, r.steps,
    r.cost_usd::float8 as "costUsd", r.created_at as "createdAt", r.started_at as "startedAt", r.finished_at as "finishedAt",
    r.waiting_since as "waitingSince", r.waited_seconds as "waitedSeconds", ${position} as "queuePosition"`;

const joins = `join tasks t on t.id = r.task_id and not t.hidden join projects p on p.id = r.project_id
  left join agents g on g.id = r.agent_id left join users u on u.id = r.started_by`;

interface Page {
  limit: number;
  offset: number;
}

/**
 * Returns the unfinished runs in the projects of a user, or in one of them: those that run, then those that wait, then those
 * that are queued, each oldest first.
 */
export async function listLiveSessions(
  em: EntityManager,
  userId: string,
  { projectId = null, limit, offset }: Page & { projectId?: string | null | undefined },
) {
  const rows: SessionRow[] = await em.query(
    `select ${columns} from members m join runs r on r.project_id = m.project_id and r.status in ${liveRun} ${joins}
     where m.user_id = $1 and ($2::text is null or m.project_id = $2)
     order by array_position('{running,waiting,queued}'::text[], r.status), r.created_at, r.id limit $3 offset $4`,
    [userId, projectId, limit, offset],
  );
  return withActivity(em, rows);
}

/** Returns the runs of a project, newest first. Those of hidden tasks of benchmarks and proofs are in no index that it reads. */
export async function listSessions(em: EntityManager, projectId: string, { limit, offset }: Page) {
  const rows: SessionRow[] = await em.query(
    `select ${columns} from runs r ${joins} where r.project_id = $1 and r.kind not in ${behindOthers}
     order by r.created_at desc, r.id desc limit $2 offset $3`,
    [projectId, limit, offset],
  );
  return withActivity(em, rows);
}

/** Entries of a log that are read: enough for the calls of a turn and the lines that are shown. */
const maxEntries = 30;
const shownLines = 3;

/** Adds what running runs do now, and the last lines of the logs of unfinished ones. */
async function withActivity(em: EntityManager, rows: SessionRow[]) {
  const live = rows.filter(({ status }) => status === 'running' || status === 'waiting').map(({ id }) => id);
  const entries: (LogEntry & { runId: string })[] =
    live.length === 0
      ? []
      : await em.query(
          `select e.run_id as "runId", e.type, e.at, left(e.text, ${maxLine}) as text,
             case when e.type = 'model' then e.data->'calls' end as calls,
             case when e.type = 'tool' then (e.data->>'call')::int end as call
           from unnest($1::text[]) wanted (id) cross join lateral (
             select * from run_events where run_id = wanted.id order by run_events.id desc limit ${maxEntries}) e
           order by e.run_id, e.id desc`,
          [live],
        );
  const byRun = Map.groupBy(entries, ({ runId }) => runId);
  return rows.map(({ startedBy, ...row }) => {
    const log = byRun.get(row.id) ?? [];
    return {
      ...row,
      startedBy: row.isAutomatic ? null : startedBy,
      activity: row.status === 'running' ? activityOf(row.startedAt ?? row.createdAt, log) : null,
      lines: newestLines(log, shownLines),
    };
  });
}
