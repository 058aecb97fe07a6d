import { listAgentNames } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { inProject } from '../../http/access/access.ts';
import { type Route, route } from '../../http/route.ts';
import { Board, BoardQuery } from './schemas.ts';
import { countTasks, findCards, listCards, listSprintNames } from './store.ts';

interface Asked {
  ids?: string[] | undefined;
  limit: number;
  offset: number;
}

/** Reads everything that a board shows, so that it needs one request when it opens, and one for each change. */
async function readBoard({ db: { manager: em } }: App, projectId: string, { ids, ...page }: Asked) {
  return {
    total: await countTasks(em, projectId),
    tasks: ids === undefined ? await listCards(em, projectId, page) : await findCards(em, projectId, ids),
    agents: await listAgentNames(em, projectId),
    sprints: await listSprintNames(em, projectId),
  };
}

export const boardRoutes: Route[] = [
  route({
    operationId: 'getBoard',
    method: 'get',
    path: '/projects/:projectId/board',
    summary: 'Get what the board of a project shows: its tasks, newest first, and the names of its agents and sprints',
    tag: 'tasks',
    access: inProject('member'),
    query: BoardQuery,
    reply: [200, Board],
    handle: (app, { projectId, query }) => readBoard(app, projectId, query),
  }),
];
