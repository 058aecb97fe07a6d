import type { EntityManager } from 'typeorm';
import { type AgentRow, Agents } from '../db/tables/project.ts';
import { liveRun } from '../db/tables/run.ts';
import { type BuiltInAgent, defaultAgentKey } from '../domain/agent.ts';

/** An agent as one caller sees it. It is busy only if it has runs in the caller's projects. */
export interface AgentView extends AgentRow {
  status: 'available' | 'busy' | 'offline';
  currentTaskId: string | null;
}

/**
 * SQL: version `a` of an agent takes on tasks. It is the newest one, or the one before it while the newest takes only a
 * share of the tasks.
 */
const isInUse = `(a.is_newest or exists (
  select 1 from agents n where n.previous_version_id = a.id and n.is_newest and n.rollout < 100))`;

/** SQL: narrows membership to people with a role or a higher one. */
const atLeast = {
  viewer: () => '',
  member: (alias: 'm' | 'mine') => `and ${alias}.role <> 'viewer'`,
};

/**
 * SQL: a user can see agent `a`. It is one of the user's projects, or the user's own, or its creator has assigned it to a
 * task in a project in which both are members. With `member`, projects that the user only views do not count.
 */
const isVisibleTo = (
  userId: '$1' | '$2' | '$3',
  leastRole: keyof typeof atLeast = 'viewer',
) => `(a.creator_id = ${userId}
    or exists (select 1 from members m where m.project_id = a.project_id and m.user_id = ${userId} ${atLeast[leastRole]('m')})
    or (a.creator_id is not null and exists (
      select 1 from members mine join members theirs on theirs.project_id = mine.project_id
      where mine.user_id = ${userId} ${atLeast[leastRole]('mine')} and theirs.user_id = a.creator_id
        and exists (select 1 from tasks t where t.project_id = mine.project_id and t.owner in (
          -- A task has the newest version as owner; its earlier versions are visible too.
          with recursive newer (id) as (
            select a.id union select n.id from agents n join newer o on n.previous_version_id = o.id)
          select id from newer)))))`;

/** SQL: the status of agent `a`, from its run `busy`. */
const statusOf = `case when busy.task_id is not null then 'busy' when ${isInUse} then 'available' else 'offline' end as status`;

/** SQL: the agents `a` that user $1 can see, each with a run that it works on as `busy`. */
const fromVisible = `from agents a
  left join lateral (
    select r.task_id from runs r join members m on m.project_id = r.project_id and m.user_id = $1
    where r.agent_id = a.id and r.status = 'running' order by r.started_at limit 1) busy on true
  where ${isVisibleTo('$1')}`;

/** SQL: the same, with all columns. */
const visible = `
  select a.id, a.project_id as "projectId", a.creator_id as "creatorId", a.built_in as "builtIn", a.rollout, a.name, a.description, a.team, a.model,
    a.reasoning_effort as "reasoningEffort", a.max_output_tokens as "maxOutputTokens",
    a.system_prompt as "systemPrompt", a.line_id as "lineId", a.version, a.previous_version_id as "previousVersionId", a.is_newest as "isNewest",
    a.created_at as "createdAt", ${statusOf}, busy.task_id as "currentTaskId"
  ${fromVisible}`;

/** SQL `with` clause: `chain` has the ids of agent $1 and of its earlier versions. */
const versions = `with recursive chain (id) as (
  select $1::text union select a.previous_version_id from agents a join chain c on a.id = c.id
  where a.previous_version_id is not null)`;

/**
 * SQL: joins as m the creator of agent `a`, if they may change things in project $2. The agent of somebody who has left or
 * only views does not work there, because they could change its prompt.
 */
const creatorInProject = `members m on m.project_id = $2 and m.user_id = a.creator_id and m.role <> 'viewer'`;

/** An agent in a list, with the beginning of its description. Whole prompts of thousands of agents would fill the memory. */
export type ListedAgent = Pick<
  AgentView,
  'id' | 'projectId' | 'creatorId' | 'name' | 'description' | 'team' | 'status'
