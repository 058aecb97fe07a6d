import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { getTask } from '../../tasks/store.ts';
import { updateTask } from '../../tasks/update.ts';
import { comparedWords, wordsForIssue, wordsOfIssue } from '../issue-words.ts';
import { setIssueText } from '../store.ts';
import { type GivenCommand, issueOf, requiredTask } from './given-command.ts';

/**
 * Checks that a task says what its issue said when a label was added. People see the text of the issue, also in a list of
 * issues, and the author of an issue may change it without any permission.
 * @throws Refused when the texts differ, or the issue may have been edited since then
 */
export async function assertSameText(app: App, given: GivenCommand, taskId: string): Promise<void> {
  const task = await getTask(app.db.manager, taskId);
  const prefix = app.config.COMMAND_PREFIX;
  const { title, description } = comparedWords(wordsOfIssue(issueOf(given)), task, prefix);
  if (title === task.title && description === task.description) return;
  throw new Refused(
    `The issue and its task differ, and the agent would get the text of the task. \`${prefix} update\` gives the task the text of the issue, and \`${prefix} update issue\` gives the issue the text of the task. Then add the label again.`,
  );
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
  await at.octokit.request('PATCH /repos/{owner}/{repo}/issues/{issue_number}', {
    ...at.name,
    issue_number: source.issue.number,
    ...wordsForIssue(task, prefix),
  });
  await setIssueText(em, taskId, task.title, task.description);
  app.audit.note({ issueTitle: [words.title, task.title] });
}
