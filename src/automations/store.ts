import type { EntityManager } from 'typeorm';
import { type AutomationRow, Automations } from '../db/tables/automation.ts';

/** Returns the automations of a project, oldest first. */
export function listAutomations(em: EntityManager, projectId: string): Promise<AutomationRow[]> {
  return em.find(Automations, { where: { projectId }, order: { createdAt: 'ASC', id: 'ASC' } });
}

export function findAutomation(em: EntityManager, id: string): Promise<AutomationRow | null> {
  return em.findOneBy(Automations, { id });
}

export function findAutomationOf(em: EntityManager, projectId: string, id: string): Promise<AutomationRow | null> {
  return em.findOneBy(Automations, { id, projectId });
}

/**
 * Locks an automation until the transaction ends, and its project before it, as everything does that deletes a project.
 * Returns null if it was deleted.
 */
export async function lockAutomation(em: EntityManager, id: string): Promise<AutomationRow | null> {
  await em.query('select 1 from projects where id = (select project_id from automations where id = $1) for key share', [
    id,
  ]);
  return em.findOne(Automations, { where: { id }, lock: { mode: 'pessimistic_write' } });
}

export async function countAutomations(em: EntityManager, projectId: string): Promise<number> {
  return em.countBy(Automations, { projectId });
}

export async function insertAutomation(em: EntityManager, row: Partial<AutomationRow>): Promise<void> {
  await em.insert(Automations, row as AutomationRow);
}

/** Changes the given fields. */
export async function updateAutomationRow(
  em: EntityManager,
  id: string,
  fields: Partial<Omit<AutomationRow, 'id' | 'projectId' | 'createdAt'>>,
): Promise<void> {
  await em.update(Automations, { id }, fields);
}

/** Returns false if it was deleted already. */
export async function deleteAutomationRow(em: EntityManager, id: string): Promise<boolean> {
  return (await em.delete(Automations, { id })).affected === 1;
}

/** Returns automations whose time has come, those that are most late first. */
export async function listDue(em: EntityManager, now?: Date): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    'select id from automations where next_at <= coalesce($1, now()) order by next_at, id limit 500',
    [now ?? null],
  );
  return rows.map(({ id }) => id);
}

/** Returns in how many seconds the next automation is due; null if none is. */
export async function secondsToNextDue(em: EntityManager): Promise<number | null> {
  const [{ seconds }]: [{ seconds: number | null }] = await em.query(
    'select extract(epoch from min(next_at) - now())::float8 as seconds from automations',
  );
  return seconds;
}

/** Returns the automations that are switched on, for a check of what they refer to. */
export async function listEnabled(em: EntityManager): Promise<string[]> {
  const rows: { id: string }[] = await em.query('select id from automations where enabled order by id');
  return rows.map(({ id }) => id);
}

/** Returns the automations of a repository that are switched on and wait for events. */
export async function listOfRepository(em: EntityManager, repositoryId: string): Promise<AutomationRow[]> {
  return em
    .createQueryBuilder(Automations, 'a')
    .where(`a.enabled and a.trigger->>'event' is not null and a.task->>'repositoryId' = :repositoryId`, {
      repositoryId,
    })
    .orderBy('a.id')
    .getMany();
}

interface NewCause {
  automationId: string;
  cause: string;
  at: Date;
  depth: number;
}

/** Records what makes an automation create a task. Returns false if that was recorded before. */
export async function insertCause(em: EntityManager, { automationId, cause, at, depth }: NewCause): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `insert into automation_causes (automation_id, cause, at, depth, is_made) values ($1, $2, $3, $4, false)
     on conflict do nothing returning 1`,
    [automationId, cause, at, depth],
  );
  return rows.length === 1;
}

export async function setTaskOfCause(
  em: EntityManager,
  { automationId, cause }: Pick<NewCause, 'automationId' | 'cause'>,
  taskId: string,
): Promise<void> {
  await em.query('update automation_causes set task_id = $3, is_made = true where automation_id = $1 and cause = $2', [
    automationId,
    cause,
    taskId,
  ]);
}

/** Returns how many tasks an automation has made since a moment. */
export async function countMade(em: EntityManager, automationId: string, since: Date): Promise<number> {
  const [row]: [{ count: number }] = await em.query(
    'select count(*)::int as count from automation_causes where automation_id = $1 and at >= $2 and is_made',
    [automationId, since],
  );
  return row.count;
}

/** GitHub redelivers for three days, so no event comes after this many days. */
const keepDays = 30;

/** Deletes up to `limit` causes that are too old to happen again. Returns the number deleted. */
export async function deleteOldCauses(em: EntityManager, limit: number): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `delete from automation_causes where (automation_id, cause) in (
       select automation_id, cause from automation_causes c where at < now() - make_interval(days => $1)
         and not exists (select 1 from tasks t where t.id = c.task_id and t.status <> 'done') order by at limit $2)`,
    [keepDays, limit],
  );
  return count;
}

/** Returns the id of the newest version of an agent; undefined if the agent was deleted. */
export async function newestVersionOf(em: EntityManager, agentId: string): Promise<string | undefined> {
  const rows: { id: string }[] = await em.query(
    `select n.id from agents a join agents n on n.line_id = a.line_id and n.is_newest where a.id = $1`,
    [agentId],
  );
  return rows[0]?.id;
}

/** What an event on GitHub is about, as far as it may be the work of an automation's task. */
export interface About {
  repositoryId: string;
  issue: number | null;
  pulls: number[];
  branch: string | null;
}

/**
 * Returns how many automations in a row have led to an event: 0 if it has nothing to do with the task of one. Subtasks count
 * as their parents.
 */
export async function depthOf(em: EntityManager, { repositoryId, issue, pulls, branch }: About): Promise<number> {
  const [row]: [{ depth: number }] = await em.query(
    `with recursive up as (
       select t.id, t.parent_id from tasks t
       where t.issue_repository_id = $1 and t.issue_number = $2
         or t.repository_id = $1 and t.branch_name = $4
         or t.id in (select p.task_id from pull_requests p where p.repository_id = $1
           and (p.number = any($3::int[]) or p.head_branch = $4))
       union select t.id, t.parent_id from up join tasks t on t.id = up.parent_id)
     select coalesce(max(c.depth), 0)::int as depth from up join automation_causes c on c.task_id = up.id`,
    [repositoryId, issue, pulls, branch],
  );
  return row.depth;
}
