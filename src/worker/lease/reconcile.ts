import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import { lockUntilCommit } from '../../db/locks.ts';
import { liveRun } from '../../db/tables/run.ts';
import { failure } from '../../domain/run.ts';
import type { TaskStatus } from '../../domain/task.ts';
import { tryMoveTask } from '../../tasks/move.ts';
import { continueIn } from '../split.ts';

export interface Reconciliation {
  id: string;
  startedAt: Date;
  finishedAt: Date;
  trigger: 'manual' | 'scheduled' | 'start';
  /** Number of unfinished tasks that were checked. */
  checked: number;
  recovered: { taskId: string; action: string; reason: string }[];
}

/** Locks reconciliations, so that only one runs at a time. */
async function lockReconciliations(em: EntityManager): Promise<void> {
  await lockUntilCommit(em, 'reconcile', 'reconcile');
}

export interface StuckTask {
  id: string;
  status: TaskStatus;
  hasLapsedRun: boolean;
}

/** Finds the tasks in progress or waiting for subtasks, in the projects in which a user may work or in all, and which of them are stuck. */
export async function listStuckTasks(
  em: EntityManager,
  userId: string | null,
): Promise<{ checked: string[]; stuck: StuckTask[] }> {
  const rows: (StuckTask & { isStuck: boolean })[] = await em.query(
    `select t.id, t.status, coalesce(live.lapsed, false) as "hasLapsedRun",
       case t.status
         when 'in_progress' then live.id is null or coalesce(live.lapsed, false)
         else not exists (select 1 from tasks s where s.parent_id = t.id and s.status <> 'done') end as "isStuck"
     from tasks t
     left join lateral (select r.id, r.status = 'running' and greatest(r.lease_until, r.not_before) < now() as lapsed
       from runs r
       where r.task_id = t.id and r.status in ${liveRun}) live on true
     where t.status in ('in_progress', 'waiting_on_subtasks')
       and ($1::text is null or exists (select 1 from members m where m.project_id = t.project_id and m.user_id = $1 and m.role <> 'viewer'))
     order by t.created_at, t.id`,
    [userId],
  );
  return { checked: rows.map((row) => row.id), stuck: rows.filter((row) => row.isStuck) };
}

async function insertReconciliation(
  em: EntityManager,
  done: Reconciliation,
  userId: string | null,
  checkedIds: string[],
): Promise<void> {
  await em.query(
    `insert into reconciliations (id, trigger, user_id, started_at, finished_at) values ($1, $2, $3, $4, $5)`,
    [done.id, done.trigger, userId, done.startedAt, done.finishedAt],
  );
  await em.query(
    `insert into reconciled_projects (reconciliation_id, project_id, checked)
     select $1, t.project_id, count(*) from tasks t where t.id = any($2) group by t.project_id`,
    [done.id, checkedIds],
  );
  for (const { taskId, action, reason } of done.recovered)
    await em.query(`insert into recovered_tasks (reconciliation_id, task_id, action, reason) values ($1, $2, $3, $4)`, [
      done.id,
      taskId,
      action,
      reason,
    ]);
}

/** Deletes up to `limit` reconciliations that are older than `days`, with what they did. Returns the number deleted. */
export async function deleteOldReconciliations(em: EntityManager, days: number, limit: number): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `delete from reconciliations where id in (
       select id from reconciliations where started_at < now() - make_interval(days => $1) order by started_at limit $2)`,
    [days, limit],
  );
  return count;
}

/**
 * Returns the user's own reconciliations and the scheduled ones, newest first, with what they did in the user's
 * projects.
 */
export async function listReconciliations(
  em: EntityManager,
  userId: string,
  page: { limit: number; offset: number },
): Promise<Reconciliation[]> {
  return em.query(
    `select c.id, c.trigger, c.started_at as "startedAt", c.finished_at as "finishedAt",
       coalesce((select sum(k.checked)::int from reconciled_projects k
         join members m on m.project_id = k.project_id and m.user_id = $1 where k.reconciliation_id = c.id), 0) as checked,
       coalesce((select json_agg(json_build_object('taskId', d.task_id, 'action', d.action, 'reason', d.reason) order by d.task_id)
         from recovered_tasks d join tasks t on t.id = d.task_id
         join members m on m.project_id = t.project_id and m.user_id = $1
         where d.reconciliation_id = c.id), '[]') as recovered
     from reconciliations c where c.user_id = $1 or c.user_id is null
     order by c.started_at desc, c.id desc limit $2 offset $3`,
    [userId, page.limit + 1, page.offset],
  );
}

/**
 * Recovers stuck tasks: runs whose worker was lost, tasks in progress without a run, and parents whose subtasks are
 * done. Covers the projects in which a user may work, or all if `userId` is null. A lock prevents two reconciliations at the same
 * time. `caughtUp` lists tasks that the caller has already recovered; they are recorded with the others.
 */
export async function reconcile(
  app: App,
  trigger: Reconciliation['trigger'],
  userId: string | null,
  caughtUp: Reconciliation['recovered'] = [],
): Promise<Reconciliation> {
  const startedAt = new Date();
  return app.db.transaction(async (em) => {
    await lockReconciliations(em);
    const { checked, stuck } = await listStuckTasks(em, userId);
    const recovered = [...caughtUp];
    for (const task of stuck) {
      const done = await recover(app, em, task);
      if (done !== undefined && !recovered.some((r) => r.taskId === task.id))
        recovered.push({ taskId: task.id, ...done });
    }
    const result = {
      id: newId('recon'),
      trigger,
      startedAt,
      finishedAt: new Date(),
      checked: checked.length,
      recovered,
    };
    await insertReconciliation(em, result, userId, checked);
    return result;
  });
}

async function recover(
  app: App,
  em: EntityManager,
  task: StuckTask,
): Promise<{ action: string; reason: string } | undefined> {
  if (task.hasLapsedRun) {
    await app.queue.send(em, 'run', {});
    return { action: 'continued', reason: 'the worker of its run was lost; another worker continues the run' };
  }
  if (task.status === 'waiting_on_subtasks') {
    const status = await tryMoveTask(app, em, task.id, 'join');
    if (status === 'in_progress') await continueIn(app, em, task.id);
    return status && { action: 'joined', reason: `all its subtasks are done; it is now ${status}` };
  }
  if (await continueIn(app, em, task.id))
    return { action: 'continued', reason: 'all its subtasks are done; a new run continues it' };
  const lost = failure('internal', 'the run was lost');
  const status = await tryMoveTask(app, em, task.id, 'fail', { failure: lost });
  return status && { action: 'failed', reason: `it was in progress without a run; it is now ${status}` };
}
