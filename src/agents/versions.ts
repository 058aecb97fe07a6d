import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { type AgentRow, Agents } from '../db/tables.ts';
import { Refused } from '../domain/machine.ts';
import { hasRole } from '../domain/member.ts';
import { AppError, badField, notFound, requiresRole } from '../errors.ts';
import { roleIn } from '../projects/member-store.ts';
import { shown } from './operations.ts';
import type { EvolveAgent, UpdateAgent } from './schemas.ts';
import { type AgentView, findVisibleAgent, hasLiveRuns, moveQueuedRuns, moveTasks } from './store.ts';

/** A project's agents are changed by its admins, an agent of one's own by its creator alone. @throws AppError 403 */
export async function assertMayChange(em: EntityManager, agent: AgentRow, userId: string): Promise<void> {
  if (agent.projectId === null) {
    if (agent.creatorId !== userId) throw new AppError(403, `Only the creator may change agent ${agent.id}`);
    return;
  }
  const role = await roleIn(em, agent.projectId, userId);
  if (role === undefined || !hasRole(role, 'admin')) throw requiresRole('admin');
}

function assertNewest(agent: AgentRow, what: string): void {
  if (!agent.isNewest)
    throw new Refused(`${what} requires the newest version of an agent, found version ${agent.version}`);
}

export async function updateAgent(
  app: App,
  agent: AgentView,
  userId: string,
  input: z.output<typeof UpdateAgent>,
): Promise<AgentView> {
  assertNewest(agent, 'changing');
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  try {
    if (Object.keys(given).length > 0) await app.db.manager.update(Agents, { id: agent.id }, given);
  } catch (error) {
    throw nameTaken(error, input.name) ?? error;
  }
  const changed = await findVisibleAgent(app.db.manager, userId, agent.id);
  if (changed === undefined) throw notFound('Agent', agent.id);
  return shown(app, changed);
}

function nameTaken(error: unknown, name: string | undefined): Refused | undefined {
  const isTaken = ['agents_project_name', 'agents_creator_name'].includes(violatedUnique(error) ?? '');
  return isTaken ? new Refused(`requires a name that no other agent has, found ${name}`) : undefined;
}

/** Deletes an agent with its earlier versions; its tasks that are not done lose their owner. */
export async function deleteAgent(app: App, agent: AgentView): Promise<void> {
  await app.db.transaction(async (em) => {
    await em.query('select 1 from agents where id = $1 for update', [agent.id]);
    if (await hasLiveRuns(em, agent.id))
      throw new Refused('delete requires an agent without a queued or running run, found one; cancel it first');
    await em.query(
      `with recursive chain (id) as (
         select $1::text union select a.previous_version_id from agents a join chain c on a.id = c.id
         where a.previous_version_id is not null)
       delete from agents where id in (select id from chain)`,
      [agent.id],
    );
  });
}

/**
 * Makes a new version of an agent. Tasks that are not done move to it, one that runs when its run ends; the old version
 * stays readable.
 */
export async function evolveAgent(
  app: App,
  agent: AgentView,
  userId: string,
  input: z.output<typeof EvolveAgent>,
): Promise<AgentView> {
  const id = newId('agent');
  await app.db.transaction(async (em) => {
    const old = await em.findOneOrFail(Agents, { where: { id: agent.id }, lock: { mode: 'pessimistic_write' } });
    assertNewest(old, 'evolving');
    await em.update(Agents, { id: old.id }, { isNewest: false });
    const { createdAt: _created, ...kept } = old;
    const systemPrompt = input.newSystemPrompt ?? withImprovements(old.systemPrompt, input.improvements ?? []);
    if (systemPrompt.length > 50_000)
      throw badField('improvements', 'improvements: the prompt with them must have at most 50000 characters');
    await em.insert(Agents, {
      ...kept,
      id,
      version: old.version + 1,
      previousVersionId: old.id,
      isNewest: true,
      systemPrompt,
    });
    await moveTasks(em, old.id, id);
    await moveQueuedRuns(em, old.id, id);
  });
  return shown(app, (await findVisibleAgent(app.db.manager, userId, id)) as AgentView);
}

function withImprovements(prompt: string, improvements: string[]): string {
  return [prompt, '', 'Improvements:', ...improvements.map((text) => `- ${text}`)].join('\n').trimStart();
}
