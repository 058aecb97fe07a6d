import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { type ShownChanges, type Via, vias } from '../domain/audit.ts';
import { pageQuery, type Route, route, Timestamp } from '../http/route.ts';
import { onTask } from '../tasks/routes.ts';
import { listRunChecks } from './journal.ts';
import { findProof } from './proof/proof-store.ts';
import { Proof } from './schemas.ts';

const Value = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const TimelineEntry = z
  .object({
    id: z.string(),
    at: Timestamp,
    type: z.string().meta({
      description:
        'an action of the audit log without `task.`, such as `start` or `answer`; or `created`, `wait_plan`, `wait_question`, `wait_push`, `pushed`, `pull_opened`, `pull_merged`, `run_succeeded`, `run_failed` or `run_cancelled`',
      example: 'start',
    }),
    actor: z
      .object({ id: z.string(), login: z.string() })
      .nullable()
      .meta({ description: 'the person who did it; null for agents and the system' }),
    via: z.enum(vias).nullable().meta({ description: 'how a person or the system did it; null for agents' }),
    agent: z
      .string()
      .nullable()
      .meta({ description: 'the name of the agent that did it; null if no agent was needed, as for most undos' }),
    runId: z.string().nullable(),
    text: z.string().meta({
      description:
        'what was said, asked or requested, in full; the failure of a run, or that it changed nothing; a commit, or a pull request, with at most 500 characters',
    }),
    url: z.string().nullable(),
    changes: z.record(z.string(), z.array(Value).length(2)).meta({
      description:
        'the changed fields, each with its values before and after; texts are cut at 200 characters, except for what people said to the agent',
      example: { status: ['ready', 'in_progress'] },
    }),
    handoff: z
      .object({ summary: z.string(), nextSteps: z.array(z.string()) })
      .nullable()
      .meta({ description: 'what a run left for later runs' }),
  })
  .meta({ id: 'TimelineEntry' });

/** Something that happened to a task. */
interface TimelineEntry {
  id: string;
  at: Date;
  type: string;
  actor: { id: string; login: string } | null;
  via: Via | null;
  agent: string | null;
  runId: string | null;
  text: string;
  url: string | null;
  changes: ShownChanges;
  handoff: { summary: string; nextSteps: string[] } | null;
}

/** Longer texts are cut to this many characters, except what people wrote. The log of a run shows all of them. */
const maxText = 500;

/**
 * Records of the audit log that are left out: the task's own row shows its creation, the ends of runs show what they did
 * to the task, the chat has a tab of its own, and a snooze concerns one person only.
 */
const leftOut = `('task.create', 'task.propose', 'task.fail', 'task.chat', 'task.snooze', 'task.end_snooze')`;

/** The fields of a record of the audit log that an entry quotes. */
const quotedFields = ['answer', 'request', 'said', 'instructions', 'subtaskTitle', 'refusal', 'changedPlan'];

/** Returns what a record quotes. PostgreSQL would unpack a long record for each of the fields. */
function quotedIn(changes: ShownChanges): string | undefined {
  for (const field of quotedFields) {
    const said = changes[field]?.[1];
    if (said != null) return String(said);
  }
  return undefined;
}

const person = (id: string, login: string) =>
  `case when ${id} is not null then json_build_object('id', ${id}, 'login', coalesce(${login}, '')) end`;

/** SQL: a column for each property. Everything is about task $1. */
const created = `select 'created ' || t.id as id, t.created_at as at, 'created' as type,
    ${person('t.created_by', '(select u.login from users u where u.id = t.created_by)')} as actor, null as via,
    null as agent, null as "runId", '' as text, null as url, '{}'::jsonb as changes, null::json as handoff
  from tasks t where t.id = $1`;

// What was said is read with the page that shows it: the records of a task may have many megabytes.
const acts = `select a.id, a.at, substr(a.action, 6), ${person('a.actor_id', 'a.actor_login')}, a.via, null, null,
    '', null, '{}', null
  from audit_records a
  where a.object_type = 'task' and a.object_id = $1 and a.action like 'task.%' and a.action not in ${leftOut}`;

/** SQL: the agent of a run. That of an undo has done nothing if the reverts needed no turn. */
const agentOfRun = `case when r.steps > 0 or not exists (
  select 1 from tasks u where u.id = r.task_id and u.undo_of is not null) then g.name end`;

const runs = `select 'run ' || r.id, r.finished_at, 'run_' || r.status, null, null, ${agentOfRun}, r.id,
    coalesce(r.failure->>'message', case when r.changed_nothing then 'The revision changed nothing.' end, ''), null, '{}', (
      select json_build_object('summary', h.summary, 'nextSteps', h.next_steps) from handoffs h
      where h.run_id = r.id order by h.created_at desc, h.id desc limit 1)
  from runs r left join agents g on g.id = r.agent_id where r.task_id = $1 and r.finished_at is not null`;

const waits = `select 'event ' || e.id, e.at, 'wait_' || (e.data->>'reason'), null, null, g.name, r.id,
    regexp_replace(e.text, '^waiting: ', ''), null, '{}', null
  from runs r join run_events e on e.run_id = r.id left join agents g on g.id = r.agent_id
  where r.task_id = $1 and e.type = 'waiting' and e.data->>'reason' in ('plan', 'question', 'push')`;

