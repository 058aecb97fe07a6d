import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables.ts';
import { Refused } from '../../domain/machine.ts';
import type { Command } from '../../domain/text/commands.ts';
import { findTaskOfIssue, findTaskOfPull } from '../store.ts';
import type { Spoken } from './handle-commands.ts';

/** A command of a person who may give it, and the place where they gave it. */
export interface Order {
  command: Command;
  spoken: Pick<Spoken, 'issue'>;
  /** The comment that holds it; null for the body of the issue. */
  commentId: number | null;
  at: { octokit: Octokit; name: { owner: string; repo: string } };
  repository: RepositoryRow;
  userId: string;
  /** Marks the command as handled. Called in the transaction of what the command does, so that both happen or neither. */
  remember(em: EntityManager): Promise<void>;
}

/** The argument of a command that cannot do without. @throws Refused when there is none */
export function requiredArgument({ command }: Order, what: string): string {
  if (command.argument === '') throw new Refused(`Write ${what} after \`${command.verb}\`.`);
  return command.argument;
}

/** The id of the task that an issue or pull request belongs to. */
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

/** The id of the task where a command was given; undefined where there is none. */
export function taskOfOrder(app: App, { repository, spoken }: Order): Promise<string | undefined> {
  return taskOfPlace(app, repository.id, spoken.issue.number, spoken.issue.isPull);
}

/** The id of the task where a command was given. @throws Refused where there is none */
export async function requiredTask(app: App, order: Order): Promise<string> {
  const taskId = await taskOfOrder(app, order);
  if (taskId === undefined) throw new Refused('This issue has no task yet. Use `create` or `start` first.');
  return taskId;
}
