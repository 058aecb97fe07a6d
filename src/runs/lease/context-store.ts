import type { EntityManager } from 'typeorm';
import { storableJson } from '../../domain/text/storable.ts';
import type { Message } from '../../llm/model.ts';
import type { Learned } from '../agent/context/memory.ts';

export interface StoredContext extends Learned {
  opening: Message[];
}

/** Returns the first messages of a run's conversation, and what its prompts leave out. */
export async function findContext(em: EntityManager, runId: string): Promise<StoredContext | undefined> {
  const rows: { opening: Message[]; cut: StoredContext['cut'] | null; limitChars: number | null }[] = await em.query(
    'select opening, cut, limit_chars as "limitChars" from run_contexts where run_id = $1',
    [runId],
  );
  const [row] = rows;
  return row && { opening: row.opening, cut: row.cut ?? undefined, limitChars: row.limitChars ?? undefined };
}

/** Stores how a conversation begins. `workspace` are the packed files that it begins with besides those of its commit. */
export async function insertContext(
  em: EntityManager,
  runId: string,
  opening: Message[],
  workspace: Buffer | null = null,
): Promise<void> {
  await em.query('insert into run_contexts (run_id, opening, workspace) values ($1, $2, $3)', [
    runId,
    storableJson(opening),
    workspace,
  ]);
}

export async function updateContext(em: EntityManager, runId: string, { cut, limitChars }: Learned): Promise<void> {
  await em.query('update run_contexts set cut = $2, limit_chars = $3 where run_id = $1', [
    runId,
    cut === undefined ? null : storableJson(cut),
    limitChars ?? null,
  ]);
}

/** Deletes the contexts of runs that ended this many days ago. Returns the number deleted. */
export async function deleteOldContexts(em: EntityManager, days: number, limit: number): Promise<number> {
  const [, count] = await em.query(
    `delete from run_contexts where run_id in (
       select c.run_id from run_contexts c join runs r on r.id = c.run_id
       where r.finished_at < now() - make_interval(days => $1) limit $2)`,
    [days, limit],
  );
  return count;
}
