import type { App } from '../../app.ts';
import { getTask } from '../../tasks/store.ts';
import { comparedWords, wordsOfIssue } from '../issue-words.ts';
import { setIssueText } from '../store.ts';

/**
 * Stores what the issue of a task says now. The task itself is not changed, because nobody may have reviewed the new text:
 * people decide whether the task gets it.
 */
export async function noteIssueText(
  app: App,
  taskId: string,
  issue: { number: number; title: string; body?: string | null },
): Promise<void> {
  const em = app.db.manager;
  const task = await getTask(em, taskId);
  const words = wordsOfIssue({ ...issue, body: issue.body ?? '' });
  const { title, description } = comparedWords(words, task, app.config.COMMAND_PREFIX);
  await setIssueText(em, taskId, title, description);
}
