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
import { findFigures, findHealthFacts, listFailures, listMergedFiles, listWeeks } from './figures-store.ts';
import { languageOf } from './languages.ts';
import { listAgents } from './store.ts';

/** Health of agents as one caller sees it: only runs in the caller's projects count. Two statements, however many agents. */
export async function readHealth(em: EntityManager, userId: string, agentIds: string[]) {
  // One after the other: in a transaction they share a connection.
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

/** Clears the count of failures in the caller's projects and lets dead runs there be taken over. */
export async function resetHealth(app: App, userId: string, agentId: string) {
  await app.db.transaction(async (em) => {
    await em.query(
      `insert into health_resets (agent_id, project_id) select $1, project_id from members where user_id = $2
       on conflict (agent_id, project_id) do update set at = now()`,
      [agentId, userId],
    );
    await app.queue.send(em, 'run', {});
  });
  return firstOf(await readHealth(app.db.manager, userId, [agentId]));
}

export async function readOneHealth(em: EntityManager, userId: string, agentId: string) {
  return firstOf(await readHealth(em, userId, [agentId]));
}

function firstOf<T>([first]: T[]): T {
  if (first === undefined) throw new Error('an agent that was just read is gone');
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

/** The languages of what the agent's merged work touched, the best known first. */
export async function readSkills(em: EntityManager, userId: string, agentId: string) {
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

/** What its recorded failures suggest, each with the runs that say so; none without evidence. */
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
