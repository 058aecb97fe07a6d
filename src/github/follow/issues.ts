import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { AppError } from '../../errors.ts';
import { mayStoreTexts } from '../../repositories/rights.ts';
import { cancelIfRunning } from '../../runs/operations.ts';
import { moveTask, queueMirror, recheckTask, tryMoveTask } from '../../tasks/move.ts';
import { getTask } from '../../tasks/store.ts';
import type { Place } from '../app/place.ts';
import { eachThenFail } from '../each-apart.ts';
import { assertMayDirect } from '../given-command.ts';
import { comparedWords, showIssue, shownBesides, wordsOfIssue } from '../issue-task.ts';
import { readIssue } from '../issues/read-issue.ts';
import { labelKey, labelOf } from '../labels.ts';
import { findTaskOfIssue, setIssueBesides, setIssueText, setNotice, unlinkIssue } from '../store.ts';
import { refreshPullsOf } from './refresh-pull.ts';

/**
 * Stores what the issue of a task says and shows now. The task itself is not changed, because nobody may have reviewed the new text:
 * people decide whether the task gets it.
 */
async function noteIssueText(
  app: App,
  taskId: string,
  issue: { number: number; title: string; body?: string | null } & Parameters<typeof shownBesides>[0],
): Promise<void> {
  const em = app.db.manager;
  const task = await getTask(em, taskId);
  const words = wordsOfIssue(await showIssue({ ...issue, body: issue.body ?? '' }));
  const { title, description } = comparedWords(words, task, app.config.COMMAND_PREFIX);
  await setIssueText(em, taskId, title, description);
  await setIssueBesides(em, taskId, shownBesides(issue));
}

interface ObservedIssue {
  /** As ours are written. */
  labels: string[];
  /** Whether it may have sub-issues, or issues that block it. GitHub Enterprise Server may not say. */
  hasLinks: boolean;
}

/**
 * Reads the issue of a task and updates the task to match it. With `recheck`, our label and comment there are read again, too. Edits do
 * not need that, and an author may make many.
 */
export async function observeIssue(
  app: App,
  place: Place,
  number: number,
  { recheck = true } = {},
): Promise<ObservedIssue> {
  const taskId = await findTaskOfIssue(app.db.manager, place.repository.id, number);
  if (taskId === undefined) return { labels: [], hasLinks: false };
  const issue = await readIssue(place, number);
  if (issue === 'gone') await forgetIssue(app, place, number);
  if (issue === 'gone' || issue === 'hidden') return { labels: [], hasLinks: false };
  if (await mayStoreTexts(app, place.repository.id)) await noteIssueText(app, taskId, issue);
  if (issue.state === 'closed') await settleClosed(app, taskId);
  else await (recheck ? recheckTask(app, taskId) : queueMirror(app, undefined, taskId));
  const labels = issue.labels.map((label) => labelKey(typeof label === 'string' ? label : (label.name ?? '')));
  const { sub_issues_summary: subIssues, issue_dependencies_summary: dependencies } = issue;
  return { labels, hasLinks: subIssues?.total !== 0 || dependencies?.total_blocked_by !== 0 };
}

/** Unlinks the issue of a task after it was deleted or transferred. The task stays, without an issue. */
export async function forgetIssue(app: App, { repository }: Place, number: number): Promise<void> {
  await app.db.transaction((em) => unlinkIssue(em, repository.id, number));
}

/**
 * Handles a closed issue. If a pull request was merged, the task is done; otherwise its run is cancelled and its status
 * stays. A merge cancels the run too, so a pull request that cannot be read does not hold that up.
 */
async function settleClosed(app: App, taskId: string): Promise<void> {
  const settle = async () => {
    const { status } = await getTask(app.db.manager, taskId);
    if (status !== 'done') await cancelIfRunning(app, taskId);
    await recheckTask(app, taskId);
  };
  await eachThenFail([() => refreshPullsOf(app, taskId), settle], (part) => part());
}

/** Handles a reopened issue: a task that was done becomes ready again. */
export async function issueReopened(app: App, place: Place, number: number): Promise<void> {
  const taskId = await findTaskOfIssue(app.db.manager, place.repository.id, number);
  if (taskId === undefined) return;
  const issue = await readIssue(place, number);
  if (typeof issue === 'string' || issue.state !== 'open') {
    await observeIssue(app, place, number);
    return;
  }
  await app.db.transaction(async (em) => {
    if ((await getTask(em, taskId)).status === 'done') await tryMoveTask(app, em, taskId, 'to_ready');
    await queueMirror(app, em, taskId);
  });
}

const byLabel = { [labelOf.ready]: 'to_ready', [labelOf.backlog]: 'to_backlog' } as const;

/**
 * Handles one of our labels that somebody with write permission added to a task's issue or pull request. The labels for
 * ready and backlog move the task. The mirror reverts every other change.
 */
export async function obeyLabel(
  app: App,
  { repository }: Place,
  about: { taskId: string; number: number; label: string; userId: string },
): Promise<void> {
  const { taskId, number, label, userId } = about;
  const event = Object.hasOwn(byLabel, label) ? byLabel[label] : undefined;
  if (event !== undefined)
    try {
      await assertMayDirect(app, userId, { taskId, repository });
      const object = { type: 'task', id: taskId, projectId: repository.projectId } as const;
      await app.audit.during({ userId, via: 'label', action: 'task.update', object }, () =>
        app.db.transaction(async (em) => {
          if (labelOf[(await getTask(em, taskId)).status] === label) return app.audit.note({});
          await moveTask(app, em, taskId, event);
          await setNotice(em, taskId, repository.id, number, '');
        }),
      );
    } catch (error) {
      if (!(error instanceof Refused || error instanceof AppError)) throw error;
      const said = `😕 The label ${label} was refused: ${error.message}`;
      await setNotice(app.db.manager, taskId, repository.id, number, said);
    }
  await recheckTask(app, taskId);
}
