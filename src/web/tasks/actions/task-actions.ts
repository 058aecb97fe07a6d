import { type TaskEvent, type TaskStatus, taskMachine } from '../../../domain/task.ts';
import * as api from '../../api.ts';

/** What a person can do with a task. */
export type Act = 'start' | 'retry' | 'revise' | 'cancel' | 'merge' | 'to_backlog' | 'to_ready' | 'to_done';

export const statusNames: Record<TaskStatus, string> = {
  backlog: 'Backlog',
  ready: 'Ready',
  in_progress: 'In progress',
  waiting_on_subtasks: 'Waiting on subtasks',
  in_review: 'In review',
  done: 'Done',
};

/** The columns of the board, in the order in which a task goes. */
export const columns = Object.keys(statusNames) as TaskStatus[];

export const actNames: Record<Act, string> = {
  start: 'Start',
  retry: 'Retry',
  revise: 'Ask for changes',
  cancel: 'Cancel the run',
  merge: 'Merge',
  to_backlog: 'Move to Backlog',
  to_ready: 'Move to Ready',
  to_done: 'Mark as done',
};

/** The service's own table says from where; only it knows all the facts, and answers with the reason when it refuses. */
const mayBeAsked = (event: TaskEvent, status: TaskStatus) =>
  taskMachine.some((row) => row.on === event && row.from.includes(status));

/** What can be done with a task as it is now. */
export function actsOf(task: api.Task): Act[] {
  const { status, owner, failure, runCount, prUrl } = task;
  const acts: Act[] = [];
  if (mayBeAsked('retry', status) && owner !== null && failure !== null) acts.push('retry');
  if (mayBeAsked('start', status) && owner !== null) acts.push('start');
  if (status === 'in_review' && prUrl !== null) acts.push('merge');
  if (mayBeAsked('revise', status) && owner !== null) acts.push('revise');
  if (mayBeAsked('cancel', status) || (status === 'waiting_on_subtasks' && runCount > 0)) acts.push('cancel');
  for (const event of ['to_ready', 'to_backlog', 'to_done'] as const) if (mayBeAsked(event, status)) acts.push(event);
  return acts;
}

/** What dropping a task on a column asks for, or why it cannot be dropped there. */
export function moveTo(task: api.Task, target: TaskStatus): { act: Act } | { refusal: string } {
  const acts = actsOf(task);
  const first = (...wanted: Act[]) => wanted.find((act) => acts.includes(act));
  const found = {
    backlog: () => first('to_backlog'),
    ready: () => first('to_ready', 'cancel'),
    in_progress: () => first('retry', 'start'),
    waiting_on_subtasks: () => undefined,
    in_review: () => undefined,
    done: () => first('merge', 'to_done'),
  }[target]();
  return found === undefined ? { refusal: refusalOf(task, target) } : { act: found };
}

function refusalOf({ status, owner }: api.Task, target: TaskStatus): string {
  if (target === 'in_review') return 'A task comes to review by itself, when its agent has opened a pull request.';
  if (target === 'waiting_on_subtasks') return 'A task waits by itself, when subtasks are added to it.';
  if (target === 'in_progress' && status === 'in_review')
    return 'Open the task and ask for changes: its agent needs to know what to change.';
  if (target === 'in_progress' && owner === null) return 'Give the task an agent first; then it can start.';
  if (status === 'in_progress') return 'Cancel the run first; then the task can be moved.';
  if (status === 'waiting_on_subtasks') return 'It waits on its subtasks; finish or delete those first.';
  return `A task cannot go from ${statusNames[status]} to ${statusNames[target]}.`;
}

/** Asks the service. @throws its refusal, with the reason */
export function perform(act: Act, id: string, text = ''): Promise<api.Task> {
  switch (act) {
    case 'start':
      return api.postTasksByIdStart(id);
    case 'retry':
      return api.postTasksByIdRetry(id, text === '' ? {} : { text });
    case 'revise':
      return api.postTasksByIdRevise(id, { text });
    case 'cancel':
      return api.postTasksByIdCancel(id);
    case 'merge':
      return api.postTasksByIdMerge(id);
    default:
      return api.patchTasksById(id, { status: act.slice('to_'.length) as TaskStatus });
  }
}

/** Where a task most likely goes; shown until the service has answered. */
export const likely: Record<Act, TaskStatus> = {
  start: 'in_progress',
  retry: 'in_progress',
  revise: 'in_progress',
  cancel: 'ready',
  merge: 'done',
  to_backlog: 'backlog',
  to_ready: 'ready',
  to_done: 'done',
};
