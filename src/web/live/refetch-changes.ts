import type { QueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { statusOf } from './errors.ts';
import { dropTask, putTask } from './put-task.ts';
import * as queries from './queries.ts';

export type Changed = 'task' | 'run' | 'sprint';

/** If more tasks than this change at the same time, the whole list is fetched instead of each task. */
const maxSingleFetches = 15;

const partsOfTask = ['pulls', 'proof', 'subtasks', 'diff', 'change', 'runs', 'timeline', 'merge-readiness'];
const dependOnRuns = ['health', 'agents', 'agent', 'spend'];
const dependOnTasksAndSprints = ['sprint', 'metrics', 'burndown', 'digest', 'velocity'];

/** Fetches the objects named in a project's events again, and everything that is computed from them. */
export function refetchChanges(client: QueryClient, projectId: string, changes: Map<string, Changed>): void {
  const idsOf = (kind: Changed) => [...changes].filter(([, each]) => each === kind).map(([id]) => id);
  const invalidate = (...queryKey: string[]) => void client.invalidateQueries({ queryKey });
  const [taskIds, runIds, sprintIds] = [idsOf('task'), idsOf('run'), idsOf('sprint')];
  refetchTasks(client, projectId, taskIds);
  for (const id of runIds) invalidateRun(client, id);
  if (runIds.length > 0) for (const key of dependOnRuns) invalidate(key);
  if (sprintIds.length > 0) invalidate('sprints', projectId);
  if (sprintIds.length + taskIds.length > 0) for (const key of dependOnTasksAndSprints) invalidate(key);
}

function refetchTasks(client: QueryClient, projectId: string, ids: string[]): void {
  if (ids.length > maxSingleFetches) void client.invalidateQueries({ queryKey: queries.tasks(projectId).queryKey });
  else for (const id of ids) void refetchTask(client, projectId, id);
  for (const id of ids) for (const part of partsOfTask) void client.invalidateQueries({ queryKey: [part, id] });
}

/**
 * Fetches a run again. Runs are cached singly, and in lists by task; a new run is in no list yet, but its task changes at
 * the same time.
 */
function invalidateRun(client: QueryClient, id: string): void {
  void client.invalidateQueries({ queryKey: queries.run(id).queryKey });
  void client.invalidateQueries({
    queryKey: ['runs'],
    predicate: ({ state }) => (state.data as api.Run[] | undefined)?.some((run) => run.id === id) ?? false,
  });
}

async function refetchTask(client: QueryClient, projectId: string, id: string): Promise<void> {
  try {
    putTask(client, await api.getTask(id));
  } catch (error) {
    if (statusOf(error) !== 404) return void client.invalidateQueries({ queryKey: queries.tasks(projectId).queryKey });
    dropTask(client, projectId, id);
    void client.invalidateQueries({ queryKey: queries.task(id).queryKey });
  }
}
