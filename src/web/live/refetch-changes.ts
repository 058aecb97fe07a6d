import type { InvalidateQueryFilters, QueryClient } from '@tanstack/react-query';
import type * as api from '../api.ts';
import * as queries from './queries.ts';

/** What has changed. A `step` is a change of a run whose status stays the same, as with every turn. */
export type Changed = 'task' | 'run' | 'step' | 'sprint';

/** Parts of a task that change with it. Each has the task's id in its key. */
const partsOfTask = ['task', 'pulls', 'proof', 'subtasks', 'diff', 'change', 'runs', 'timeline', 'merge-readiness'];
const dependOnRuns = ['health', 'agents', 'agent'];
const dependOnTasksAndSprints = ['sprint', 'metrics', 'burndown', 'digest', 'velocity'];

/**
 * Fetches what pages show of the objects named in a project's events again, and everything that is computed from them.
 * `updateBoard` brings the cards of tasks up to date. Data that no page shows is only marked as stale.
 */
export function refetchChanges(
  client: QueryClient,
  projectId: string,
  changes: Map<string, Changed>,
  updateBoard: (ids: Iterable<string>) => void,
): void {
  const idsOf = (kind: Changed) => [...changes].filter(([, each]) => each === kind).map(([id]) => id);
  const invalidate = (...queryKey: string[]) => refetch(client, { queryKey });
  const [taskIds, sprintIds] = [idsOf('task'), idsOf('sprint')];
  const [runIds, stepIds] = [idsOf('run'), idsOf('step')];
  updateBoard(changes.keys());
  for (const id of taskIds) for (const part of partsOfTask) invalidate(part, id);
  // Any task may have begun to depend on another one.
  if (taskIds.length > 0) invalidate('related', projectId);
  for (const id of [...runIds, ...stepIds]) invalidateRun(client, id);
  if (runIds.length + stepIds.length > 0) invalidate('spend');
  if (runIds.length > 0) for (const key of dependOnRuns) invalidate(key);
  if (sprintIds.length > 0) invalidate('sprints', projectId);
  if (sprintIds.length + taskIds.length > 0) for (const key of dependOnTasksAndSprints) invalidate(key);
}

/**
 * Fetches a run again. Runs are cached singly, and in lists by task; a new run is in no list yet, but its task changes at
 * the same time. A list that has not arrived yet may have the run.
 */
function invalidateRun(client: QueryClient, id: string): void {
  refetch(client, { queryKey: queries.run(id).queryKey });
  refetch(client, {
    queryKey: ['runs'],
    predicate: ({ state }) => (state.data as api.Run[] | undefined)?.some((run) => run.id === id) ?? true,
  });
}

/**
 * Fetches data again. What is being fetched for the first time may have been read before the change, and TanStack Query would
 * take that reply for fresh; so it is fetched once more when it has arrived.
 */
function refetch(client: QueryClient, filters: InvalidateQueryFilters): void {
  for (const query of client.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' })) {
    const again = () => client.invalidateQueries({ queryKey: query.queryKey, exact: true });
    if (query.state.data === undefined) void query.promise?.then(again, () => {});
  }
  void client.invalidateQueries(filters);
}
