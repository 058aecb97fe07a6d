import { randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { modelOfRun } from '../agents/model.ts';
import { type AgentView, findVisibleAgent, mayContinue } from '../agents/store.ts';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { hasRole } from '../domain/agent.ts';
import { seededRandom } from '../domain/forecast/draws.ts';
import { promptHash } from '../domain/lab/prompt-hash.ts';
import { Refused } from '../domain/machine.ts';
import { badField, notFound, requiresRole } from '../errors.ts';
import { idOrEmpty } from '../http/access/access.ts';
import { roleIn } from '../projects/member-store.ts';
import { credentialFor, noCredential } from '../repositories/credentials.ts';
import { findRepository } from '../repositories/store.ts';
import { findBenchmark, listUsableItems } from './benchmark-store.ts';
import { findTrial, insertTrial, type TrialArm, type TrialItem } from './trial-store.ts';
import { showTrials, type TrialView } from './trial-view.ts';

/** How many items a trial has if nobody says. */
export const usualItems = 20;

/** What somebody asks to try. */
export interface TrialRequest {
  repositoryId: string;
  items: number;
  /** Another agent, or another version, which tries the same items. */
  against?: string | undefined;
  /** Another model than that of the agent. */
  model?: string | undefined;
  /** A system prompt that the agent does not have yet. The agent itself is the other one then, if none is named. */
  systemPrompt?: string | undefined;
}

/** A request whose parts were found. */
export interface FoundTrial {
  repository: RepositoryRow;
  arms: TrialArm[];
  items: Omit<TrialItem, 'place'>[];
}

/**
 * Starts a trial: the agent tries items of the repository's benchmark in a random order. A job queues its runs.
 * @throws AppError 400, 403, 404 for what cannot be tried, 503 when a model or a git credential is missing; Refused without a
 * benchmark, and while another trial of the repository runs
 */
export async function startTrial(
  app: App,
  agent: AgentView,
  userId: string,
  { budgetUsd, ...asked }: TrialRequest & { budgetUsd: number },
): Promise<TrialView> {
  const { repository, arms, items } = await findParts(app, agent, userId, asked);
  const [ours, theirs] = arms;
  if (ours !== undefined && theirs !== undefined && isSame(ours, theirs))
    throw badField('against', 'against must differ from what is tried: in the agent, its prompt or the model');
  if (items.length === 0) throw new Refused(await whyNoItems(app.db.manager, repository));
  for (const { model } of arms) await modelOfRun(app, { model }, repository.projectId);
  if ((await credentialFor(app, repository)).kind === 'none') throw noCredential();
  const id = newId('trial');
  const seed = randomBytes(8).toString('hex');
  const { projectId } = repository;
  const trial = { id, projectId, repositoryId: repository.id, agentId: agent.id, startedBy: userId, seed, budgetUsd };
  try {
    await app.db.transaction(async (em) => {
      const chosen = shuffled(items, seed).slice(0, asked.items);
      const numbered = chosen.map((item, i) => ({ ...item, place: i + 1 }));
      await insertTrial(em, trial, arms, numbered);
      await app.queue.send(em, 'agentTrial', { projectId, agentTrialId: id }, { key: id });
      app.audit.note({ trial: [null, id], items: [null, chosen.length], budget: [null, { costUsd: budgetUsd }] });
    });
  } catch (error) {
    if (violatedUnique(error) !== 'agent_trials_running') throw error;
    throw new Refused('A trial on this repository is running. Wait until it has ended, or cancel it.');
  }
  return showTrial(app, id);
}

async function showTrial(app: App, id: string): Promise<TrialView> {
  const trial = await findTrial(app.db.manager, id);
  const [view] = trial === undefined ? [] : await showTrials(app.db.manager, [trial]);
  if (view === undefined) throw notFound('Trial', id);
  return view;
}

/**
 * Finds what a request names. There may be no items.
 * @throws AppError 400, 403
 */
export async function findParts(app: App, agent: AgentView, userId: string, asked: TrialRequest): Promise<FoundTrial> {
  const em = app.db.manager;
  const repository = await findRepository(em, idOrEmpty(asked.repositoryId));
  const role = repository === null ? undefined : await roleIn(em, repository.projectId, userId);
  if (repository === null || role === undefined)
    throw badField('repositoryId', 'repositoryId must be a repository of one of your projects');
  if (!hasRole(role, 'admin')) throw requiresRole('admin');
  if (!(await mayContinue(em, agent.id, repository.projectId)))
    throw badField('repositoryId', `repositoryId must be a repository of a project in which ${agent.name} can work`);
  const arms = [armOf(app, agent, asked)];
  const other = await otherOf(app, agent, userId, asked);
  if (other !== undefined) {
    if (!(await mayContinue(em, other.id, repository.projectId)))
      throw badField('against', `against must be an agent that can work in the project of ${repository.name}`);
    arms.push({ ...armOf(app, other, {}), arm: 1 });
  }
  const items = (await listUsableItems(em, repository.id)).map(
    ({ id: itemId, title, text, baseSha, solutionSha, tests }) => ({
      ...{ itemId, title, text, baseSha, solutionSha, tests },
    }),
  );
  return { repository, arms, items };
}

/** @throws AppError 404 */
async function otherOf(
  app: App,
  agent: AgentView,
  userId: string,
  { against, systemPrompt }: TrialRequest,
): Promise<AgentView | undefined> {
  if (against === undefined) return systemPrompt === undefined ? undefined : agent;
  const other = await findVisibleAgent(app.db.manager, userId, idOrEmpty(against));
  if (other === undefined) throw badField('against', 'against must be an agent that you can see');
  return other;
}

function armOf(
  app: App,
  agent: AgentView,
  { model, systemPrompt = agent.systemPrompt }: Pick<TrialRequest, 'model' | 'systemPrompt'>,
): TrialArm {
  return {
    arm: 0,
    agentId: agent.id,
    version: agent.version,
    model: model || agent.model || app.config.OPENAI_MODEL,
    systemPrompt,
    promptHash: promptHash(systemPrompt),
  };
}

function isSame(a: TrialArm, b: TrialArm): boolean {
  return a.agentId === b.agentId && a.model === b.model && a.promptHash === b.promptHash;
}

async function whyNoItems(em: EntityManager, { id, name }: RepositoryRow): Promise<string> {
  const benchmark = await findBenchmark(em, id);
  if (benchmark === undefined)
    return `${name} has no benchmark. Start one with POST /repositories/${id}/benchmark, or on the page of the repository.`;
  if (benchmark.status === 'harvesting')
    return `The benchmark of ${name} is being harvested and has no usable item yet. Try again in a few minutes.`;
  return `The benchmark of ${name} has no usable item that is switched on.`;
}

/** Returns things in an order that follows from a seed (Fisher and Yates). */
function shuffled<T>(things: readonly T[], seed: string): T[] {
  const random = seededRandom(seed);
  const all = [...things];
  for (let last = all.length - 1; last > 0; last--) {
    const at = Math.floor(random.uniform() * (last + 1));
    [all[last], all[at]] = [all[at] as T, all[last] as T];
  }
  return all;
}
