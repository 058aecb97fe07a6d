import type { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { Refused } from '../domain/machine.ts';
import type { CreateAgent } from './schemas.ts';
import { type AgentView, findVisibleAgent, insertAgent } from './store.ts';

/**
 * Creates an agent that belongs to the caller.
 * @throws Refused for a name that another agent of the caller has
 */
export async function createAgent(app: App, userId: string, input: z.output<typeof CreateAgent>): Promise<AgentView> {
  const id = newId('agent');
  try {
    await insertAgent(app.db.manager, { id, projectId: null, creatorId: userId, ...input });
  } catch (error) {
    if (violatedUnique(error) === undefined) throw error;
    throw new Refused(`You already have an agent named ${input.name}. Choose another name.`);
  }
  app.audit.note({ name: [null, input.name] });
  return shown(app, (await findVisibleAgent(app.db.manager, userId, id)) as AgentView);
}

/**
 * Converts an agent to the form that the API returns. An agent without a model shows the default model of the service.
 */
export function shown(app: App, agent: AgentView): AgentView {
  return { ...agent, model: agent.model || app.config.OPENAI_MODEL };
}
