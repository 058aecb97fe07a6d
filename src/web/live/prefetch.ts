import type { QueryClient } from '@tanstack/react-query';
import * as queries from './queries.ts';

/**
 * Fetches what the frame of a page needs, while the script of the page is still on its way. What the page itself shows waits
 * until the event stream is open, because it might miss a change.
 */
export function prefetch(client: QueryClient, pathname: string): void {
  if (pathname === '/login') return;
  void client.prefetchQuery(queries.me());
  const [, kind, id] = /^\/(projects|tasks)\/([^/]+)/.exec(pathname) ?? [];
  if (id === undefined) return;
  if (kind === 'projects') void client.prefetchQuery(queries.project(decodeURIComponent(id)));
  else void client.prefetchQuery(queries.task(decodeURIComponent(id)));
}
