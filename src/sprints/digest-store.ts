import type { EntityManager } from 'typeorm';
import type { Failure } from '../domain/run.ts';
import { storableJson, storableText } from '../domain/text/storable.ts';
import { notFound } from '../errors.ts';
import type { SprintView } from './store.ts';

/** The report of a completed sprint. */
export interface DigestView {
  sprintId: string;
  createdAt: Date;
  /** The facts. */
  markdown: string;
  /** What the model says about the facts; empty without a model. */
  words: string;
  completed: string[];
  carriedOver: string[];
  failed: { taskId: string; category: Failure['category']; message: string }[];
  costUsd: number;
}

export interface DigestTask {
  id: string;
  title: string;
  isDone: boolean;
  failure: Failure | null;
}

/** Returns the tasks of a sprint, oldest first. */
export async function listDigestTasks(em: EntityManager, sprintId: string): Promise<DigestTask[]> {
  return em.query(
    `select t.id, t.title, t.status = 'done' as "isDone", t.failure from tasks t where t.sprint_id = $1
     order by t.created_at, t.id`,
    [sprintId],
  );
}

/** Returns the cost in US dollars of the runs of a sprint's tasks since the sprint began. */
export async function costOfSprint(em: EntityManager, sprint: SprintView): Promise<number> {
  const [{ cost }] = await em.query(
    `select coalesce(sum(r.cost_usd), 0)::float8 as cost from runs r join tasks t on t.id = r.task_id
     where t.sprint_id = $1 and r.created_at >= coalesce($2, r.created_at)`,
    [sprint.id, sprint.startedAt],
  );
  return cost;
}

export async function insertDigest(em: EntityManager, digest: Omit<DigestView, 'createdAt' | 'words'>): Promise<void> {
  await em.query(
    `insert into digests (sprint_id, markdown, completed, carried_over, failed, cost_usd) values ($1, $2, $3, $4, $5, $6)`,
    [
      digest.sprintId,
      storableText(digest.markdown),
      storableJson(digest.completed),
      storableJson(digest.carriedOver),
      storableJson(digest.failed),
      digest.costUsd,
    ],
  );
}

/**
 * Finds the report of a sprint.
 * @throws AppError 404 until the sprint is completed
 */
export async function getDigest(em: EntityManager, sprintId: string): Promise<DigestView> {
  const rows: DigestView[] = await em.query(
    `select sprint_id as "sprintId", created_at as "createdAt", markdown, words, completed, carried_over as "carriedOver",
       failed, cost_usd::float8 as "costUsd" from digests where sprint_id = $1`,
    [sprintId],
  );
  if (rows[0] === undefined) throw notFound('Digest of sprint', sprintId);
  return rows[0];
}

export async function setDigestWords(em: EntityManager, sprintId: string, words: string): Promise<void> {
  await em.query('update digests set words = $2 where sprint_id = $1', [sprintId, storableText(words)]);
}
