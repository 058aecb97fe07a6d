import type { Attention, Failure, Run, Task } from '../api.ts';

/** The names of the statuses, in the order of the board's columns. */
export const taskStatusNames: Record<Task['status'], string> = {
  backlog: 'Backlog',
  ready: 'Ready',
  in_progress: 'In progress',
  waiting_on_subtasks: 'Waiting on subtasks',
  in_review: 'In review',
  done: 'Done',
};

/** The names of the priorities, the most urgent first. */
export const priorityNames: Record<Task['priority'], string> = {
  urgent: 'Urgent',
  high: 'High',
  normal: 'Normal',
  low: 'Low',
};

/** The priorities as options of a field. */
export const priorityOptions = (Object.keys(priorityNames) as Task['priority'][]).map((id) => ({
  id,
  name: priorityNames[id],
}));

/** What a run waits for. */
export const waitNames: Record<Attention['reason'], string> = {
  plan: 'Waiting for approval of the plan',
  question: 'Waiting for an answer',
  push: 'Waiting for approval of the change',
  paused: 'Paused',
  model: 'Waiting for the model',
  host: 'Waiting for a host',
};

const runKindNames: Partial<Record<Run['kind'], string>> = {
  start: 'Run',
  revise: 'Revision',
  continue: 'Continuation',
};

/** Returns the name of a run's purpose. */
export function runKindName({ kind }: Pick<Run, 'kind'>): string {
  return runKindNames[kind] ?? sentenceCase(kind);
}

const failureNames: Partial<Record<Failure['category'], string>> = {
  auth: 'authentication',
  model: 'model error',
  sandbox: 'sandbox error',
  setup: 'set-up failed',
  internal: 'internal error',
};

export function failureName({ category }: Pick<Failure, 'category'>): string {
  return failureNames[category] ?? category.replaceAll('_', ' ');
}

/** Converts `gave_up` to `Gave up`. */
export function sentenceCase(value: string): string {
  return value.charAt(0).toUpperCase() + value.slice(1).replaceAll('_', ' ');
}

/** Returns the random end of an id, which is enough to tell the tasks of a project apart when people talk about them. */
export function shortId(id: string): string {
  return id.slice(-6);
}

/** Returns the path of a run's page. */
export const runPath = (taskId: string, runId: string): string =>
  `/tasks/${encodeURIComponent(taskId)}/runs/${encodeURIComponent(runId)}`;

/** Returns a time of the API in full: `2026-01-05 10:00:00 UTC`. */
export const exactTime = (at: string): string => `${at.slice(0, 19).replace('T', ' ')} UTC`;

/** Says where a run is in the queue; null is beyond the places that the service counts. */
export function queueText(position: number | null): string {
  if (position === null) return 'Far back in the queue';
  return position === 1 ? 'Next in the queue' : `Number ${position} in the queue`;
}
