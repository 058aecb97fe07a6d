import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { insertTask } from '../tasks/operations.ts';
import { wordsOfIssue } from './issue-words.ts';
import { findTaskOfIssue, lockIssue } from './store.ts';

/** An issue as GitHub shows it now. */
export interface ReadIssue {
  number: number;
  title: string;
  body: string;
  url: string;
}

/**
 * Inserts the task of an issue, unless the issue has one already. The issue stays locked until the transaction ends, so
 * that two people who do this at the same time create one task.
 */
export async function insertTaskOfIssue(
  app: App,
  em: EntityManager,
  { id: repositoryId, projectId }: Pick<RepositoryRow, 'id' | 'projectId'>,
  issue: ReadIssue,
  task: { status: 'backlog' | 'ready'; owner?: string | undefined; createdBy: string },
): Promise<{ id: string; title: string; isNew: boolean }> {
  const { title, description } = wordsOfIssue(issue);
  const { number, url } = issue;
  await lockIssue(em, repositoryId, number);
  const existing = await findTaskOfIssue(em, repositoryId, number);
  if (existing !== undefined) return { id: existing, title, isNew: false };
  // The issue's text as it is now. Later edits, which nobody may have reviewed, never reach the agent.
  const words = { title, description };
  const id = await insertTask(app, em, projectId, {
    ...task,
    ...words,
    repositoryId,
    issue: { repositoryId, number, url },
  });
  return { id, title, isNew: true };
}
