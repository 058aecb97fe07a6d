import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables.ts';
import { Refused } from '../../domain/machine.ts';
import type { Command } from '../../domain/text/commands.ts';
import { findTaskOfIssue, findTaskOfPull } from '../store.ts';
import type { Spoken } from './handle-commands.ts';

/** A command of a person who may give it, and where it was given. */
export interface Order {
  command: Command;
  spoken: Pick<Spoken, 'issue'>;
  /** The comment it stands in; null for the body of the issue. */
  commentId: number | null;
  at: { octokit: Octokit; name: { owner: string; repo: string } };
  repository: RepositoryRow;
  userId: string;
  /** Called inside the transaction of what the command does, so that both happen or neither. */
  remember(em: EntityManager): Promise<void>;
}

/** What stands behind the verb. @throws Refused when nothing does */
export function needed({ command }: Order, what: string): string {
  if (command.argument === '') throw new Refused(`${command.verb} requires ${what} behind it, found nothing`);
  return command.argument;
}

/** The task that an issue or pull request shows. */
export async function taskOfPlace(
  app: App,
  repositoryId: string,
  number: number,
  isPull: boolean,
): Promise<string | undefined> {
  return isPull
    ? findTaskOfPull(app.db.manager, repositoryId, number)
    : findTaskOfIssue(app.db.manager, repositoryId, number);
}

/** The task of the place; undefined where there is none. */
export function taskOfOrder(app: App, { repository, spoken }: Order): Promise<string | undefined> {
  return taskOfPlace(app, repository.id, spoken.issue.number, spoken.issue.isPull);
}

/** The same where one is needed. @throws Refused */
export async function taskOf(app: App, order: Order): Promise<string> {
  const taskId = await taskOfOrder(app, order);
  if (taskId === undefined)
    throw new Refused(`${order.command.verb} requires a task, found none for this issue; begin with create or start`);
  return taskId;
}
