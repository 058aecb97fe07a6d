import type { EntityManager } from 'typeorm';
import type { Via } from '../../domain/audit/action.ts';
import type { ShownChanges } from '../../domain/audit/changes.ts';

/** Something that happened to a task. */
export interface TimelineEntry {
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

/** Longer texts are cut to this many characters. The log of a run shows all of them. */
const maxText = 500;

/**
 * Records of the audit log that are left out: the task's own row shows its creation, the ends of runs show what they did
 * to the task, and the chat has a tab of its own.
 */
const leftOut = `('task.create', 'task.propose', 'task.fail', 'task.chat')`;

/** SQL: what a record of the audit log quotes. */
const quoted = ['answer', 'request', 'said', 'instructions', 'subtaskTitle']
  .map((field) => `a.detail->'${field}'->>1`)
  .join(', ');

const person = (id: string, login: string) =>
  `case when ${id} is not null then json_build_object('id', ${id}, 'login', coalesce(${login}, '')) end`;

/** SQL: a column for each property. Everything is about task $1. */
const created = `select 'created ' || t.id as id, t.created_at as at, 'created' as type,
    ${person('t.created_by', '(select u.login from users u where u.id = t.created_by)')} as actor, null as via,
    null as agent, null as "runId", '' as text, null as url, '{}'::jsonb as changes, null::json as handoff
  from tasks t where t.id = $1`;

const acts = `select a.id, a.at, substr(a.action, 6), ${person('a.actor_id', 'a.actor_login')}, a.via, null, null,
    coalesce(${quoted}, ''), null, a.detail, null
  from audit_records a
  where a.object_type = 'task' and a.object_id = $1 and a.action like 'task.%' and a.action not in ${leftOut}`;

const runs = `select 'run ' || r.id, r.finished_at, 'run_' || r.status, null, null, g.name, r.id,
    coalesce(r.failure->>'message', ''), null, '{}', (
      select json_build_object('summary', h.summary, 'nextSteps', h.next_steps) from handoffs h
      where h.run_id = r.id order by h.created_at desc, h.id desc limit 1)
  from runs r left join agents g on g.id = r.agent_id where r.task_id = $1 and r.finished_at is not null`;

const waits = `select 'event ' || e.id, e.at, 'wait_' || (e.data->>'reason'), null, null, g.name, r.id,
    regexp_replace(e.text, '^waiting: ', ''), null, '{}', null
  from runs r join run_events e on e.run_id = r.id left join agents g on g.id = r.agent_id
  where r.task_id = $1 and e.type = 'waiting' and e.data->>'reason' in ('plan', 'question', 'push')`;

const pushes = `select 'push ' || s.run_id || ' ' || s.name, s.at, 'pushed', null, null, g.name, r.id,
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
export async function listTimeline(
  em: EntityManager,
  taskId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<TimelineEntry[]> {
  return em.query(
    `select e.id, e.at, e.type, e.actor, e.via, e.agent, e."runId", left(e.text, ${maxText}) as text, e.url, e.changes,
       e.handoff
     from (${[created, acts, runs, waits, pushes, pulls].join('\nunion all\n')}) e
     order by e.at desc, e.id desc limit $2 + 1 offset $3`,
    [taskId, limit, offset],
  );
}
