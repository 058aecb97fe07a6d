import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { costText } from '../../domain/budget.ts';
import { Refused } from '../../domain/machine.ts';
import type { Bounds, Quote } from '../../domain/quote/quote.ts';
import { taskPage } from '../../domain/task.ts';
import { harmlessLine } from '../../domain/text/sanitize.ts';
import { quoteTask } from '../../runs/quote/quote-task.ts';
import { findUndoBy } from '../../runs/undoing/store.ts';
import { undoTask } from '../../runs/undoing/undo-task.ts';
import { queueMirror } from '../../tasks/move.ts';
import { getTask } from '../../tasks/store.ts';
import { sayOnce } from '../comments.ts';
import { answerMarker, replyOnce } from '../diff/reply.ts';
import { assertSeen, type GivenCommand, requiredTask, taskOfCommand, textIdOf } from '../given-command.ts';

/** Undoes the task of an issue or pull request, and replies with the new task. */
async function undo(app: App, given: GivenCommand): Promise<void> {
  const taskId = await requiredTask(app, given);
  if (given.isMissed)
    throw new Refused(
      'This command reached us late. Look at what was merged as it is now, then write the command again.',
    );
  const { doneAt } = await getTask(app.db.manager, taskId);
  if (doneAt !== null) assertSeen(given, { what: 'The task was done', at: doneAt });
  const { userId, writtenAt } = given;
  const also = (em: EntityManager) => queueMirror(app, em, taskId);
  // The command counts as handled once it is answered. Until then it is repeated, and has made the task already.
  const made = writtenAt && (await findUndoBy(app.db.manager, taskId, { userId, since: writtenAt }));
  if (made !== undefined) app.audit.note({});
  const { id, title } = made ?? (await undoTask(app, { taskId, userId, also }));
  const page = taskPage(app.config.BASE_URL, id);
  const shown = harmlessLine(title, 200, app.config.COMMAND_PREFIX);
  await replyTo(app, given, `The task [${shown}](${page}) reverts what was merged, with pull requests of its own.`);
}

/** Replies with what a task will probably cost, in a separate comment. It names no other task. */
async function quote(app: App, given: GivenCommand): Promise<void> {
  const task = await getTask(app.db.manager, await taskToQuote(app, given));
  const found = await quoteTask(app.db.manager, task);
  await replyTo(app, given, quoteText(found, taskPage(app.config.BASE_URL, task.id)));
}

/** Unlike others, a person who asks for a quote does not want to start the task yet. */
async function taskToQuote(app: App, given: GivenCommand): Promise<string> {
  const taskId = await taskOfCommand(app, given);
  if (taskId !== undefined) return taskId;
  const create = `\`${app.config.COMMAND_PREFIX} create\``;
  throw new Refused(
    `This issue has no task yet. ${create} makes one and starts nothing; then ask for the quote again.`,
  );
}

/** Replies to a command in a separate comment, once. */
async function replyTo(app: App, given: GivenCommand, text: string): Promise<void> {
  const { at, source, command } = given;
  const about = `${textIdOf({ ...given, ...source })}/${command.line}`;
  if (source.inReview?.kind === 'thread')
    return replyOnce(app, { ...at, number: source.issue.number, firstId: source.inReview.firstId }, about, text);
  const marker = answerMarker(about);
  const issue = { ...at.name, issue_number: source.issue.number };
  await sayOnce(app, at.octokit, issue, marker, `${marker}\n${text}`);
}

/** Describes a quote. Its page lists the tasks behind it, whose titles may be those of private repositories. */
function quoteText({ costUsd, minutes, mergedUnchanged, similar, reason }: Quote, page: string): string {
  const line = (what: string, bounds: Bounds | null, unit: (n: number) => string) =>
    bounds === null
      ? []
      : [`- ${what}: half of such tasks at most ${unit(bounds.p50)}, four of five at most ${unit(bounds.p80)}`];
  const lines = [
    ...line('Cost', costUsd, costText),
    ...line('Time', minutes, (n) => `${Math.ceil(n)} min`),
    ...(mergedUnchanged === null ? [] : [`- Merged unchanged: ${mergedUnchanged.n} of ${mergedUnchanged.of}`]),
  ];
  const from = similar.length === 0 ? '' : `From the ${similar.length} most similar finished tasks of the project.`;
  const said = lines.length === 0 ? 'There is no quote for this task yet.' : `**Quote**\n${lines.join('\n')}`;
  return [said, [from, reason ?? '', `[Task](${page})`].filter((part) => part !== '').join(' ')].join('\n\n');
}

/** The commands about what was merged, and about what a start would cost. */
export const undoVerbs = {
  undo: {
    takes: '',
    does: 'reverts what was merged of the task, in all repositories, as a task with pull requests of its own',
    audit: 'task.undo',
    act: undo,
  },
  quote: {
    takes: '',
    does: 'says what the task will probably cost and how long it takes',
    audit: 'issue.quote',
    act: quote,
  },
} as const;
