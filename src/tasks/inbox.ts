import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import {
  type AdminNoticeReason,
  adminNoticeReasons,
  type InboxReason,
  inboxReasons,
} from '../domain/notices/reasons.ts';
import { badField } from '../errors.ts';
import { accessTo, anyUser } from '../http/access/access.ts';
import { type EventStream, follow } from '../http/events.ts';
import { type Route, route, Timestamp } from '../http/route.ts';
import { taskSource } from './routes.ts';
import type { TaskView } from './store.ts';

const InboxEntry = z
  .object({
    taskId: z.string().nullable().meta({ description: 'null for what the admins of a project are told about no task' }),
    automationId: z
      .preprocess((id) => id ?? undefined, z.string().optional())
      .meta({ description: 'an automation that was switched off; only admins of its project see it' }),
    projectId: z.string(),
    reason: z.enum([...inboxReasons, ...adminNoticeReasons]).meta({
      description: '`automation` and `webhook`, for admins: the service has switched one off',
    }),
    title: z.string(),
    text: z.string().meta({
      description:
        'what the run waits for, why it failed, why it is not merged when ready any more, what was done, or why the automation was switched off; at most 2,000 characters',
    }),
    since: Timestamp,
    snoozedUntil: z
      .preprocess((at) => at ?? undefined, Timestamp.optional())
      .meta({ description: 'when a snoozed entry returns; only with the scope `snoozed`' }),
  })
  .meta({ id: 'InboxEntry' });

/** A task that needs a person, or something else that the admins of a project are told. */
export interface InboxEntry {
  taskId: string | null;
  automationId: string | null;
  projectId: string;
  reason: InboxReason | AdminNoticeReason;
  title: string;
  /** What its run waits for, why its last run failed, or what was done. */
  text: string;
  since: Date;
  /** When it returns; null if the user has not snoozed it. */
  snoozedUntil: Date | null;
}

/** More entries than this are not listed, and longer texts are cut to this many characters. The task shows them whole. */
const maxEntries = 1000;
const maxText = 2000;

/** `mine` leaves out the tasks for which another person is responsible, `snoozed` has what the others leave out until later. */
export const inboxScopes = ['mine', 'all', 'snoozed'] as const;
export type InboxScope = (typeof inboxScopes)[number];

/**
 * Returns the tasks that need a person, newest first, in all projects in which the user can decide something, which viewers cannot.
 * In projects that the user administers, the notices for admins are among them. What the user has snoozed is left out; the scope
 * `snoozed` returns nothing else.
 */
export async function listInbox(em: EntityManager, userId: string, scope: InboxScope): Promise<InboxEntry[]> {
  // Functions of the database decide, because its triggers use the same ones. The conditions beside them decide
  // nothing; they let PostgreSQL use the indexes.
  return em.query(
    `with entries as (
       select t.id, t.project_id, t.title, t.status_since as since, t.failure->>'message' as text,
         reason_of_task(t.status, t.failure) as reason, t.responsible
       from members m join tasks t on t.project_id = m.project_id
       where m.user_id = $1 and m.role <> 'viewer' and not t.hidden and (t.status = 'in_review' or t.failure is not null)
       union all
       select t.id, t.project_id, t.title, r.waiting_since as since /* not null */, r.wait_text, reason_of_run(r.status, r.wait_reason), t.responsible
       from members m join runs r on r.project_id = m.project_id and r.status = 'waiting' join tasks t on t.id = r.task_id
       where m.user_id = $1 and m.role <> 'viewer'),
     found as (
       select e.id as task_id, null as automation_id, e.project_id, e.title, e.since, e.text, e.reason, s.until
       from entries e left join inbox_snoozes s
         on s.user_id = $1 and s.task_id = e.id and s.until > now() and e.since <= s.since
       where e.reason is not null and case $4
         when 'snoozed' then s.until is not null
         else s.until is null and ($4 = 'all' or e.responsible is null or e.responsible = $1) end
       union all
       select null, a.id, a.project_id, a.name, a.paused_at as since /* not null */, a.paused_reason, 'automation', null
       from members m join automations a on a.project_id = m.project_id and a.paused_reason is not null
       where $4 <> 'snoozed' and m.user_id = $1 and m.role in ('admin', 'owner')
       union all
       select null, null, a.project_id, a.title, a.since, a.text, a.reason, null
       from members m join admin_notices a on a.project_id = m.project_id
       where $4 <> 'snoozed' and m.user_id = $1 and m.role in ('admin', 'owner')),
     newest as (select * from found order by since desc, task_id desc, automation_id limit $2)
     select n.task_id as "taskId", n.automation_id as "automationId", n.project_id as "projectId", n.reason, n.title, n.since, n.until as "snoozedUntil", left(coalesce(n.text, (
         select m.dropped from merges m join pull_requests p on p.repository_id = m.repository_id and p.number = m.number
         where p.task_id = n.task_id and n.reason = 'review' and p.status in ('open', 'draft') and m.dropped is not null
         order by p.created_at limit 1), (
         select h.summary from handoffs h where h.task_id = n.task_id and n.reason = 'review'
         order by h.created_at desc, h.id desc limit 1), ''), $3) as text
     from newest n order by n.since desc, n.task_id desc, n.automation_id`,
    [userId, maxEntries, maxText, scope],
  );
}

/** The longest time for which an entry can be snoozed. */
const maxSnoozeDays = 90;
const wrongUntil = `must be a time from now to ${maxSnoozeDays} days from now, such as 2026-01-05T09:00:00Z`;

