import type { InvalidateQueryFilters, QueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { mergeBoard } from './fetch-lists.ts';
import { changeBoard } from './put-task.ts';
import * as queries from './queries.ts';

/** What has changed. A `step` is a change of a run whose status stays the same, as with every turn. */
export type Changed = 'task' | 'run' | 'step' | 'sprint';

/** Parts of a task that change with it. Each has the task's id in its key. */
const partsOfTask = [
  ...['task', 'pulls', 'proof', 'subtasks', 'diff', 'change', 'runs', 'timeline', 'merge-readiness'],
  ...['review-comments', 'collisions'],
];
const dependOnRuns = ['health', 'agents', 'agent', 'project-runs'];
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
  if (runIds.length + stepIds.length > 0) invalidate('sessions');
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

/** If more objects than this change at the same time, the whole board is fetched. The service accepts 100 ids. */
const maxChanges = 100;

/**
 * Returns a function that brings a project's cards up to date after tasks and runs with some ids have changed. It sends one
 * request at a time; what changes during one is fetched with the next. Sprints have ids too, so that their names are fetched.
 */
export function boardUpdates(client: QueryClient, projectId: string): (ids: Iterable<string>) => void {
  const { queryKey } = queries.board(projectId);
  let waiting = new Set<string>();
  let isFetching = false;
  const invalidate = () => client.invalidateQueries({ queryKey, exact: true });
  const fetchWaiting = async () => {
    // A first fetch that is under way may have read before the change.
    if (client.getQueryData(queryKey) === undefined) await client.fetchQuery(queries.board(projectId)).catch(() => {});
    const ids = [...waiting];
    waiting = new Set();
    if (ids.length > maxChanges) return invalidate();
    try {
      const reply = await api.getBoard(projectId, { ids: ids.join(',') });
      changeBoard(client, projectId, (current) => mergeBoard(current, ids, reply));
    } catch {
      await invalidate();
    }
  };
  const fetchAll = async () => {
    isFetching = true;
    while (waiting.size > 0) await fetchWaiting();
    isFetching = false;
  };
  return (ids) => {
    const query = client.getQueryCache().find({ queryKey, exact: true });
    if (query === undefined) return;
    // A page that opens later fetches the board then. A fetch that is under way for it may have read before the change.
    if (!query.isActive() && query.state.fetchStatus === 'idle') return void invalidate();
    for (const id of ids) waiting.add(id);
    if (!isFetching) void fetchAll();
  };
}

/** Fetches again what shows agents, after one has changed. Agents have no events, and the board has their names. */
export async function refetchAgents(client: QueryClient): Promise<void> {
  await Promise.all(['agents', 'agent', 'health', 'board'].map((key) => client.invalidateQueries({ queryKey: [key] })));
}
