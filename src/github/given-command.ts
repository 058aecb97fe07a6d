import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../app.ts';
import type { Act } from '../audit/audit.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import type { AuditAction } from '../domain/audit.ts';
import { Refused } from '../domain/machine.ts';
import { mayReveal } from '../domain/settings.ts';
import { visible } from '../domain/text/sanitize.ts';
import { mayHaveSeen, mustHaveSeen } from '../domain/waiting.ts';
import type { RepoName } from '../git/remote-url.ts';
import type { Command } from '../markdown/commands.ts';
import { findProject, type GitHubUser } from '../projects/store.ts';
import { type NeededRight, rightProblemIn } from '../repositories/rights.ts';
import { findTaskOfPull } from '../runs/reviewing/store.ts';
import { getTask } from '../tasks/store.ts';
import type { ReadIssue, ShownIssue } from './issue-task.ts';
import { findTaskOfIssue } from './store.ts';

/** A command, the person who gave it and is allowed to, and the place where they gave it. */
export interface GivenCommand {
  command: Command;
  source: Pick<CommandSource, 'inReview'> & { issue: CommandSource['issue'] & ShownIssue };
  /** The comment in the conversation that contains the command; null for other texts. */
  commentId: number | null;
  /** When the comment or the issue was written; undefined for a label. */
  writtenAt: Date | undefined;
  /** Whether its event was lost, and the command was found later. */
  isMissed: boolean;
  at: { octokit: Octokit; name: RepoName };
  repository: RepositoryRow;
  userId: string;
  /** The label `agent:run` is the command `start`. */
  via: 'comment' | 'label';
  /**
   * Records the command as handled. Call it in the transaction that carries the command out, so that both are stored or
   * neither.
   */
  remember(em: EntityManager): Promise<void>;
  /**
   * Notes that the audit log has a record of the command without details. Returns false if it had one, of an attempt that
   * failed after it. Undefined where `remember` is part of the transaction that is recorded.
   */
  claimRecord?: (em: EntityManager) => Promise<boolean>;
}

/** Returns the text that a command takes, as GitHub shows it: its argument and the lines below it. */
export const textOf = ({ command: { text } }: Pick<GivenCommand, 'command'>): string => visible(text).trim();

/**
 * Returns the text that a command takes, if it needs one.
 * @throws Refused when the command has no text
 */
export function requiredText(given: GivenCommand, what: string): string {
  const text = textOf(given);
  if (text === '') throw new Refused(`Write ${what} after \`${given.command.verb}\`.`);
  return text;
}

/**
 * Returns the argument of a command that needs one.
 * @throws Refused when the command has no argument
 */
export function requiredArgument({ command }: GivenCommand, what: string): string {
  if (command.argument === '') throw new Refused(`Write ${what} after \`${command.verb}\`.`);
  return command.argument;
}

/** What may change between the moment when a command is written and the moment when it is handled. */
interface Change {
  /** What happened, as the beginning of a sentence. */
  what: string;
  at: Date;
  /** The id of the person who did that, null for somebody else than the writer; undefined if it was no person. */
  by?: string | null | undefined;
}

/**
 * Checks that a command was written by somebody who may have seen a change, or has made it. Call it with whatever the command
 * acts on because it is there now, rather than because the command names it.
 * @throws Refused
 */
export function assertSeen(
  { writtenAt, userId }: Pick<GivenCommand, 'writtenAt' | 'userId'>,
  { what, at, by }: Change,
): void {
  const hasSeen = by === undefined ? mayHaveSeen : mustHaveSeen;
  if (by === userId || hasSeen(writtenAt, at)) return;
  throw new Refused(`${what} after this command was written. Look at it as it is now, then write the command again.`);
}

/**
 * Returns the issue of a command, with the text that it had when the command was given.
 * @throws Refused when that is not known, because the text may have been edited since then
 */
export function issueOf({ source: { issue } }: Pick<GivenCommand, 'source'>): GivenCommand['source']['issue'] {
  if (issue.unknown !== undefined) throw new Refused(issue.unknown);
  return issue;
}

