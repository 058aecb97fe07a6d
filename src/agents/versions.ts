import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import type { AgentRow } from '../db/tables/project.ts';
import { changesBetween } from '../domain/audit/changes.ts';
import { Refused } from '../domain/machine.ts';
import { hasRole } from '../domain/member.ts';
import { AppError, badField, notFound, requiresRole } from '../errors.ts';
import { roleIn } from '../projects/member-store.ts';
import { shown } from './operations.ts';
import type { EvolveAgent, UpdateAgent } from './schemas.ts';
import {
  type AgentView,
  deleteVersions,
  findVisibleAgent,
  hasLiveRuns,
  insertAgent,
  lockAgent,
  moveQueuedRuns,
  moveTasks,
  updateAgentRow,
} from './store.ts';

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

function assertNewest(agent: AgentRow): void {
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
): Promise<AgentView> {
  assertNewest(agent);
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const before = await lockAgent(app.db.manager, agent.id);
  try {
    await updateAgentRow(app.db.manager, agent.id, given);
  } catch (error) {
    throw nameTaken(error, input.name) ?? error;
  }
  const changed = await findVisibleAgent(app.db.manager, userId, agent.id);
  if (changed === undefined) throw notFound('Agent', agent.id);
  app.audit.note(changesBetween<AgentRow>(before, changed, Object.keys(given) as (keyof AgentRow)[]));
  return shown(app, changed);
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
 * Creates a new version of an agent. Its unfinished tasks move to the new version; a running task moves when its run
 * ends. The old version can still be read.
 * @throws Refused for an old version
 */
export async function evolveAgent(
  app: App,
  agent: AgentView,
  userId: string,
  input: z.output<typeof EvolveAgent>,
): Promise<AgentView> {
  const id = newId('agent');
  await app.db.transaction(async (em) => {
    const old = await lockAgent(em, agent.id);
    assertNewest(old);
    await updateAgentRow(em, old.id, { isNewest: false });
    const { createdAt: _created, ...kept } = old;
    const systemPrompt = input.newSystemPrompt ?? withImprovements(old.systemPrompt, input.improvements ?? []);
    if (systemPrompt.length > 50_000)
      throw badField(
        'improvements',
        'improvements: the system prompt together with them must have at most 50000 characters',
      );
    await insertAgent(em, {
      ...kept,
      id,
      version: old.version + 1,
      previousVersionId: old.id,
      isNewest: true,
      systemPrompt,
    });
    await moveTasks(em, old.id, id);
    await moveQueuedRuns(em, old.id, id);
    app.audit.note({ id: [old.id, id], version: [old.version, old.version + 1] });
  });
  return shown(app, (await findVisibleAgent(app.db.manager, userId, id)) as AgentView);
}

function withImprovements(prompt: string, improvements: string[]): string {
  return [prompt, '', 'Improvements:', ...improvements.map((text) => `- ${text}`)].join('\n').trimStart();
}
