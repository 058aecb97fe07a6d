import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import {
  healthStatus,
  hoursAndMinutes,
  improvements,
  priority,
  proficiency,
  successRate,
} from '../domain/agent-figures.ts';
import type { FailureCategory } from '../domain/run.ts';
import {
  findFigures,
  findHealthFacts,
  listFailures,
  listMergedFiles,
  listWeeks,
  resetFailures,
} from './figures-store.ts';
import { languageOf } from './languages.ts';
import { listAgents } from './store.ts';

/**
 * Computes the health of agents from their runs in the caller's projects. Needs two statements for any number of
 * agents.
 */
async function readHealth(em: EntityManager, userId: string, agentIds: string[]) {
  // One after the other, because in a transaction they share a connection.
  const facts = await findHealthFacts(em, userId, agentIds);
  const found = await findFigures(em, userId, agentIds);
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
  return firstOf(await readHealth(app.db.manager, userId, [agentId]));
}

export async function readOneHealth(em: EntityManager, userId: string, agentId: string) {
  return firstOf(await readHealth(em, userId, [agentId]));
}

function firstOf<T>([first]: T[]): T {
  if (first === undefined) throw new Error('the figures of the agent are missing');
  return first;
}

export async function readPerformance(em: EntityManager, userId: string, agentId: string, weeks: number | undefined) {
  const figures = firstOf(await findFigures(em, userId, [agentId]));
  const { averageSeconds, agentId: _id, ...metrics } = figures;
  return {
    agentId,
    metrics: { ...metrics, averageCompletionTime: hoursAndMinutes(averageSeconds), successRate: successRate(figures) },
    ...(weeks === undefined ? {} : { weeks: await listWeeks(em, userId, agentId, weeks) }),
  };
}

/** Returns the languages of the files in the agent's merged work, the most used first. */
export async function readLanguageSkills(em: EntityManager, userId: string, agentId: string) {
  const tasksBy = new Map<string, Set<string>>();
  for (const { taskId, path } of await listMergedFiles(em, userId, agentId)) {
    const language = await languageOf(path);
    if (language !== undefined) tasksBy.set(language, (tasksBy.get(language) ?? new Set()).add(taskId));
  }
  const rate = successRate(firstOf(await findFigures(em, userId, [agentId])));
  return [...tasksBy]
    .sort(([a, x], [b, y]) => y.size - x.size || (a < b ? -1 : 1))
    .map(([name, tasks]) => ({
      id: name.toLowerCase().replace(/[^a-z0-9+#]+/g, '-'),
      name,
      proficiency: proficiency(tasks.size, rate),
    }));
}

/** Derives suggestions from the agent's failed runs. Each names the ids of those runs as evidence. */
export async function readSuggestions(em: EntityManager, userId: string, agentId: string) {
  const runsBy = new Map<FailureCategory, string[]>();
  for (const { category, runId } of await listFailures(em, userId, agentId))
    runsBy.set(category, [...(runsBy.get(category) ?? []), runId]);
  const suggestions = [...runsBy].flatMap(([category, evidence]) => {
    const improvement = improvements[category];
    return improvement === undefined ? [] : [{ ...improvement, priority: priority(evidence.length), evidence }];
  });
  return { suggestions: suggestions.sort((a, b) => b.evidence.length - a.evidence.length) };
}
