import type { QueryClient } from '@tanstack/react-query';
import type { Task } from '../api.ts';
import * as queries from './queries.ts';

type Ordered = Pick<Task, 'id' | 'createdAt'>;

/**
 * Compares two tasks by the order in which the service lists them: newest first, and those that were created together as
 * they were given.
 */
function compareTasks(a: Ordered, b: Ordered): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/**
 * Stores a task that the service returned in the cache. Replies can arrive out of order, so a newer cached task is
 * kept.
 */
export function putTask(client: QueryClient, task: Task): void {
  const newer = (cached: Task | undefined) =>
    cached !== undefined && Date.parse(cached.updatedAt) > Date.parse(task.updatedAt) ? cached : task;
  client.setQueryData<Task>(queries.task(task.id).queryKey, newer);
  client.setQueryData<Task[]>(queries.tasks(task.projectId).queryKey, (list) => {
    if (list === undefined) return undefined;
    if (list.some((t) => t.id === task.id)) return list.map((t) => (t.id === task.id ? newer(t) : t));
    const at = list.findIndex((t) => compareTasks(task, t) < 0);
    return list.toSpliced(at === -1 ? list.length : at, 0, task);
  });
}

/** Removes a deleted task from its project's list. */
export function dropTask(client: QueryClient, projectId: string, id: string): void {
  client.setQueryData<Task[]>(queries.tasks(projectId).queryKey, (list) => list?.filter((t) => t.id !== id));
}