const pushes = `select 'push ' || s.run_id || ' ' || s.name, s.at, 'pushed', null, null, ${agentOfRun}, r.id,
    left(s.data->>'commit', 7), null, '{}', null
  from runs r join run_steps s on s.run_id = r.id left join agents g on g.id = r.agent_id
  where r.task_id = $1 and (s.name = 'push' or s.name like 'push %') and s.data->>'commit' is not null`;

const pulls = `select 'pull ' || x.what || ' ' || p.repository_id || ' ' || p.number, x.at, 'pull_' || x.what, null, null,
    null, null, r.name || ' #' || p.number, p.url, '{}', null
  from pull_requests p join repositories r on r.id = p.repository_id
  cross join lateral (values ('opened', p.created_at), ('merged', p.merged_at)) x (what, at)
  where p.task_id = $1 and x.at is not null`;

/**
 * Returns what happened to a task and who did it, newest first. Reads one entry more than the limit, so that the caller
 * can tell whether there is another page.
 */
async function listTimeline(
  em: EntityManager,
  taskId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<TimelineEntry[]> {
  const rows: TimelineEntry[] = await em.query(
    `select e.id, e.at, e.type, e.actor, e.via, e.agent, e."runId", left(e.text, ${maxText}) as text, e.url,
       coalesce(a.detail, e.changes) as changes, e.handoff
     from (select * from (${[created, acts, runs, waits, pushes, pulls].join('\nunion all\n')}) all_of_them
       order by at desc, id desc limit $2 + 1 offset $3) e
     left join audit_records a on a.id = e.id
     order by e.at desc, e.id desc`,
    [taskId, limit, offset],
  );
  return rows.map((entry) => ({ ...entry, text: quotedIn(entry.changes) ?? entry.text }));
}

export const timelineRoutes: Route[] = [
  route({
    operationId: 'listTaskTimeline',
    method: 'get',
    path: '/tasks/:id/timeline',
    summary: 'List what happened to a task and who did it, newest first',
    guide: 'List what happened to a task, in order: who did what, and how runs ended.',
    tag: 'runs',
    access: onTask('viewer'),
    query: z.strictObject(pageQuery),
    reply: [200, z.array(TimelineEntry)],
    paged: true,
    handle: (app, { task, query }) => listTimeline(app.db.manager, task.id, query),
  }),
];

const TaskChange = z
  .object({
    files: z.int().meta({ description: 'changed files' }),
    additions: z.int(),
    deletions: z.int(),
    isTruncated: z.boolean().meta({ description: 'whether the diff was too large to be shown completely' }),
    checks: z
      .array(z.object({ command: z.string(), passed: z.boolean() }))
      .meta({ description: 'the last result of each check; empty when none ran' }),
    proof: Proof.nullable().meta({ description: 'what the tests prove; null before the first proof' }),
  })
  .meta({ id: 'TaskChange' });

export interface DiffSize {
  files: number;
  additions: number;
  deletions: number;
  isTruncated: boolean;
}

/** Returns the size of the change that waits for approval, otherwise of the pushed one; undefined before the first. */
async function findDiffSize(em: EntityManager, taskId: string): Promise<DiffSize | undefined> {
  const rows: DiffSize[] = await em.query(
    `with stored as (
       select h.files, h.truncated, 1 as place from held_changes h join runs r on r.id = h.run_id
       where h.task_id = $1 and h.approved_at is null and r.status = 'waiting' and r.wait_reason = 'push'
       union all select files, truncated, 2 from diffs where task_id = $1
       order by place limit 1)
     select jsonb_array_length(s.files) as files, coalesce(s.truncated, false) as "isTruncated",
       (select coalesce(sum((f ->> 'additions')::int), 0)::int from jsonb_array_elements(s.files) f) as additions,
       (select coalesce(sum((f ->> 'deletions')::int), 0)::int from jsonb_array_elements(s.files) f) as deletions
     from stored s`,
    [taskId],
  );
  return rows[0];
}

/** Returns what people want to know of a change before they look at its diff. */
async function readChange({ db: { manager: em } }: App, taskId: string) {
  const size = await findDiffSize(em, taskId);
  const checks = await listRunChecks(em, taskId);
  return {
    ...(size ?? { files: 0, additions: 0, deletions: 0, isTruncated: false }),
    checks: checks.map(({ name, passed }) => ({ command: name, passed })),
    proof: (await findProof(em, taskId)) ?? null,
  };
}

export const changeRoutes: Route[] = [
  route({
    operationId: 'getTaskChange',
    method: 'get',
    path: '/tasks/:id/change',
    summary: 'Get a summary of the change of a task: its size, its checks and its proof',
    guide:
      "Read a task's change as a reviewer needs it: summary, files, checks, proof and what needs attention. Read it before you advise to merge.",
    tag: 'tasks',
    access: onTask('viewer'),
    reply: [200, TaskChange],
    handle: (app, { task }) => readChange(app, task.id),
  }),
];
