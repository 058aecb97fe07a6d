import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { AgentRow } from '../../db/tables/project.ts';
import { Refused } from '../../domain/machine.ts';
import { AppError } from '../../errors.ts';
import { startTaskIn } from '../../runs/operations.ts';
import { startProblemOf } from '../../runs/start-problem.ts';
import { insertTaskOfIssue } from '../issue-task.ts';
import { auditedAct, type GivenCommand, issueOf } from './given-command.ts';
import { seenAndHandled } from './update-text.ts';

/** Creates the task of an issue, or returns the existing one. Two simultaneous commands create one task. */
export function createForIssue(
  app: App,
  given: GivenCommand,
  status: 'backlog' | 'ready',
  agent: AgentRow | undefined,
): Promise<string> {
  return app.db.transaction(async (em) => {
    const taskId = await createForIssueIn(app, em, given, status, agent);
    if (status === 'backlog') await given.remember(em);
    return taskId;
  });
}

async function createForIssueIn(
  app: App,
  em: EntityManager,
  given: GivenCommand,
  status: 'backlog' | 'ready',
  agent: AgentRow | undefined,
): Promise<string> {
  const { repository, userId } = given;
  const owner = agent?.id;
  const task = { status, owner, createdBy: userId };
  const { id, title, isNew } = await insertTaskOfIssue(app, em, repository, issueOf(given), task);
  app.audit.about({ type: 'task', id, projectId: repository.projectId });
  app.audit.note(isNew ? { title: [null, title], status: [null, status], owner: [null, owner] } : {});
  return id;
}

/**
 * Creates the task of an issue and starts it, in one transaction. If it cannot start, it is only created, so that people
 * see the task and its problem.
 */
export async function createAndStart(
  app: App,
  given: GivenCommand,
  { agent, ...setting }: { agent: AgentRow; planFirst?: boolean },
): Promise<void> {
  const { id: repositoryId, projectId } = given.repository;
  const task = { owner: agent.id, projectId, repositoryId, issueRepositoryId: repositoryId };
  const problem = await startProblemOf(app, task);
  try {
    await app.db.transaction(async (em) => {
      const taskId = await createForIssueIn(app, em, given, 'ready', agent);
      // Somebody else may have created and rewritten the task just now.
      const also = seenAndHandled(app, given, taskId);
      const starting = { taskId, startedBy: given.userId, kind: 'start', ...setting, also } as const;
      await startTaskIn(app, em, starting, problem);
    });
  } catch (error) {
    if (!(error instanceof Refused || error instanceof AppError)) throw error;
    const act = await auditedAct(app, given, 'task.create');
    await app.audit.during(act, () => createForIssue(app, given, 'ready', agent));
    throw error;
  }
}
