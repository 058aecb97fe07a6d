import type { EntityManager } from 'typeorm';
import { limitInIndexOrder } from '../../db/index-order.ts';
import type { AgentRow } from '../../db/tables/project.ts';
import { type ComparedTask, compareVersions } from '../../domain/learning/comparison.ts';
import { AppError } from '../../errors.ts';
import { findAgent } from '../store.ts';

/** A comparison uses at most this many tasks of each version, the latest. */
const maxTasks = 300;

export interface SampledTask extends ComparedTask {
  begunAt: Date;
}

/**
 * Returns the finished tasks that a version of an agent worked on alone, in a user's projects, and that began within a
 * period. A task is finished when it is done or its latest run failed. Subtasks count as part of their parent.
 */
export async function listFinishedTasks(
  em: EntityManager,
  userId: string,
  { agentId, from, until }: { agentId: string; from: Date; until: Date | null },
): Promise<SampledTask[]> {
  return em.query(
    `with own as (
       select r.task_id, max(r.created_at) as at
       from (select project_id from members where user_id = $1) m
       cross join lateral (
         select r.task_id, r.created_at from runs r
         where r.agent_id = $2 and r.project_id = m.project_id and r.created_at >= $3
         order by r.created_at desc ${limitInIndexOrder(4 * maxTasks)}) r
       group by r.task_id order by at desc limit ${maxTasks}),
     parts as (
       select task_id as root_id, task_id from own
       union all select s.parent_id, s.id from own join tasks s on s.parent_id = own.task_id),
     work as (
       select p.root_id, min(r.created_at) as begun, bool_and(r.agent_id is not distinct from $2) as is_alone,
         case when bool_and(r.cost_usd is not null) then sum(r.cost_usd)::float8 end as cost,
         coalesce(sum(greatest(0, extract(epoch from r.finished_at - r.started_at) - r.waited_seconds)) / 60, 0)::float8 as minutes,
         count(*) filter (where r.kind = 'revise' and r.task_id = p.root_id)::int as revisions,
         (array_agg(r.status order by r.created_at desc, r.id desc) filter (where r.task_id = p.root_id))[1] as latest
       from parts p join runs r on r.task_id = p.task_id group by p.root_id)
     select t.status = 'done' as "isDone", work.cost as "costUsd", work.minutes, work.revisions, work.begun as "begunAt"
     from work join tasks t on t.id = work.root_id and t.parent_id is null
     where work.is_alone and work.begun >= $3 and ($4::timestamptz is null or work.begun <= $4)
       and (t.status = 'done' or work.latest = 'failed')
     order by work.begun desc`,
    [userId, agentId, from, until],
  );
}

/**
 * Compares a version of an agent with the one before it. Only tasks count that began while both versions took on tasks:
 * after the later one was created, and before the earlier one began its last task. So both had the same kind of work.
 * @throws AppError 404 for the first version
 */
export async function readComparison(em: EntityManager, agent: AgentRow, userId: string) {
  const previous = agent.previousVersionId === null ? null : await findAgent(em, agent.previousVersionId);
  if (previous === null)
    throw new AppError(404, `Version ${agent.version} of ${agent.name} has no earlier version to compare it with.`);
  const from = agent.createdAt;
  const earlier = await listFinishedTasks(em, userId, { agentId: previous.id, from, until: null });
  const [last] = earlier;
  const until = last?.begunAt ?? from;
  const later = await listFinishedTasks(em, userId, { agentId: agent.id, from, until });
  return {
    earlier: { id: previous.id, version: previous.version, tasks: earlier.length },
    later: { id: agent.id, version: agent.version, tasks: later.length },
    rollout: agent.rollout,
    ...compareVersions({ version: previous.version, tasks: earlier }, { version: agent.version, tasks: later }),
  };
}