/**
 * Returns whether the reply to a command must name neither sprints, nor agents of people, nor the tasks and pull requests of
 * private repositories, because everybody can read it.
 */
export async function mustHidePrivate(app: App, { repository }: GivenCommand): Promise<boolean> {
  const project = await findProject(app.db.manager, repository.projectId);
  return !mayReveal({ isPrivate: true }, repository, project);
}

/** Finds the id of the task that an issue or pull request belongs to. */
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

/**
 * Finds the id of the task whose issue or pull request the command was given on. Returns undefined when there is none.
 */
export function taskOfCommand(app: App, { repository, source }: GivenCommand): Promise<string | undefined> {
  return taskOfPlace(app, repository.id, source.issue.number, source.issue.isPull);
}

/**
 * Checks that a person who may write to the repository of an issue or pull request may direct the task that it belongs
 * to. The task may work in another repository, in which they need the permission too.
 * @throws AppError 403, or 502 if GitHub cannot be asked
 */
export async function assertMayDirect(
  app: App,
  userId: string,
  { taskId, repository }: { taskId: string; repository: Pick<RepositoryRow, 'id'> },
  needed: NeededRight = 'write',
): Promise<void> {
  const { repositoryId } = await getTask(app.db.manager, taskId);
  if (repositoryId === null || repositoryId === repository.id) return;
  const problem = await rightProblemIn(app, [userId], [repositoryId], needed);
  if (problem !== undefined) throw problem;
}

/** Returns what the audit log says of a command: it is about the task of the issue, otherwise about the issue. */
export async function auditedAct(app: App, given: GivenCommand, action: AuditAction): Promise<Act> {
  const { userId, via, repository, at, source } = given;
  const { projectId } = repository;
  const taskId = await taskOfCommand(app, given);
  const issueId = `${at.name.owner}/${at.name.repo}#${source.issue.number}`;
  const object =
    taskId === undefined
      ? ({ type: 'issue', id: issueId, projectId } as const)
      : ({ type: 'task', id: taskId, projectId } as const);
  return { userId, via, action, object, claim: given.claimRecord };
}

/**
 * Finds the id of the task whose issue or pull request the command was given on.
 * @throws Refused when there is none
 */
export async function requiredTask(app: App, given: GivenCommand): Promise<string> {
  const taskId = await taskOfCommand(app, given);
  if (taskId === undefined) throw new Refused('This issue has no task yet. Use `create` or `start` first.');
  return taskId;
}

/** An issue with the text that it had when the command was given. */
export interface IssueThen extends ReadIssue {
  /** Why that text is not known, as a sentence. Then title and body must not be used for anything. */
  unknown?: string;
}

/** A text of a review: a comment on a line, or what the review says of the whole. */
export type InReview =
  | { kind: 'thread'; commentId: number; firstId: number; reviewId: number | null }
  | { kind: 'review'; reviewId: number };

/** Returns what tells a text from the others of its issue or pull request. GitHub numbers each kind separately. */
export function textIdOf({ commentId, inReview }: Pick<CommandSource, 'commentId' | 'inReview'>): string {
  if (inReview === undefined) return `${commentId ?? 'body'}`;
  return inReview.kind === 'thread' ? `thread ${inReview.commentId}` : `review ${inReview.reviewId}`;
}

/** Text on GitHub that may contain commands: a new comment or review, or the body of a new issue. */
export interface CommandSource {
  installationId: number;
  repository: { id: number; private: boolean; full_name?: string };
  issue: IssueThen & { isPull: boolean };
  sender: GitHubUser;
  body: string;
  /** The comment in the conversation that contains the text; null for the body of the issue and for reviews. */
  commentId: number | null;
  /** Where in a review of the pull request the text stands, if it does. */
  inReview?: InReview | undefined;
  /** When the text was written, as GitHub gives it. */
  writtenAt: string;
  /** Whether the event of the text was lost, and the text was found later. */
  isMissed?: boolean;
}
