import type { Language } from 'linguist-languages';
import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { healthStatus, hoursAndMinutes, proficiency, successRate } from '../domain/agent.ts';
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

/** Returns the Linguist name of the language that most likely uses each file extension, such as `.ts`. */
export async function languagesByExtension(): Promise<Map<string, string>> {
  // The package has 830 small modules that take 130 ms to load, so they are loaded only when they are needed.
  return index(Object.values((await import('linguist-languages')) as Record<string, Language>));
}

function index(languages: Language[]): Map<string, string> {
  const best = new Map<string, { name: string; score: number }>();
  for (const language of languages)
    for (const extension of language.extensions ?? []) {
      const score = scoreOf(language, extension);
      if (score > (best.get(extension)?.score ?? -1)) best.set(extension, { name: language.name, score });
    }
  return new Map([...best].map(([extension, { name }]) => [extension, name]));
}

/**
 * Scores a language for an extension. Its main extension counts most. Then languages rank before dialects, and common
 * ones before rare ones.
 */
function scoreOf({ extensions = [], aliases = [], group, codemirrorMode }: Language, extension: string): number {
  const isFirst = extensions[0] === extension;
  const isAlias = aliases.includes(extension.slice(1));
  return 4 * Number(isFirst) + 2 * Number(group === undefined) + Number(codemirrorMode !== undefined) + Number(isAlias);
}

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

/** Tasks counted by one statement. Transactions that change one of them wait for it when they commit. */
const portion = 250;

/**
 * Computes the figures of all agents and the counts of all tasks again, in small transactions, while the service runs.
 * Returns the number of tasks that have figures.
 */
export async function rebuildFigures(em: EntityManager): Promise<number> {
  await replaceLanguages(em);
  let counted = 0;
  for (let ids = await nextTasks(em, ''); ids.length > 0; ids = await nextTasks(em, ids.at(-1) ?? '')) {
    await em.query('select count_tasks($1)', [ids]);
    counted += ids.length;
  }
  const lines: { id: string }[] = await em.query(
    'select line_id as id from agents union select line_id from agent_figures',
  );
  for (const { id } of lines) await em.query('select recount_line($1)', [id]);
  await em.query('select recount_statuses()');
  return counted;
}

/** Returns the ids of tasks with runs, and of those that still have figures. */
async function nextTasks(em: EntityManager, after: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    `select id from (
       (select distinct task_id as id from runs where task_id > $1 order by 1 limit $2)
       union (select distinct task_id from task_figures where task_id > $1 order by 1 limit $2)) ids
     order by id limit $2`,
    [after, portion],
  );
  return rows.map((r) => r.id);
}

/** Stores the languages of the installed package, which may be newer than those stored. */
async function replaceLanguages(em: EntityManager): Promise<void> {
  const languages = await languagesByExtension();
  await em.query(
    `with installed as (select * from unnest($1::text[], $2::text[]) i (extension, name)),
     gone as (delete from languages where extension not in (select extension from installed))
     insert into languages select * from installed on conflict (extension) do update set name = excluded.name`,
    [[...languages.keys()], [...languages.values()]],
  );
}
