import type { QueryClient } from '@tanstack/react-query';
import type { Board, Task, TaskCard } from '../api.ts';
import { compareTasks } from './fetch-lists.ts';
import * as queries from './queries.ts';

/**
 * Stores a task that the service returned in the cache. Replies can arrive out of order, so a newer cached task is
 * kept.
 */
export function putTask(client: QueryClient, task: Task): void {
  const isNewer = (cached: { updatedAt: string }) => Date.parse(cached.updatedAt) > Date.parse(task.updatedAt);
  client.setQueryData<Task>(queries.task(task.id).queryKey, (cached) => (cached && isNewer(cached) ? cached : task));
  changeCards(client, task.projectId, (cards) => {
    if (!cards.some(({ id }) => id === task.id)) return [...cards, newCard(task)].sort(compareTasks);
    return cards.map((card) => (card.id === task.id && !isNewer(card) ? { ...card, ...partsOf(task) } : card));
  });
}

/** Shows a status that the service has not confirmed yet. */
export function putStatus(
  client: QueryClient,
  { id, projectId }: Pick<Task, 'id' | 'projectId'>,
  status: Task['status'],
): void {
  client.setQueryData<Task>(queries.task(id).queryKey, (cached) => cached && { ...cached, status });
  changeCards(client, projectId, (cards) => cards.map((card) => (card.id === id ? { ...card, status } : card)));
}

/** Removes a deleted task from its project's list. */
export function dropTask(client: QueryClient, projectId: string, id: string): void {
  changeCards(client, projectId, (cards) => cards.filter((card) => card.id !== id));
}

function changeCards(client: QueryClient, projectId: string, change: (cards: TaskCard[]) => TaskCard[]): void {
  changeBoard(client, projectId, (board) => ({ ...board, tasks: change(board.tasks) }));
}

/** Changes the cached board of a project, if there is one. */
export function changeBoard(client: QueryClient, projectId: string, change: (board: Board) => Board): void {
  const { queryKey } = queries.board(projectId);
  // Storing data marks it as fresh, but other cards may still be stale.
  const wasStale = client.getQueryState(queryKey)?.isInvalidated;
  client.setQueryData<Board>(queryKey, (board) => board && change(board));
  if (wasStale) void client.invalidateQueries({ queryKey, refetchType: 'none' });
}

/** Returns what a card shows of the task alone. Its runs are fetched with the event of the change. */
function partsOf(task: Task) {
  const {
    id,
    projectId,
    title,
    status,
    priority,
    owner,
    responsible,
    repositoryId,
    base,
    parentId,
    sprintId,
    dependsOn,
  } = task;
  const { prUrl, issueNumber, failure, runCount, createdAt, updatedAt } = task;
  return {
    ...{
      id,
      projectId,
      title,
      status,
      priority,
      owner,
      responsible,
      repositoryId,
      base,
      parentId,
      sprintId,
      dependsOn,
    },
    ...{ prUrl, issueNumber, failure, runCount, createdAt, updatedAt },
    merging: task.merging?.state ?? null,
  };
}

function newCard(task: Task): TaskCard {
  return { ...partsOf(task), run: null, costUsd: null, checks: null, collisions: 0, statusSince: task.createdAt };
}
