import type { EntityManager } from 'typeorm';
import { newId } from '../../db/ids.ts';
import { storableText } from '../../domain/text/storable.ts';

/** Something that a person said to a run. */
export interface RunMessage {
  id: string;
  text: string;
}

/** Stores what somebody said to a run. Its agent reads it before its next turn. */
export async function insertMessage(
  em: EntityManager,
  message: { runId: string; text: string; saidBy: string | null },
): Promise<void> {
  const { runId, text, saidBy } = message;
  await em.query('insert into run_messages (id, run_id, text, said_by) values ($1, $2, $3, $4)', [
    newId('said'),
    runId,
    storableText(text),
    saidBy,
  ]);
}

/** Returns what the agent of a run has not read yet, oldest first. */
export async function listUnread(em: EntityManager, runId: string): Promise<RunMessage[]> {
  return em.query('select id, text from run_messages where run_id = $1 and turn is null order by at, id', [runId]);
}

/** Marks messages as read before this turn. */
export async function markRead(em: EntityManager, ids: string[], turn: number): Promise<void> {
  if (ids.length > 0) await em.query('update run_messages set turn = $2 where id = any($1)', [ids, turn]);
}

/**
 * Turns what the agent of a run that has ended did not read into revisions, which the next run of the task takes up, and
 * says so in the log of the run.
 */
export async function keepUnread(em: EntityManager, runId: string): Promise<void> {
  await em.query(
    `with unread as (delete from run_messages where run_id = $1 and turn is null returning id, text, said_by, at),
       kept as (insert into revisions (id, task_id, source, text, asked_by, created_at)
         select 'rev_' || substr(u.id, 6), r.task_id, 'person', u.text, u.said_by, u.at
         from unread u join runs r on r.id = $1 returning 1)
     insert into run_events (run_id, type, text)
       select $1, 'said', 'the run ended before its agent read the last messages; the next run reads them'
       where exists (select 1 from unread)`,
    [runId],
  );
}
