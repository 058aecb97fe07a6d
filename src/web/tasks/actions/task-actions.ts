import { type TaskEvent, type TaskStatus, taskMachine } from '../../../domain/task.ts';
import * as api from '../../api.ts';
import { taskStatusNames } from '../../display/names.ts';

/** What decides about the actions of a task. Cards of the board have it too. */
export type ActionTask = Pick<
  api.Task,
  'id' | 'projectId' | 'title' | 'status' | 'owner' | 'failure' | 'runCount' | 'prUrl' | 'issueNumber'
> &
  // Cards of the board do not know it.
  Pick<api.Task, 'editedSinceFailure'>;

/** What a person can do with a task. */
export type TaskAction = 'start' | 'retry' | 'revise' | 'cancel' | 'merge' | 'to_backlog' | 'to_ready' | 'to_done';

export const actionNames: Record<TaskAction, string> = {
  start: 'Start',
  retry: 'Retry',
  revise: 'Request changes',
  cancel: 'Cancel run',
  merge: 'Merge',
  to_backlog: 'Move to Backlog',
  to_ready: 'Move to Ready',
  to_done: 'Mark as done',
};

/**
 * Returns whether the service's transition table allows an event in a status. The service checks further conditions, so
 * it may still refuse.
 */
const hasTransition = (event: TaskEvent, status: TaskStatus) =>
  taskMachine.rows.some((row) => row.on === event && row.from.includes(status));

/** Returns the actions that a task allows in its current state, the most likely first. */
export function actionsFor(task: ActionTask): TaskAction[] {
  const { status, owner, failure, runCount, prUrl } = task;
  const mayCancel = hasTransition('cancel', status) || (status === 'waiting_on_subtasks' && runCount > 0);
  const allowed: [TaskAction, boolean][] = [
    ['retry', hasTransition('retry', status) && owner !== null && failure !== null],
    ['start', hasTransition('start', status) && owner !== null],
    ['merge', status === 'in_review' && prUrl !== null],
    ['revise', hasTransition('revise', status) && owner !== null],
    ['cancel', mayCancel],
    ['to_ready', hasTransition('to_ready', status)],
    ['to_backlog', hasTransition('to_backlog', status)],
    ['to_done', hasTransition('to_done', status)],
  ];
  return allowed.filter(([, isAllowed]) => isAllowed).map(([action]) => action);
}

/** Returns whether the task can go back to a turn of one of its runs. */
export function mayRewind({ status, owner }: api.Task): boolean {
  return hasTransition('rewind', status) && owner !== null;
}

const actionsByColumn: Record<TaskStatus, TaskAction[]> = {
  backlog: ['to_backlog'],
  ready: ['to_ready', 'cancel'],
  in_progress: ['retry', 'start'],
  waiting_on_subtasks: [],
  in_review: [],
  done: ['merge', 'to_done'],
};

/** Returns the action for dropping a task on a column of the board, or why it cannot be dropped there. */
export function actionForDrop(task: ActionTask, target: TaskStatus): { action: TaskAction } | { refusal: string } {
  const allowed = actionsFor(task);
  const action = actionsByColumn[target].find((each) => allowed.includes(each));
  return action === undefined ? { refusal: dropRefusal(task, target) } : { action };
}

function dropRefusal({ status, owner }: ActionTask, target: TaskStatus): string {
  if (target === 'in_review') return 'A task moves to In review when its agent opens a pull request.';
  if (target === 'waiting_on_subtasks') return 'A task moves to Waiting on subtasks when subtasks are added to it.';
  if (target === 'in_progress' && status === 'in_review')
    return 'Open the task and request changes, so that its agent knows what to change.';
  if (target === 'in_progress' && owner === null) return 'Assign an agent to the task before you start it.';
  if (status === 'in_progress') return 'Cancel the run before you move the task.';
  if (status === 'waiting_on_subtasks') return 'The task is waiting on its subtasks. Finish or delete them first.';
  return `A task cannot move from ${taskStatusNames[status]} to ${taskStatusNames[target]}.`;
}

/** What a person says with an action. */
export interface ActionDetails {
  text?: string | undefined;
  /** The changes that they request. */
  request?: Parameters<typeof api.reviseTask>[1] | undefined;
  /** The heads of the pull requests that they merge. */
  heads?: api.MergeTask['heads'] | undefined;
  /** Whether GitHub merges them later, when they are ready. */
  when?: api.MergeTask['when'] | undefined;
}

/** Sends an action to the service. @throws an error with the service's reason when it refuses */
export function performAction(
  action: TaskAction,
  id: string,
  { text = '', request = {}, heads, when = 'now' }: ActionDetails = {},
): Promise<api.Task> {
  switch (action) {
    case 'start':
      return api.startTask(id);
    case 'retry':
      return api.retryTask(id, text === '' ? {} : { text });
    case 'revise':
      return api.reviseTask(id, request);
    case 'cancel':
      return api.cancelTask(id);
    case 'merge':
      return api.mergeTask(id, heads === undefined ? { when } : { when, heads });
    default:
      return api.updateTask(id, { status: action.slice('to_'.length) as TaskStatus });
  }
}

/** The status that an action usually leads to, shown until the service replies. */
export const expectedStatus: Record<TaskAction, TaskStatus> = {
  start: 'in_progress',
  retry: 'in_progress',
  revise: 'in_progress',
  cancel: 'ready',
  merge: 'done',
  to_backlog: 'backlog',
  to_ready: 'ready',
  to_done: 'done',
};

/** Returns whether the page of a task offers to merge it. */
export function isMergeable(task: api.Task): boolean {
  return actionsFor(task).includes('merge');
}
