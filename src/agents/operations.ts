import type { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { Agents } from '../db/tables.ts';
import { Refused } from '../domain/machine.ts';
import type { CreateAgent } from './schemas.ts';
import { type AgentView, findVisibleAgent } from './store.ts';

/** An agent of the caller's own; only the caller may change it. */
export async function createAgent(app: App, userId: string, input: z.output<typeof CreateAgent>): Promise<AgentView> {
  const id = newId('agent');
  try {
    await app.db.manager.insert(Agents, { id, projectId: null, creatorId: userId, ...input });
  } catch (error) {
    if (violatedUnique(error) === undefined) throw error;
    throw new Refused(`requires a name that is new among your agents, found ${input.name}`);
  }
  return shown(app, (await findVisibleAgent(app.db.manager, userId, id)) as AgentView);
}

/** An agent without a model of its own shows the service's. */
export function shown(app: App, agent: AgentView): AgentView {
  return { ...agent, model: agent.model || app.config.OPENAI_MODEL };
}
