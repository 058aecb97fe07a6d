import type { EntityManager } from 'typeorm';
import type { AgentRow } from '../../db/tables/project.ts';
import { compareVersions } from '../../domain/learning/comparison.ts';
import { AppError } from '../../errors.ts';
import { findAgent } from '../store.ts';
import { listFinishedTasks } from './comparison-store.ts';

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
