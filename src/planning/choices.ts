import { listAgents, listProjectAgents } from '../agents/store.ts';
import type { App } from '../app.ts';
import type { AgentRow, RepositoryRow } from '../db/tables/project.ts';
import { mayReveal } from '../domain/private-content.ts';
import { findProject } from '../projects/store.ts';
import { listProjectRepositories } from '../repositories/store.ts';
import type { Draft, Session } from './store.ts';

/** The agents and repositories that a plan can assign to its tasks. */
export interface Choices {
  /** The agents that can work in the project and that the person can use. */
  agents: AgentRow[];
  /** The repositories of the project, those that the plan is for first. */
  repositories: RepositoryRow[];
  projectId: string;
  userId: string | null;
}

export async function choicesOf(app: App, session: Session, userId: string | null): Promise<Choices> {
  const { projectId } = session;
  const em = app.db.manager;
  const agents = userId === null ? await listProjectAgents(em, projectId) : await listAgents(em, userId, projectId);
  const planned = await plannedRepositories(app, session);
  const others = (await listNameable(app, session)).filter((r) => !planned.some(({ id }) => id === r.id));
  return { agents, repositories: [...planned, ...others], projectId, userId };
}

/** Returns the repositories that a plan is for, in their order. */
export async function plannedRepositories(app: App, session: Draft): Promise<RepositoryRow[]> {
  const all = await listNameable(app, session);
  return session.repositoryIds.flatMap((id) => all.find((r) => r.id === id) ?? []);
}

/**
 * Returns the repositories of the project that a plan may read and name. The plan of an issue is shown in the issue's
 * repository, so a public one keeps private repositories out.
 */
export async function listNameable(
  app: App,
  { projectId, issueRepositoryId, issueNumber }: Draft,
): Promise<RepositoryRow[]> {
  const all = await listProjectRepositories(app.db.manager, projectId);
  if (issueNumber === null) return all;
  // An issue in a repository that is no longer connected may be public.
  const shownIn = all.find(({ id }) => id === issueRepositoryId) ?? { isPrivate: false };
  const project = await findProject(app.db.manager, projectId);
  return all.filter((repository) => mayReveal(repository, shownIn, project));
}

/**
 * Finds the agent that a name refers to: the project's own, otherwise the person's own, otherwise another one. Returns
 * undefined when the name is unknown or ambiguous.
 */
export function chosenAgent({ agents, projectId, userId }: Choices, name: string): AgentRow | undefined {
  const rank = (agent: AgentRow) => (agent.projectId === projectId ? 1 : agent.creatorId === userId ? 2 : 3);
  const named = agents.filter((agent) => isSameName(agent.name, name));
  const best = Math.min(...named.map(rank));
  const [found, ...others] = named.filter((agent) => rank(agent) === best);
  return others.length === 0 ? found : undefined;
}

/** Finds the repository with this name. Returns undefined when the name is unknown or ambiguous. */
export function chosenRepository({ repositories }: Choices, name: string): RepositoryRow | undefined {
  const [found, ...others] = repositories.filter((repository) => isSameName(repository.name, name));
  return others.length === 0 ? found : undefined;
}

function isSameName(name: string, given: string): boolean {
  return name.trim().toLowerCase() === given.trim().toLowerCase();
}
