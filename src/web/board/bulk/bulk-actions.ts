import type { QueryClient } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { plural } from '../../display/formats.ts';
import { errorMessage } from '../../live/errors.ts';
import { putTask } from '../../live/put-task.ts';
import { actionsFor } from '../../tasks/actions/task-actions.ts';

/** What can be done with several tasks at once. */
export type BulkAction =
  /** Tasks without an agent are assigned to `agentId` first. */
  | { kind: 'start'; agentId?: string }
  | { kind: 'assign'; agentId: string }
  | { kind: 'move'; status: 'backlog' | 'ready' | 'done' }
  | { kind: 'prioritize'; priority: api.Task['priority'] }
  | { kind: 'sprint'; sprintId: string };

/** How the outcome is named: `3 tasks started`. */
export const doneNames: Record<BulkAction['kind'], string> = {
  start: 'started',
  assign: 'assigned',
  move: 'moved',
  prioritize: 'changed',
  sprint: 'added to the sprint',
};

/** Requests that are sent at the same time. The service handles eight of a person at once, and others are needed too. */
const atOnce = 4;

/** Performs an action on several tasks, and returns what happened to each, in their order. */
export async function performBulk(
  client: QueryClient,
  action: BulkAction,
  tasks: readonly api.TaskCard[],
): Promise<Result[]> {
  if (action.kind === 'sprint' && (await addAll(client, action.sprintId, tasks)))
    return tasks.map(({ id, title }) => ({ id, title }));
  const results = new Map<string, Result>();
  await eachAtMost(atOnce, tasks, async (task) => {
    const { id, title } = task;
    try {
      putTask(client, await performOne(action, task));
      results.set(id, { id, title });
    } catch (error) {
      results.set(id, { id, title, reason: errorMessage(error) });
    }
  });
  return tasks.map(({ id, title }) => results.get(id) ?? { id, title });
}

/**
 * Adds all tasks to a sprint with one request. Returns false when the service refuses, which it does for all of them if one
 * does not fit. They are then added one by one, to find out which.
 */
async function addAll(client: QueryClient, sprintId: string, tasks: readonly api.TaskCard[]): Promise<boolean> {
  try {
    for (const task of await api.addSprintTasks(sprintId, { taskIds: tasks.map(({ id }) => id) }))
      putTask(client, task);
    return true;
  } catch {
    return false;
  }
}

function performOne(action: BulkAction, task: api.TaskCard): Promise<api.Task> {
  switch (action.kind) {
    case 'start':
      return startOne(task, action.agentId);
    case 'assign':
      return api.updateTask(task.id, { owner: action.agentId });
    case 'move':
      return api.updateTask(task.id, { status: action.status });
    case 'prioritize':
      return api.updateTask(task.id, { priority: action.priority });
    case 'sprint':
      return api.addSprintTask(action.sprintId, { taskId: task.id });
  }
}

async function startOne(task: api.TaskCard, agentId: string | undefined): Promise<api.Task> {
  const { id } = task;
  if (lacksAgent(task) && agentId !== undefined) await api.updateTask(id, { owner: agentId });
  return actionsFor(task).includes('retry') ? api.retryTask(id, {}) : api.startTask(id);
}

/** Returns whether a task can be started, but for its agent. */
export function lacksAgent({ owner, status }: Pick<api.TaskCard, 'owner' | 'status'>): boolean {
  return owner === null && (status === 'backlog' || status === 'ready');
}

/** What happened to one of several tasks. */
export interface Result {
  id: string;
  title: string;
  /** Why the service refused; undefined when it did not. */
  reason?: string;
}

/** Says how many of several tasks were changed: `7 started, 2 refused`. `done` is a past participle. */
export function outcomeText(done: string, results: readonly Result[]): string {
  const refused = results.filter(({ reason }) => reason !== undefined).length;
  const changed = results.length - refused;
  if (refused === 0) return `${plural(changed, 'task')} ${done}`;
  return `${changed} ${done}, ${refused} refused`;
}

/** Returns the refused tasks by reason, the most frequent first. */
export function refusalsByReason(results: readonly Result[]): { reason: string; tasks: Result[] }[] {
  const byReason = new Map<string, Result[]>();
  for (const result of results) {
    if (result.reason === undefined) continue;
    byReason.set(result.reason, [...(byReason.get(result.reason) ?? []), result]);
  }
  return [...byReason].map(([reason, tasks]) => ({ reason, tasks })).sort((a, b) => b.tasks.length - a.tasks.length);
}

/** Replaces the ids of tasks in a reason with their titles. */
export function withTitles(reason: string, tasks: readonly { id: string; title: string }[]): string {
  const titles = new Map(tasks.map(({ id, title }) => [id, `“${title.slice(0, 60)}”`]));
  return reason.replace(/\btask_\w+/g, (id) => titles.get(id) ?? id);
}

/** Calls `work` for each item, at most `limit` at a time, in their order. `work` must not throw. */
export async function eachAtMost<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const takeTurns = async () => {
    while (next < items.length) await work(items[next++] as T);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, takeTurns));
}
