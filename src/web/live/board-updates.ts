import type { QueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { mergeBoard } from './fetch-board.ts';
import * as queries from './queries.ts';

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
      client.setQueryData<api.Board>(queryKey, (current) => current && mergeBoard(current, ids, reply));
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
