import type { EntityManager } from 'typeorm';
import { modelOfRun } from '../agents/model.ts';
import { findAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import type { AboutRun } from '../conversation/about-run.ts';
import type { CheckResult } from '../conversation/ending.ts';
import type { Handoff } from '../conversation/handoff.ts';
import type { AgentRow, RepositoryRow } from '../db/tables/project.ts';
import type { RunRow } from '../db/tables/run.ts';
import type { Limits } from '../domain/budget.ts';
import type { Proof, ProofBase } from '../domain/proof/proof.ts';
import { type Failure, RunFailed } from '../domain/run.ts';
import type { PlanMode } from '../domain/settings.ts';
import type { RefusedHost } from '../environment/command-access.ts';
import type { Environment } from '../environment/environment.ts';
import { AppError } from '../errors.ts';
import { findTriedItem } from '../lab/trial-store.ts';
import { payingForLost } from '../llm/lost.ts';
import type { Model, Tokens } from '../llm/model.ts';
import { costOf } from '../llm/usage.ts';
import { creatorOf, limitsOf } from '../projects/budgets.ts';
import type { Customs } from '../repositories/customs/customs.ts';
import { findRepository } from '../repositories/store.ts';
import type { Journal } from '../runs/journal.ts';
import { wouldReveal } from '../runs/operations.ts';
import { payForAnswer } from '../runs/spend.ts';
import type { ApprovedPlan } from '../runs/waiting/store.ts';
import { getTask, type TaskView } from '../tasks/store.ts';
import type { RetryPolicy } from './retry.ts';
import type { Reverts } from './workspace/revert-pulls.ts';
import type { Workspace } from './workspace/workspace.ts';

/** What a run knows of plans: whether it still has to propose one, and the plan of its task that was approved last. */
export interface Planning {
  mode: PlanMode;
  approved: ApprovedPlan | undefined;
}

/** One repository that a run has open, with everything needed to change it, check it and publish the change. */
export interface Work extends Workspace, AboutRun {
  agent: AgentRow;
  /** When the token for git expires; undefined for a token that does not expire. */
  tokenEndsAt: Date | undefined;
  /** The other repositories that the run has opened. Empty in the `Work` of those repositories. */
  others: Work[];
  journal: Journal;
  /** Retries steps that need the git host or GitHub. */
  retrying: RetryPolicy;
  /** Aborted when this worker has lost its lease. */
  signal: AbortSignal;
  /** How the repository wants its changes written, by its base branch. */
  customs: Customs;
  /** The tree whose set-up may use the network of set-up, because a person allowed it. */
  treeWithApprovedSetup?: string | undefined;
  /** The code is of somebody who may not write in the repository, so what it does says nothing about the repository. */
  isForeign?: boolean;
  /** What set-up prepared for the agent and the checks. */
  environment: Environment;
  /** The hosts that set-up and the agent tried to reach and may not. */
  refused(): RefusedHost[];
  /** Returns what the next run should know; undefined when the model does not say. Set once the conversation begins. */
  handoff?: (failure: Failure) => Promise<Handoff | undefined>;
  /** Whether the run still has to propose a plan. Set once the conversation begins. */
  planning?: Planning;
  /** The changed files that the approved plan does not name; undefined without a plan. */
  unplanned?: string[];
  /** What the task reverts here, by this run or an earlier one; undefined for a task that undoes nothing here. */
  reverts?: Reverts | undefined;
  /** What is known about the files to push, once the agent has finished. */
  evidence?: TreeEvidence;
}

/** What is known about one tree of a repository. For any other tree it is void. */
export interface TreeEvidence {
  tree: string;
  /** The results of the repository's checks. */
  checks: CheckResult[];
  /** What the tests of the change prove; missing when the run changed nothing here. */
  proof?: Proof | undefined;
  /** The base with which that proof compared it. */
  base?: ProofBase | undefined;
  /** Whether a person approved exactly this tree, with what the tests say about it. */
  isApproved?: boolean;
}

/** Returns the repository of the task, then the others in the order in which they were opened. */
export function allWorks(work: Work): Work[] {
  return [work, ...work.others];
}

/** Everything that a run needs, read when its worker begins. */
export interface Assignment {
  run: RunRow;
  task: TaskView;
  agent: AgentRow;
  model: Model;
  repository: RepositoryRow;
  limits: Limits;
}

export interface Limited extends Assignment {
  /** Returns the limits that apply to the next turn. People may change the budget of a task during a run. */
  limitsNow(): Promise<Limits>;
}

/**
 * Reads everything that a run needs.
 * @throws RunFailed when something was deleted or disconnected since the run was queued, or a public issue would show a private repository
 */
export async function findAssignment(app: App, run: RunRow): Promise<Assignment> {
  const em = app.db.manager;
  const task = await getTask(em, run.taskId);
  const agent = await agentOf(em, run);
  if (agent === null && run.kind !== 'prove') throw new RunFailed('internal', 'the agent of this run was deleted');
  const repository = task.repositoryId === null ? null : await findRepository(em, task.repositoryId);
  if (repository === null) throw new RunFailed('repository', 'the repository of the task is no longer connected');
  // A run may have waited, or follow others, since its task was moved or the project's settings were changed.
  if (await wouldReveal(app, task, repository))
    throw new RunFailed(
      'repository',
      'the issue of the task is public, but the task works on a private repository; choose a public repository, or turn on sharePrivateContext in the project settings',
    );
  const limits = await limitsOf(app, run.projectId);
  if (agent === null) return { run, task, repository, limits, ...withoutModel(run) };
  const creatorId = await creatorOf(em, run.projectId);
  const model = paidBy(app, run, creatorId, await modelFor(app, { run, task, agent }));
  return { run, task, agent, repository, model, limits };
}

/** Returns what stands for agent and model in a run that asks no model, so that none has to be configured. */
function withoutModel({ projectId, createdAt }: RunRow): Pick<Assignment, 'agent' | 'model'> {
  const agent: AgentRow = {
    ...{ id: '', projectId, creatorId: null, builtIn: null, name: 'Deckhand', description: '', team: '', model: '' },
    ...{ reasoningEffort: null, maxOutputTokens: null, systemPrompt: '', lineId: '', version: 1, createdAt },
    ...{ previousVersionId: null, isNewest: true, rollout: 100 },
  };
  const reply = () => Promise.reject(new RunFailed('internal', 'a run of this kind asks no model'));
  return { agent, model: { name: '', reply, window: () => undefined } };
}

/** Returns the model of a run. An undo without conflicts asks none, so a missing one only matters when it is asked. */
async function modelFor(app: App, { run, task, agent }: Pick<Assignment, 'run' | 'task' | 'agent'>): Promise<Model> {
  try {
    return await modelOfRun(app, agent, run.projectId);
  } catch (error) {
    if (task.undoOf === null || !(error instanceof AppError)) throw error;
    const reply = async () => {
      throw error;
    };
    return { name: agent.model, reply, window: () => undefined };
  }
}

/** Finds the agent of a run. That of a trial has the prompt and the model that are tried. */
async function agentOf(em: EntityManager, { id, kind, agentId }: RunRow): Promise<AgentRow | null> {
  const agent = agentId === null ? null : await findAgent(em, agentId);
  const tried = kind === 'trial' && agent !== null ? await findTriedItem(em, id) : undefined;
  return tried === undefined || agent === null
    ? agent
    : { ...agent, model: tried.arm.model, systemPrompt: tried.arm.systemPrompt };
}

/**
 * Returns a model whose answers the run pays for as soon as they arrive, whole or not. Whatever happens to the run
 * before it has stored its turn, nobody works for nothing.
 */
function paidBy(app: App, run: RunRow, creatorId: string | null, model: Model): Model {
  const pay = (tokens: Tokens) => {
    const costUsd = costOf(app.config.MODEL_PRICES, model.name, tokens);
    return payForAnswer(app.db, run, creatorId, { ...tokens, model: model.name, costUsd });
  };
  const paying = payingForLost(model, (lost) =>
    pay(lost).catch((error) =>
      app.log.error({ err: error, runId: run.id }, 'the cost of a lost answer was not stored'),
    ),
  );
  return {
    ...paying,
    reply: async (...asked) => {
      const reply = await paying.reply(...asked);
      await pay(reply);
      return reply;
    },
  };
}
