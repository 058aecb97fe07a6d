import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import type { AgentRow } from '../db/tables/project.ts';
import { hasRole } from '../domain/agent.ts';
import { changesBetween } from '../domain/audit.ts';
import { Refused } from '../domain/machine.ts';
import { AppError, notFound, requiresRole } from '../errors.ts';
import { type Access, anyUser, type Caller, idOrEmpty } from '../http/access/access.ts';
import { roleIn } from '../projects/member-store.ts';
import { modelWarning } from './model-names.ts';
import type { CreateAgent, UpdateAgent } from './schemas.ts';
import {
  type AgentView,
  deleteVersions,
  findVisibleAgent,
  hasAllAgents,
  hasLiveRuns,
  insertAgent,
  lockAgent,
  maxOwnAgents,
  moveQueuedRuns,
  moveTasks,
  updateAgentRow,
  worksFor,
} from './store.ts';

/**
 * Creates an agent that belongs to the caller.
 * @throws Refused for a name that another agent of the caller has
 */
export async function createAgent(app: App, userId: string, input: z.output<typeof CreateAgent>): Promise<ShownAgent> {
  const id = newId('agent');
  const aboutModel = await modelShown(app, { ...input, projectId: null });
  return app.db.transaction(async (em) => {
    if (await hasAllAgents(em, userId))
      throw new Refused(
        `You have ${maxOwnAgents} agents, the most that a person may have. Delete one that you no longer need.`,
      );
    try {
      await insertAgent(em, { id, projectId: null, creatorId: userId, ...input });
    } catch (error) {
      if (violatedUnique(error) === undefined) throw error;
      throw new Refused(`You already have an agent named ${input.name}. Choose another name.`);
    }
    app.audit.note({ name: [null, input.name] });
    return { ...((await findVisibleAgent(em, userId, id)) as AgentView), ...aboutModel };
  });
}

/** An agent as the API returns it. */
export interface ShownAgent extends AgentView {
  modelWarning: string | null;
}

/** Converts an agent to the form that the API returns. May ask the model server, so call it outside of transactions. */
export async function shown(app: App, agent: AgentView): Promise<ShownAgent> {
  return { ...agent, ...(await modelShown(app, agent)) };
}

/** An agent without a model has the default model of the service. */
async function modelShown(app: App, { model, projectId }: Pick<AgentRow, 'model' | 'projectId'>) {
  const name = model || app.config.OPENAI_MODEL;
  return { model: name, modelWarning: await modelWarning(app, { model: name, projectId }) };
}

/**
 * Checks that a user may change an agent. Admins may change the agents of their project; only its creator may change a
 * person's agent.
 * @throws AppError 403
 */
export async function assertMayChange(em: EntityManager, agent: AgentRow, userId: string): Promise<void> {
  if (agent.projectId === null) {
    if (agent.creatorId !== userId) throw new AppError(403, `Only the creator may change agent ${agent.id}`);
    return;
  }
  const role = await roleIn(em, agent.projectId, userId);
  if (role === undefined || !hasRole(role, 'admin')) throw requiresRole('admin');
}

/** @throws Refused for an old version */
export function assertNewest(agent: AgentRow): void {
  if (!agent.isNewest)
    throw new Refused(
      `Only the newest version of an agent can be changed, and version ${agent.version} of ${agent.name} has been replaced.`,
    );
}

/**
 * Changes the given fields of an agent.
 * @throws Refused for an old version, and for a name that is taken
 */
export async function updateAgent(
  app: App,
  agent: AgentView,
  userId: string,
  input: z.output<typeof UpdateAgent>,
): Promise<ShownAgent> {
  assertNewest(agent);
  const { projectId } = agent;
  const aboutModel = await modelShown(app, { model: input.model ?? agent.model, projectId });
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  await app.db.transaction(async (em) => {
    const before = await lockAgent(em, agent.id);
    assertNewest(before);
    try {
      await updateAgentRow(em, agent.id, given);
    } catch (error) {
      throw nameTaken(error, input.name) ?? error;
    }
    const after: AgentRow = { ...before, ...given };
    if (after.rollout !== before.rollout) await shareWork(em, after);
    app.audit.note(changesBetween(before, after, Object.keys(given) as (keyof AgentRow)[]));
  });
  const changed = await findVisibleAgent(app.db.manager, userId, agent.id);
  if (changed === undefined) throw notFound('Agent', agent.id);
  return { ...changed, ...aboutModel };
}

/**
 * Moves work to one of the two newest versions when it takes all tasks, that is, when the rollout is 0 or 100. For
 * other values the version is chosen for each run when it is queued.
 */
async function shareWork(em: EntityManager, newest: AgentRow): Promise<void> {
  const { id, previousVersionId, rollout } = newest;
  if (previousVersionId === null) return;
  if (rollout === 100) await moveTasks(em, id);
  if (rollout === 100 || rollout === 0) await moveQueuedRuns(em, id, rollout === 100 ? id : previousVersionId);
}

function nameTaken(error: unknown, name: string | undefined): Refused | undefined {
  const isTaken = ['agents_project_name', 'agents_creator_name'].includes(violatedUnique(error) ?? '');
  return isTaken ? new Refused(`Another agent is already named ${name}. Choose another name.`) : undefined;
}

/**
 * Deletes an agent with its earlier versions. Its tasks lose their owner.
 * @throws Refused while one of its runs is live
 */
export async function deleteAgent(app: App, agent: AgentView): Promise<void> {
  await app.db.transaction(async (em) => {
    await lockAgent(em, agent.id);
    if (await hasLiveRuns(em, agent.id))
      throw new Refused('The agent has an unfinished run. Cancel it before you delete the agent.');
    await deleteVersions(em, agent.id);
    app.audit.note({ name: [agent.name, null] });
  });
}

/**
 * Finds the agent in the path. An agent can belong to a person instead of a project, so a separate rule decides who
 * sees it.
 */
export const onAgent: Access<{ user: Caller; agent: AgentView }> = {
  kind: 'object',
  role: 'viewer',
  names: 'id',
  load: async (app, asked) => {
    const { user } = await anyUser.load(app, asked);
    const id = asked.params.id ?? '';
    const agent = await findVisibleAgent(app.db.manager, user.id, idOrEmpty(id));
    if (agent === undefined) throw notFound('Agent', id);
    return { user, agent };
  },
};

/** Finds an agent that works for the caller: their own, or one of a project in which they are more than a viewer. */
export const onWorkingAgent: typeof onAgent = {
  ...onAgent,
  role: 'member',
  load: async (app, asked) => {
    const found = await onAgent.load(app, asked);
    if (!(await worksFor(app.db.manager, found.user.id, found.agent.id))) throw requiresRole('member');
    return found;
  },
};

/** Finds an agent that the caller may change. */
export const onChangeableAgent: typeof onAgent = {
  ...onAgent,
  role: 'admin',
  load: async (app, asked) => {
    const found = await onAgent.load(app, asked);
    await assertMayChange(app.db.manager, found.agent, found.user.id);
    return found;
  },
};