>;

/**
 * Returns the agents that a person can see. With a project, returns only those that can work there: the project's own
 * and those of its members.
 */
export async function listAgents(
  em: EntityManager,
  userId: string,
  projectId: string | null = null,
): Promise<ListedAgent[]> {
  return em.query(
    `select a.id, a.project_id as "projectId", a.creator_id as "creatorId", a.name, left(a.description, 300) as description /* not null */,
       a.team, ${statusOf}
     ${fromVisible} and a.is_newest and ($2::text is null or a.project_id = $2
       or exists (select 1 from members m where m.project_id = $2 and m.user_id = a.creator_id and m.role <> 'viewer'))
     order by a.created_at, a.id`,
    [userId, projectId],
  );
}

export async function findVisibleAgent(em: EntityManager, userId: string, id: string): Promise<AgentView | undefined> {
  const rows: AgentView[] = await em.query(`${visible} and a.id = $2`, [userId, id]);
  return rows[0];
}

/** Returns whether an agent is a person's own, or visible to them in a project in which they may change things. */
export async function worksFor(em: EntityManager, userId: string, id: string): Promise<boolean> {
  const rows: unknown[] = await em.query(`select 1 from agents a where a.id = $2 and ${isVisibleTo('$1', 'member')}`, [
    userId,
    id,
  ]);
  return rows.length > 0;
}

/** A person may have this many agents of their own. */
export const maxOwnAgents = 200;

/** Returns whether a person has as many agents of their own as they may. */
export async function hasAllAgents(em: EntityManager, userId: string): Promise<boolean> {
  return (await em.countBy(Agents, { creatorId: userId, isNewest: true })) >= maxOwnAgents;
}

export async function insertAgent(em: EntityManager, agent: Partial<AgentRow>): Promise<void> {
  await em.insert(Agents, agent as AgentRow);
}

/** Locks an agent until the end of the transaction, and returns it. */
export async function lockAgent(em: EntityManager, id: string): Promise<AgentRow> {
  return em.findOneOrFail(Agents, { where: { id }, lock: { mode: 'pessimistic_write' } });
}

/** Changes the fields that are given. */
export async function updateAgentRow(em: EntityManager, id: string, change: Partial<AgentRow>): Promise<void> {
  if (Object.keys(change).length > 0) await em.update(Agents, { id }, change);
}

/** Deletes an agent with its earlier versions. */
export async function deleteVersions(em: EntityManager, id: string): Promise<void> {
  await em.query(`${versions} delete from agents where id in (select id from chain)`, [id]);
}

export async function findAgent(em: EntityManager, id: string): Promise<AgentRow | null> {
  return em.findOneBy(Agents, { id });
}

/**
 * Returns whether an agent can own tasks of a project. It must be a version that takes on tasks, and belong to the
 * project or to a member.
 */
export async function mayServe(em: EntityManager, agentId: string, projectId: string): Promise<boolean> {
  const [row]: [{ may: boolean }] = await em.query(
    `select exists (
       select 1 from agents a left join ${creatorInProject}
       where a.id = $1 and ${isInUse} and (a.project_id = $2 or m.user_id is not null)) as may`,
    [agentId, projectId],
  );
  return row.may;
}

/**
 * Returns whether a run of an agent may continue in a project: the agent belongs to the project, or to one of its
 * members. A newer version of the agent does not matter.
 */
