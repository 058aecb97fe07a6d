import type { EntityManager } from 'typeorm';
import { type Quote, quoteFor } from '../../domain/quote/quote.ts';
import type { TaskView } from '../../tasks/store.ts';
import { findLine, heldBy, insertQuote, listFinished, listPastQuotes } from './store.ts';

const ofUndo: Quote = {
  ...{ costUsd: null, minutes: null, mergedUnchanged: null, similar: [] },
  reason: 'An undo asks no model unless a revert conflicts, so finished tasks say nothing about it.',
};

type Quoted = Pick<
  TaskView,
  'id' | 'projectId' | 'title' | 'description' | 'owner' | 'repositoryId' | 'issueType' | 'undoOf'
>;

/** Returns what a task will probably need, judged by the finished tasks of its project. */
export async function quoteTask(em: EntityManager, task: Quoted): Promise<Quote> {
  if (task.undoOf !== null) return ofUndo;
  const finished = await listFinished(em, task.projectId, task.id);
  const agent = await findLine(em, task.owner);
  return quoteFor({ ...task, agent }, finished, heldBy(await listPastQuotes(em, task.projectId)));
}

/** Keeps the quote of a task with its first run, so that people see later how good it was. */
export async function keepQuote(em: EntityManager, task: Quoted & { runCount: number }, runId: string): Promise<void> {
  if (task.runCount > 0 || task.undoOf !== null) return;
  const quote = await quoteTask(em, task);
  if (quote.similar.length > 0) await insertQuote(em, { runId, projectId: task.projectId }, quote);
}
