import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { AppError } from '../../errors.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';
import { asWriter } from '../../repositories/permission.ts';
import { rightProblemIn } from '../../repositories/rights.ts';
import { moveToSprint } from '../../sprints/store.ts';
import { queueMirror } from '../../tasks/move.ts';
import { findTask, type TaskView } from '../../tasks/store.ts';
import { attachSubtask, detachSubtask, updateTask } from '../../tasks/update.ts';
import type { Place } from '../app/place.ts';
import { setNotice } from '../store.ts';
import { forgetLink, keepLink, type Link, wasAgreed } from './link-store.ts';

type Change = 'added' | 'removed';

/** Minutes until a change that the state of the tasks forbids is tried again: a run may have ended. */
const refusedMinutes = 10;
/** Minutes until a change by people without permission is looked at again. */
const barredMinutes = 24 * 60;

/**
 * Takes over a link that people added or removed on GitHub, under the rules of the same change through the API. All who
 * may have done it need write permission where both issues are and where both tasks work. What people without it do is
 * left alone without a word, so that they cannot make us write comments. What a rule forbids is left alone, too, and the
 * status comment says why, once.
 */
export async function takeLink(
  app: App,
  at: { task: TaskView; place: Place; number: number },
  link: Link,
  change: Change,
  people: GitHubUser[],
): Promise<void> {
  const em = app.db.manager;
  const { task } = at;
  const isAgreed = change === 'removed';
  const other = await findTask(em, link.otherId);
  if (other === undefined) return;
  const userIds = await writersAmong(app, at.place, people);
  const [userId] = userIds ?? [];
  if (userIds === undefined || userId === undefined) {
    const text = 'Somebody without write permission has changed it on GitHub.';
    return keepLink(em, task.id, { ...link, isAgreed }, { text, againMinutes: barredMinutes });
  }
  try {
    await assertMayLink(app, userIds, [task, other]);
    await apply(app, { task, other, link, change, userId });
    await (isAgreed ? forgetLink(em, task.id, link) : keepLink(em, task.id, { ...link, isAgreed: true }));
  } catch (error) {
    if (!(error instanceof Refused || (error instanceof AppError && error.status < 500))) throw error;
    const { message } = error;
    const again = error instanceof Refused ? refusedMinutes : barredMinutes;
    await keepLink(em, task.id, { ...link, isAgreed }, { text: message, againMinutes: again });
    if (link.before?.problem !== message) await say(app, at, link, change, message);
  }
}

/** Returns the users for people of whom each may write to the repository of an issue; undefined if one may not. */
async function writersAmong(app: App, { octokit, name }: Place, people: GitHubUser[]): Promise<string[] | undefined> {
  const ids: string[] = [];
  for (const person of people) {
    const writer = person.type === 'Bot' ? undefined : await asWriter(octokit, name, person);
    if (writer === undefined) return undefined;
    ids.push((await upsertUser(app.db.manager, writer)).id);
  }
  return ids;
}

/** @throws AppError 403, or 502 if GitHub cannot be asked */
async function assertMayLink(app: App, userIds: string[], tasks: TaskView[]): Promise<void> {
  const repositoryIds = tasks
    .flatMap(({ repositoryId, issueRepositoryId }) => [repositoryId, issueRepositoryId])
    .filter((id) => id !== null);
  const problem = await rightProblemIn(app, userIds, repositoryIds, 'write');
  if (problem !== undefined) throw problem;
}

interface Taken {
  task: TaskView;
  other: TaskView;
  link: Link;
  change: Change;
  userId: string;
}

async function apply(app: App, { task, other, link, change, userId }: Taken): Promise<void> {
  const isAdded = change === 'added';
  const action = link.kind === 'dependency' ? 'task.update' : isAdded ? 'task.add_subtask' : 'task.remove_subtask';
  const object = { type: 'task', id: task.id, projectId: task.projectId } as const;
  await app.audit.during({ userId, via: 'issue', action, object }, async () => {
    if (link.kind === 'dependency')
      await updateTask(app, task.id, userId, ({ dependsOn }) => {
        const rest = dependsOn.filter((id) => id !== other.id);
        return { dependsOn: isAdded ? [...rest, other.id] : rest };
      });
    else if (isAdded) await attach(app, { task, other, userId });
    else await detachSubtask(app, task.id, other.id);
  });
}

/** An issue has one parent, so a subtask whose link was moved on GitHub leaves the parent that GitHub showed before. */
async function attach(app: App, { task, other, userId }: Pick<Taken, 'task' | 'other' | 'userId'>): Promise<void> {
  const { parentId } = other;
  const leaves = parentId !== null && (await wasAgreed(app.db.manager, parentId, other.id)) ? parentId : null;
  await attachSubtask(app, { parentId: task.id, taskId: other.id, from: leaves }, (em, sprintId) =>
    moveToSprint(em, [other.id], sprintId, { userId, isTextSeen: false }),
  );
}

async function say(
  app: App,
  { task, place, number }: { task: TaskView; place: Place; number: number },
  link: Link,
  change: Change,
  message: string,
): Promise<void> {
  const issue = link.repositoryId === place.repository.id ? `#${link.number}` : 'an issue of another repository';
  const what = link.kind === 'subtask' ? `${issue} as a sub-issue` : `that this is blocked by ${issue}`;
  const said = `😕 ${change === 'added' ? 'Adding' : 'Removing'} ${what} was not taken over: ${message}`;
  await setNotice(app.db.manager, task.id, place.repository.id, number, said);
  await queueMirror(app, undefined, task.id);
}
