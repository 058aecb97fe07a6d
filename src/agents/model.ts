import type { App } from '../app.ts';
import type { AgentRow } from '../db/tables/project.ts';
import { AppError, notConfigured } from '../errors.ts';
import { payingForLost } from '../llm/lost.ts';
import type { Model, Tokens } from '../llm/model.ts';
import { costOf } from '../llm/usage.ts';
import {
  addPersonSpend,
  assertDay,
  creatorOf,
  dayIsOver,
  type Paid,
  type Purpose,
  payForCall,
  personDayIsOver,
} from '../projects/budgets.ts';
import { revealSecret } from '../projects/secrets.ts';

/** An agent's settings for its model. */
type ModelChoice = Pick<AgentRow, 'model'> & Partial<Pick<AgentRow, 'reasoningEffort' | 'maxOutputTokens'>>;

/**
 * Returns the model of an agent, or the default model, for a run, which counts its costs itself. The key is that of the
 * project or otherwise of the service.
 * @throws AppError 503 naming the missing setting
 */
export async function modelOfRun(app: App, agent: ModelChoice, projectId: string | null): Promise<Model> {
  const name = agent.model || app.config.OPENAI_MODEL;
  if (name === '') throw notConfigured('No model is configured: set OPENAI_MODEL or choose a model for the agent');
  const own = projectId === null ? undefined : await revealSecret(app, projectId, 'model_token');
  const key = own ?? app.config.OPENAI_API_KEY;
  if (key === undefined)
    throw notConfigured('No model key is configured: set OPENAI_API_KEY, or the model token of the project');
  const { reasoningEffort, maxOutputTokens } = agent;
  return app.models.withKey(name, key, {
    effort: reasoningEffort ?? undefined,
    maxOutputTokens: maxOutputTokens ?? undefined,
  });
}

/**
 * Does the same for calls that belong to no run. They count for the day of the project, with its runs, and for what they are for. Beyond its budget,
 * or that of the person who created it, `reply` throws an AppError 429.
 * @throws AppError 503 naming the missing setting
 */
export async function modelFor(
  app: App,
  agent: ModelChoice & Partial<Pick<AgentRow, 'id'>>,
  projectId: string,
  purpose: Purpose,
): Promise<Model> {
  const creatorId = await creatorOf(app.db.manager, projectId);
  const worker = { projectId, agentId: agent.id ?? null, ...purpose };
  return paidBy(app, await modelOfRun(app, agent, projectId), {
    usedUp: () => dayIsOver(app, projectId),
    pay: (usage) => payForCall(app.db, worker, creatorId, usage),
  });
}

interface Payer {
  /** Returns a sentence if a budget of the day is used up. */
  usedUp: () => Promise<string | undefined>;
  pay: (usage: Paid) => Promise<void>;
}

function paidBy(app: App, model: Model, { usedUp, pay }: Payer): Model {
  const payFor = (tokens: Tokens) =>
    pay({ ...tokens, model: model.name, costUsd: costOf(app.config.MODEL_PRICES, model.name, tokens) });
  const paying = payingForLost(model, (tokens) =>
    payFor(tokens).catch((error) => app.log.error({ err: error }, 'the cost of a lost answer was not stored')),
  );
  return {
    ...paying,
    reply: async (...asked) => {
      assertDay(await usedUp());
      const reply = await paying.reply(...asked);
      await payFor(reply);
      return reply;
    },
  };
}

/**
 * Returns the model for writing about an agent for a person, without the agent's own limits on answers. An agent that belongs to a
 * person uses the key of the service, because it has no project. Undefined when no model or key is configured.
 */
export async function modelIfConfigured(
  app: App,
  { id, model, projectId, creatorId }: Pick<AgentRow, 'id' | 'model' | 'projectId' | 'creatorId'>,
  userId: string,
): Promise<Model | undefined> {
  try {
    if (projectId !== null) return await modelFor(app, { id, model }, projectId, { userId });
    const own = await modelOfRun(app, { model }, null);
    if (creatorId === null) return own;
    return paidBy(app, own, {
      usedUp: () => personDayIsOver(app, creatorId),
      pay: ({ costUsd }) => addPersonSpend(app.db.manager, creatorId, costUsd ?? 0),
    });
  } catch (error) {
    if (error instanceof AppError && error.status === 503) return undefined;
    throw error;
  }
}
