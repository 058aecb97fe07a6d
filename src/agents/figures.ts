import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { healthStatus, hoursAndMinutes, proficiency, successRate } from '../domain/agent-figures.ts';
import { notFound } from '../errors.ts';
import {
  type FiguresOf,
  findFigures,
  findHealthFacts,
  hasVersion,
  listSkills,
  listWeeks,
  resetFailures,
} from './figures-store.ts';
import { listAgents } from './store.ts';

/** @throws AppError 404 for a version that the agent does not have */
export async function assertVersion(em: EntityManager, { agentId, version }: FiguresOf): Promise<void> {
  if (version !== undefined && !(await hasVersion(em, agentId, version)))
    throw notFound('Version', `${version} of agent ${agentId}`);
}

/**
 * Returns the health of agents in the caller's projects: of one version, or of all versions together. Needs two
 * statements for any number of agents.
 */
async function readHealth(em: EntityManager, userId: string, agentIds: string[], version?: number) {
  // One after the other, because in a transaction they share a connection.
  const facts = await findHealthFacts(em, userId, agentIds, version);
  const found = await findFigures(em, userId, agentIds, version);
  const figures = new Map(found.map((f) => [f.agentId, f]));
  return facts.map(({ agentId, consecutiveFailures, hasLapsedRun, lastHeartbeat }) => {
    const own = figures.get(agentId);
    return {
      agentId,
      status: healthStatus(consecutiveFailures, hasLapsedRun),
      lastHeartbeat,
      consecutiveFailures,
      totalTasks: own?.totalTasks ?? 0,
      successRate: own === undefined ? 0 : successRate(own),
    };
  });
}

export async function readAllHealth(em: EntityManager, userId: string) {
  const agents = await listAgents(em, userId);
  return readHealth(
    em,
    userId,
    agents.map((a) => a.id),
  );
}

/**
 * Clears the failures of an agent in the caller's projects, and lets workers take over its runs whose workers were
 * lost.
 */
export async function resetHealth(app: App, userId: string, agentId: string) {
  await app.db.transaction(async (em) => {
    await resetFailures(em, userId, agentId);
    await app.queue.send(em, 'run', {});
  });
  return existing(await readHealth(app.db.manager, userId, [agentId]), agentId);
}

export async function readOneHealth(em: EntityManager, userId: string, of: FiguresOf) {
  await assertVersion(em, of);
  return existing(await readHealth(em, userId, [of.agentId], of.version), of.agentId);
}

/** Returns the figures of an agent. They are missing if somebody has deleted it since the request was authorised. */
function existing<T>([figures]: T[], agentId: string): T {
  if (figures === undefined) throw notFound('Agent', agentId);
  return figures;
}

export async function readPerformance(em: EntityManager, userId: string, of: FiguresOf, weeks: number | undefined) {
  await assertVersion(em, of);
  const figures = existing(await findFigures(em, userId, [of.agentId], of.version), of.agentId);
  const { averageSeconds, agentId, ...metrics } = figures;
  return {
    agentId,
    metrics: { ...metrics, averageCompletionTime: hoursAndMinutes(averageSeconds), successRate: successRate(figures) },
    ...(weeks === undefined ? {} : { weeks: await listWeeks(em, userId, of, weeks) }),
  };
}

/** Returns the languages of the files in the agent's merged work, the most used first. */
export async function readLanguageSkills(em: EntityManager, userId: string, of: FiguresOf) {
  await assertVersion(em, of);
  const skills = await listSkills(em, userId, of);
  const rate = successRate(existing(await findFigures(em, userId, [of.agentId], of.version), of.agentId));
  return skills
    .sort((a, b) => b.tasks - a.tasks || (a.language < b.language ? -1 : 1))
    .map(({ language, tasks }) => ({
      id: language.toLowerCase().replace(/[^a-z0-9+#]+/g, '-'),
      name: language,
      proficiency: proficiency(tasks, rate),
    }));
}
