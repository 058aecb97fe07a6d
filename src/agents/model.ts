import type { App } from '../app.ts';
import type { AgentRow } from '../db/tables/project.ts';
import { AppError, notConfigured } from '../errors.ts';
import { payingForLost } from '../llm/lost.ts';
import type { Model, Tokens } from '../llm/model.ts';
import { costOf } from '../llm/usage.ts';
import { addPersonSpend, assertPersonDay, creatorOf } from '../projects/budgets.ts';
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
 * Does the same for calls that belong to no run. Their costs count against the budget of the person who created the project,
 * and beyond it `reply` throws an AppError 429.
 * @throws AppError 503 naming the missing setting
 */
export async function modelFor(app: App, agent: ModelChoice, projectId: string): Promise<Model> {
  return paidBy(app, await modelOfRun(app, agent, projectId), await creatorOf(app.db.manager, projectId));
}

function paidBy(app: App, model: Model, userId: string | null): Model {
  if (userId === null) return model;
  const pay = (tokens: Tokens) =>
    addPersonSpend(app.db.manager, userId, costOf(app.config.MODEL_PRICES, model.name, tokens) ?? 0);
  const payLost = (tokens: Tokens) =>
    pay(tokens).catch((error) => app.log.error({ err: error, userId }, 'the cost of a lost answer was not stored'));
  const paying = payingForLost(model, payLost);
  return {
    ...paying,
    reply: async (...asked) => {
      await assertPersonDay(app, userId);
      const reply = await paying.reply(...asked);
      await pay(reply);
      return reply;
    },
  };
}

/**
 * Returns the model for writing about an agent, without the agent's own limits on answers. An agent that belongs to a
 * person uses the key of the service, because it has no project. Undefined when no model or key is configured.
 */
export async function modelIfConfigured(
  app: App,
  { model, projectId, creatorId }: Pick<AgentRow, 'model' | 'projectId' | 'creatorId'>,
): Promise<Model | undefined> {
  try {
    if (projectId !== null) return await modelFor(app, { model }, projectId);
    return paidBy(app, await modelOfRun(app, { model }, null), creatorId);
  } catch (error) {
    if (error instanceof AppError && error.status === 503) return undefined;
    throw error;
  }
}
