import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import type { AgentRow } from '../db/tables/project.ts';
import { changesBetween } from '../domain/audit/changes.ts';
import { Refused } from '../domain/machine.ts';
import { hasRole } from '../domain/member.ts';
import { AppError, notFound, requiresRole } from '../errors.ts';
import { roleIn } from '../projects/member-store.ts';
import { shown } from './operations.ts';
import type { UpdateAgent } from './schemas.ts';
import {
  type AgentView,
  deleteVersions,
  findVisibleAgent,
  hasLiveRuns,
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
): Promise<AgentView> {
  assertNewest(agent);
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
  return shown(app, changed);
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
