import { QueryClient } from '@tanstack/react-query';
import { statusOf } from './errors.ts';
import { followEarly } from './project-events.ts';
import * as queries from './queries.ts';

/** Returns the address of the sign-in page, which leads back to the current page afterwards. */
export function signInAddress(): string {
  const { pathname, search } = window.location;
  return `/login?return_to=${encodeURIComponent(pathname + search)}`;
}

/**
 * Data without events is fetched again when a page opens and when the window regains focus. While the browser is offline,
 * queries wait, and are sent when the connection is back. Actions fail at once instead: they would otherwise be done at a
 * time when nobody expects it.
 */
export const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => {
        const status = statusOf(error);
        return count < 2 && (status === undefined || status >= 500 || status === 429);
      },
    },
    mutations: { networkMode: 'always' },
  },
});

/** Redirects to the sign-in page after a 401. Sessions expire after twelve hours, even while a page is open. */
function signInAgain(error: unknown): void {
  if (statusOf(error) === 401 && window.location.pathname !== '/login') window.location.assign(signInAddress());
}

client.getQueryCache().subscribe(({ query }) => signInAgain(query.state.error));
client.getMutationCache().subscribe(({ type, mutation }) => {
  signInAgain(mutation?.state.error);
  // The person may have another role now, for example because GitHub took it back. What the page offers depends on it.
  if (type === 'updated' && statusOf(mutation.state.error) === 403)
    void client.invalidateQueries({ queryKey: ['project'] });
});

/** Fetches the task of a page before it is opened. */
export function prefetchTask(pathname: string): void {
  const [, id] = /^\/tasks\/([^/]+)/.exec(pathname) ?? [];
  if (id !== undefined) void client.prefetchQuery({ ...queries.task(decodeURIComponent(id)), staleTime: 10_000 });
}

/**
 * Fetches what the frame of a page needs, and the board, while the script of the page is still on its way. The board is fetched
 * when its event stream is open, because it might miss a change before.
 */
export function prefetch(pathname: string): void {
  if (pathname === '/login') return;
  void client.prefetchQuery(queries.me());
  const [, kind, id] = /^\/(projects|tasks)\/([^/]+)/.exec(pathname) ?? [];
  if (id === undefined) return;
  if (kind === 'tasks') return void client.prefetchQuery(queries.task(decodeURIComponent(id)));
  const projectId = decodeURIComponent(id);
  void client.prefetchQuery(queries.project(projectId));
  const isBoard = /^\/projects\/[^/]+\/?$/.test(pathname);
  followEarly(client, projectId, () => {
    if (isBoard) void client.prefetchQuery(queries.board(projectId));
  });
}
