import type { EntityManager } from 'typeorm';
import { modelOfRun } from '../agents/model.ts';
import { findAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { Refused } from '../domain/machine.ts';
import { mayReveal } from '../domain/private-content.ts';
import { AppError } from '../errors.ts';
import { findProject } from '../projects/store.ts';
import { credentialFor, noCredential } from '../repositories/credentials.ts';
import { findPrimary, findRepository } from '../repositories/store.ts';
import { getTask, type TaskView } from '../tasks/store.ts';

/**
 * Returns why an agent could not work on a task now: Refused (409) when the repository forbids it, AppError 503 when a
 * model or a git credential is missing. Changes nothing. Does not check for a missing agent or repository, because the
 * state machine of the task refuses the start in that case. May send requests to GitHub, so call it outside of
 * transactions.
 */
export async function startProblem(
  app: App,
  { taskId, owner }: { taskId: string; owner?: string | undefined },
): Promise<Refused | AppError | undefined> {
  const task = await getTask(app.db.manager, taskId);
  return startProblemOf(app, { ...task, owner: owner ?? task.owner });
}

type Startable = Pick<TaskView, 'owner' | 'projectId' | 'repositoryId' | 'issueRepositoryId'>;

/** Does the same as `startProblem` for a task that need not exist yet. */
export async function startProblemOf(app: App, task: Startable): Promise<Refused | AppError | undefined> {
  const em = app.db.manager;
  const agent = task.owner === null ? null : await findAgent(em, task.owner);
  const repository = await repositoryFor(em, task);
  if (agent === null || repository === null) return undefined;
  if (await wouldReveal(app, task, repository))
    return new Refused(
      'The issue of this task is public, but the task works on a private repository. Choose a public repository, or turn on sharePrivateContext in the project settings.',
    );
  if (repository.isArchived)
    return new Refused(`The repository ${repository.name} is archived and cannot be changed. Unarchive it first.`);
  try {
    await modelOfRun(app, agent, task.projectId);
    return (await credentialFor(app, repository)).kind === 'none' ? noCredential() : undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/**
 * Finds the repository that a run of the task would work on: the task's own, otherwise the primary one of its project.
 */
export async function repositoryFor(em: EntityManager, task: Startable): Promise<RepositoryRow | null> {
  return task.repositoryId === null ? findPrimary(em, task.projectId) : findRepository(em, task.repositoryId);
}

/** Returns whether a public issue would show what a run reads in a private repository. */
async function wouldReveal(app: App, task: Startable, repository: RepositoryRow): Promise<boolean> {
  if (task.issueRepositoryId === null) return false;
  const ofIssue = await findRepository(app.db.manager, task.issueRepositoryId);
  return ofIssue !== null && !mayReveal(repository, ofIssue, await findProject(app.db.manager, task.projectId));
}