/**
 * Leaves what a task needs now out of the inbox of one person until then. What it needs later is listed all the same, so
 * nobody overlooks a new plan. Does nothing about a task that needs nobody.
 * @throws AppError 400 for a time that is over or too far away
 */
async function snooze(app: App, userId: string, taskId: string, until: Date): Promise<void> {
  const ms = until.getTime() - Date.now();
  if (!(ms > 0 && ms <= maxSnoozeDays * 24 * 3_600_000)) throw badField('until', `until ${wrongUntil}`);
  await app.db.transaction(async (em) => {
    const rows: unknown[] = await em.query(
      `insert into inbox_snoozes as s (user_id, task_id, until, since)
       select $1, $2, $3, max(n.since) from (
         select status_since as since from tasks where id = $2 and reason_of_task(status, failure) is not null
         union all
         select waiting_since from runs where task_id = $2 and reason_of_run(status, wait_reason) is not null) n
       having max(n.since) is not null
       on conflict (user_id, task_id) do update set until = excluded.until, since = excluded.since
       returning 1`,
      [userId, taskId, until],
    );
    app.audit.note(rows.length > 0 ? { until: [null, until.toISOString()] } : {});
  });
}

/** Lists a task again that a person has snoozed. */
async function endSnooze(app: App, userId: string, taskId: string): Promise<void> {
  await app.db.transaction(async (em) => {
    const [rows]: [{ until: Date }[], number] = await em.query(
      'delete from inbox_snoozes where user_id = $1 and task_id = $2 returning until',
      [userId, taskId],
    );
    app.audit.note(rows[0] === undefined ? {} : { until: [rows[0].until.toISOString(), null] });
  });
}

/** Lists the tasks again whose snooze is over, and tells their people. */
export async function endDueSnoozes(em: EntityManager): Promise<void> {
  await em.query('delete from inbox_snoozes where until <= now()');
}

/** Tells people that what the inbox says about a task has changed, also those who have snoozed it. */
export async function tellInbox(em: EntityManager, taskId: string): Promise<void> {
  await em.query('delete from inbox_snoozes where task_id = $1', [taskId]);
  await em.query(
    `select note_inbox_event(project_id, id, reason_of_task(status, failure)) from tasks
     where id = $1 and reason_of_task(status, failure) is not null`,
    [taskId],
  );
}

/** Tells a user that the list may have changed, in any of their projects, so that the client loads it again. */
async function followInbox(app: App, userId: string, out: EventStream): Promise<void> {
  let hasBegun = false;
  const tell = async () => {
    if (hasBegun) out.send({ event: 'inbox', data: {} });
    else out.begin();
    hasBegun = true;
    return false;
  };
  await follow(out.signal, (hear) => app.db.listen(`inbox ${userId}`, hear), tell);
}

const InboxQuery = z.strictObject({
  scope: z.enum(inboxScopes, 'must be mine, all or snoozed').default('mine').meta({
    description:
      '`mine`: tasks for which the caller or nobody is responsible; `all`: also those of others; `snoozed`: those that the caller has snoozed, which the others leave out',
  }),
});

const Snooze = z.strictObject({
  until: z.iso
    .datetime({ offset: true, error: wrongUntil })
    .transform((text) => new Date(text))
    .meta({ override: { type: 'string', format: 'date-time' }, description: `at most ${maxSnoozeDays} days from now` }),
});

/** Finds the task in the path, for the members of its project. */
const onEntry = accessTo<TaskView, 'task'>({ ...taskSource, param: 'taskId' });

export const inboxRoutes: Route[] = [
  route({
    operationId: 'listInbox',
    method: 'get',
    path: '/me/inbox',
    summary:
      'List the tasks that need the caller, and what admins have to know, in all their projects, newest first; at most 1,000',
    guide:
      "List the tasks that wait for your person, or with scope `all` for anybody in their projects, newest first. Use it to see what your person has to decide. Each entry has the task's id, why it waits (`reason`), since when, and the question or summary. An entry without a task is an automation or a webhook that was switched off.",
    tag: 'inbox',
    access: anyUser,
    query: InboxQuery,
    reply: [200, z.array(InboxEntry)],
    streams: 'An event `inbox` with `{}` whenever the list may have changed; load it again then',
    stream: (app, { user }, out) => followInbox(app, user.id, out),
    handle: (app, { user, query }) => listInbox(app.db.manager, user.id, query.scope),
  }),
  route({
    operationId: 'snoozeInboxEntry',
    method: 'post',
    path: '/me/inbox/:taskId/snooze',
    summary:
      'Leave what a task needs now out of the inbox of the caller until then. What it needs later is listed all the same',
    guide: null,
    tag: 'inbox',
    access: onEntry('member'),
    audit: { action: 'task.snooze', object: ({ task }) => task },
    body: Snooze,
    reply: [204],
    handle: (app, { user, task, body }) => snooze(app, user.id, task.id, body.until),
  }),
  route({
    operationId: 'endInboxSnooze',
    method: 'delete',
    path: '/me/inbox/:taskId/snooze',
    summary: 'List a task again that the caller has snoozed',
    guide: null,
    tag: 'inbox',
    access: onEntry('member'),
    audit: { action: 'task.end_snooze', object: ({ task }) => task },
    reply: [204],
    handle: (app, { user, task }) => endSnooze(app, user.id, task.id),
  }),
];
