import type { EntityManager } from 'typeorm';
import { newId } from '../db/ids.ts';

export type RevisionSource = 'person' | 'review' | 'checks' | 'conflict';

/** A request to change work in review, made by a person or by an event on GitHub. */
export interface Revision {
  taskId: string;
  source: RevisionSource;
  text: string;
  /**
   * Identifies the event that requested the revision. A second revision with the same cause is ignored, because GitHub
   * may deliver an event several times.
   */
  cause: string | null;
  askedBy: string | null;
}

/** Stores a revision until a run takes it up. Returns false when a revision with the same cause is already stored. */
export async function insertRevision(em: EntityManager, revision: Revision): Promise<boolean> {
  const rows = await em.query(
    `insert into revisions (id, task_id, source, text, cause, asked_by) values ($1, $2, $3, $4, $5, $6)
     on conflict (cause) do nothing returning id`,
    [newId('rev'), revision.taskId, revision.source, revision.text, revision.cause, revision.askedBy],
  );
  return rows.length === 1;
}

/** Returns the revisions that no run has taken up yet, oldest first. */
export async function listWaitingRevisions(em: EntityManager, taskId: string) {
  const rows: { id: string; source: RevisionSource; text: string; askedBy: string | null }[] = await em.query(
    `select id, source, text, asked_by as "askedBy" from revisions where task_id = $1 and run_id is null
     order by created_at, id`,
    [taskId],
  );
  return rows;
}

/** Marks revisions as taken up by a run. */
export async function giveRevisionsTo(em: EntityManager, runId: string, ids: string[]): Promise<void> {
  await em.query('update revisions set run_id = $1 where id = any($2)', [runId, ids]);
}

/** Makes the revisions of a run that did not succeed available to the next run. */
export async function releaseRevisionsOf(em: EntityManager, runId: string): Promise<void> {
  await em.query('update revisions set run_id = null where run_id = $1', [runId]);
}

/** Deletes the revisions that no run has taken up. Called when the task is done. */
export async function dropWaitingRevisions(em: EntityManager, taskId: string): Promise<void> {
  await em.query('delete from revisions where task_id = $1 and run_id is null', [taskId]);
}

/** Counts the revisions of a task that came from a source and whose cause starts with `causePrefix`. */
export async function countRevisions(
  em: EntityManager,
  taskId: string,
  source: RevisionSource,
  causePrefix: string,
): Promise<number> {
  const [row] = await em.query(
    `select count(*)::int as count from revisions where task_id = $1 and source = $2 and starts_with(cause, $3)`,
    [taskId, source, causePrefix],
  );
  return row.count;
}

/** Returns whether a run has taken up a revision from a source. */
export async function isAskedFor(em: EntityManager, runId: string, source: RevisionSource): Promise<boolean> {
  return (
    (await em.query('select 1 from revisions where run_id = $1 and source = $2 limit 1', [runId, source])).length > 0
  );
}