export async function mayContinue(em: EntityManager, agentId: string, projectId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from agents a left join ${creatorInProject}
     where a.id = $1 and (a.project_id = $2 or m.user_id is not null)`,
    [agentId, projectId],
  );
  return rows.length > 0;
}

export type NamedAgent = Pick<AgentRow, 'id' | 'name'>;

/**
 * Finds the agents that a name can refer to in a project: the project's own, otherwise the sender's own, otherwise those of
 * other members that the sender can see. Assigning any other one would show its system prompt to all members. If there
 * is more than one, the name is ambiguous.
 */
export async function findAgentsByName(
  em: EntityManager,
  name: string,
  projectId: string,
  userId: string | null,
): Promise<NamedAgent[]> {
  const rows: (NamedAgent & { rank: number })[] = await em.query(
    `select a.id, a.name, case when a.project_id = $2 then 1 when a.creator_id = $3 then 2 else 3 end as rank
     from agents a
     left join ${creatorInProject}
     where lower(a.name) = lower($1) and a.is_newest
       and (a.project_id = $2 or (m.user_id is not null and ${isVisibleTo('$3')}))
     order by rank, a.id`,
    [name, projectId, userId],
  );
  return rows.filter((r) => r.rank === rows[0]?.rank);
}

/** Finds the newest version of one of the project's built-in agents, whatever its name is now. */
export async function findBuiltInAgent(
  em: EntityManager,
  projectId: string,
  builtIn: BuiltInAgent,
): Promise<AgentRow | null> {
  return em.findOneBy(Agents, { projectId, builtIn, isNewest: true });
}

/** Finds the newest version of the agent that starts in a project where nobody names one. */
export async function findDefaultAgent(em: EntityManager, projectId: string): Promise<AgentRow | null> {
  const rows: { id: string }[] = await em.query(
    `select n.id from projects p join agents a on a.id = p.default_agent_id
     join agents n on n.line_id = a.line_id and n.is_newest where p.id = $1`,
    [projectId],
  );
  const [chosen] = rows;
  return chosen === undefined ? findBuiltInAgent(em, projectId, defaultAgentKey) : findAgent(em, chosen.id);
}

/** Returns the newest versions of the project's own agents, oldest first. */
export async function listProjectAgents(em: EntityManager, projectId: string): Promise<AgentRow[]> {
  return em.find(Agents, { where: { projectId, isNewest: true }, order: { createdAt: 'ASC', id: 'ASC' } });
}

/**
 * SQL: the name of the agent `a` in the prompt of a chat. That of a personal agent is left out: it is a text of its maker, who need not be
 * allowed to read what the chat reads.
 */
export const agentInChat = `case when a.project_id is null and a.id is not null then 'a personal agent' else a.name end`;

/** SQL: the names of the agents that can own tasks of project $1, oldest first. */
export const agentNames = `select a.id, a.name from agents a
  where ${isInUse} and (a.project_id = $1
    or exists (select 1 from members m where m.project_id = $1 and m.user_id = a.creator_id and m.role <> 'viewer') and ${isVisibleTo('$2')})
  order by a.created_at, a.id`;

/** Returns the agents that can own tasks of a project, as far as a person sees them, oldest first. */
export function listUsableAgents(em: EntityManager, projectId: string, userId: string): Promise<NamedAgent[]> {
  return em.query(agentNames, [projectId, userId]);
}

/** Returns whether a run of the agent or of an earlier version is live. */
export async function hasLiveRuns(em: EntityManager, agentId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `${versions} select 1 from runs where agent_id in (select id from chain) and status in ${liveRun} limit 1`,
    [agentId],
  );
  return rows.length > 0;
}

/**
 * Moves the tasks of earlier versions to the newest one, except those that are done and those with a run that has
 * started.
 */
export async function moveTasks(em: EntityManager, newestId: string): Promise<void> {
  await em.query(
    `${versions} update tasks t set owner = $1
     where t.owner in (select id from chain) and t.owner <> $1 and t.status <> 'done'
       and not exists (select 1 from runs r where r.task_id = t.id and r.status in ${liveRun} and r.started_at is not null)`,
    [newestId],
  );
}

/**
 * Moves the runs that have not started to one version of their agent. The others continue their conversation with the
 * version that began it.
 */
export async function moveQueuedRuns(em: EntityManager, newestId: string, toId: string): Promise<void> {
  await em.query(
    `${versions} update runs set agent_id = $2
     where agent_id in (select id from chain) and agent_id <> $2 and status = 'queued' and started_at is null`,
    [newestId, toId],
  );
}
