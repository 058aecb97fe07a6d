import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { inProject } from '../../http/access/access.ts';
import { type Route, route } from '../../http/route.ts';
import { Board, BoardQuery, maxTasks } from './schemas.ts';
import { type Card, findCards, findCardsNear, listCards, readFrame } from './store.ts';

interface Asked {
  ids?: string[] | undefined;
  near?: string | undefined;
  limit: number;
  offset: number;
}

/** Reads everything that a board shows, so that it needs one request when it opens, and one for each change. */
async function readBoard({ db: { manager: em } }: App, projectId: string, asked: Asked) {
  return { ...(await readFrame(em, projectId)), tasks: await cardsFor(em, projectId, asked) };
}

function cardsFor(em: EntityManager, projectId: string, { ids, near, ...page }: Asked): Promise<Card[]> {
  if (near !== undefined) return findCardsNear(em, projectId, near, maxTasks);
  return ids === undefined ? listCards(em, projectId, page) : findCards(em, projectId, ids);
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
