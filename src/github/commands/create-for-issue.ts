import type { EntityManager } from 'typeorm';
import type { NamedAgent } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { AppError } from '../../errors.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { startProblemOf, startTaskIn } from '../../runs/operations.ts';
import { findRewriting, getTask } from '../../tasks/store.ts';
import { updateTask } from '../../tasks/update.ts';
import { assertSeen, auditedAct, type GivenCommand, issueOf, requiredTask } from '../given-command.ts';
import { comparedWords, insertTaskOfIssue, wordsForIssue, wordsOfIssue } from '../issue-task.ts';
import { setIssueText } from '../store.ts';

/**
 * Checks that somebody who starts a task by a label or command has seen its text. Call it with the task locked, in the
 * transaction of the start. A label is about the text of the issue: people see that also in a list of issues, and the
 * author of an issue may change it without any permission. A command is about the text that the task had then.
 * @throws Refused when the task says something else, or the issue may have been edited since then
 */
export async function assertTextSeen(app: App, em: EntityManager, given: GivenCommand, taskId: string): Promise<void> {
  const { via } = given;
  const prefix = app.config.COMMAND_PREFIX;
  if (via === 'comment') {
    const rewriting = await findRewriting(em, taskId);
    if (rewriting !== undefined)
      assertSeen(given, { what: 'Somebody else rewrote the task', at: rewriting.at, by: rewriting.userId });
    return;
  }
  issueOf(given);
  if (await showsText(app, em, given, taskId)) return;
  throw new Refused(
    `The issue and its task differ, and the agent would get the text of the task. \`${prefix} update\` gives the task the text of the issue, and \`${prefix} update issue\` gives the issue the text of the task. Then add the label again.`,
  );
}

/** Returns whether the issue of a command or label says what its task says. Nothing shows that on a pull request. */
export async function showsText(app: App, em: EntityManager, given: GivenCommand, taskId: string): Promise<boolean> {
  const { issue } = given.source;
  if (issue.isPull || issue.unknown !== undefined) return false;
  const task = await getTask(em, taskId);
  const { title, description } = comparedWords(wordsOfIssue(issue), task, app.config.COMMAND_PREFIX);
  return title === task.title && description === task.description;
}

/** Like `assertTextSeen`, and records the command as handled. */
export function seenAndHandled(app: App, given: GivenCommand, taskId: string) {
  return async (em: EntityManager): Promise<void> => {
    await assertTextSeen(app, em, given, taskId);
    await given.remember(em);
  };
}

/** Takes over the text of an issue into its task, or with `issue` the other way. */
export async function updateText(app: App, given: GivenCommand): Promise<void> {
  const { source, command, userId, at } = given;
  const em = app.db.manager;
  const taskId = await requiredTask(app, given);
  if (source.issue.isPull) throw new Refused('`update` works in issues, and this is a pull request.');
  const argument = command.argument.trim().toLowerCase();
  if (argument !== '' && argument !== 'issue') throw new Refused('Write `update` alone, or `update issue`.');
  const task = await getTask(em, taskId);
  const prefix = app.config.COMMAND_PREFIX;
  // The issue's text at the time of the command. Edits after it, which nobody may have reviewed, do not count.
  const words = wordsOfIssue(issueOf(given));
  if (argument === '') {
    await updateTask(app, taskId, userId, comparedWords(words, task, prefix));
    const now = await getTask(em, taskId);
    return setIssueText(em, taskId, now.title, now.description);
  }
  await assertTextSeen(app, em, given, taskId);
  const path = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
  const place = { ...at.name, issue_number: source.issue.number };
  await at.octokit.request(path, { ...place, ...wordsForIssue(task, prefix) }).catch((error) => {
    if (!isRefusedWith(error, 403, 404, 410, 422)) throw error;
    throw new Refused(`GitHub does not change the issue: ${oneLine((error as Error).message, 300)}`);
  });
  await setIssueText(em, taskId, task.title, task.description);
  app.audit.note({ issueTitle: [words.title, task.title] });
}

/** Creates the task of an issue, or returns the existing one. Two simultaneous commands create one task. */
export function createForIssue(
  app: App,
  given: GivenCommand,
  status: 'backlog' | 'ready',
  agent: NamedAgent | undefined,
): Promise<string> {
  return app.db.transaction(async (em) => {
    const taskId = await createForIssueIn(app, em, given, status, agent);
    if (status === 'backlog') await given.remember(em);
    return taskId;
  });
}

/** The same in the caller's transaction. */
export async function createForIssueIn(
  app: App,
  em: EntityManager,
  given: GivenCommand,
  status: 'backlog' | 'ready',
  agent: NamedAgent | undefined,
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
  { agent, ...setting }: { agent: NamedAgent; planFirst?: boolean },
): Promise<void> {
  const { id: repositoryId, projectId } = given.repository;
  const task = { owner: agent.id, projectId, repositoryId, issueRepositoryId: repositoryId };
  const problem = await startProblemOf(app, task);
  try {
    await app.db.transaction(async (em) => {
      const taskId = await createForIssueIn(app, em, given, 'ready', agent);
      // Somebody else may have created and rewritten the task just now.
      const also = seenAndHandled(app, given, taskId);
      const isTextSeen = () => showsText(app, em, given, taskId);
      const starting = { taskId, startedBy: given.userId, kind: 'start', ...setting, isTextSeen, also } as const;
      await startTaskIn(app, em, starting, problem);
    });
  } catch (error) {
    if (!(error instanceof Refused || error instanceof AppError)) throw error;
    const act = await auditedAct(app, given, 'task.create');
    await app.audit.during(act, () => createForIssue(app, given, 'ready', agent));
    throw error;
  }
}
