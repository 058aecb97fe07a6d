import type { QueryClient } from '@tanstack/react-query';
import { followEarly } from './project-events.ts';
import * as queries from './queries.ts';

/**
 * Fetches what the frame of a page needs, and the board, while the script of the page is still on its way. The board is fetched
 * when its event stream is open, because it might miss a change before.
 */
export function prefetch(client: QueryClient, pathname: string): void {
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
