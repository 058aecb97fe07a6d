import type { QueryClient } from '@tanstack/react-query';
import type { Task } from '../api.ts';
import * as queries from './queries.ts';

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
    return list.some((t) => t.id === task.id) ? list.map((t) => (t.id === task.id ? newer(t) : t)) : [task, ...list];
  });
}

/** Removes a deleted task from its project's list. */
export function dropTask(client: QueryClient, projectId: string, id: string): void {
  client.setQueryData<Task[]>(queries.tasks(projectId).queryKey, (list) => list?.filter((t) => t.id !== id));
}
