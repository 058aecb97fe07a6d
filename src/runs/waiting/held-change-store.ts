import type { EntityManager } from 'typeorm';
import { storableJson } from '../../domain/text/storable.ts';
import type { StoredDiff } from '../../tasks/work-store.ts';

/** The git trees of a change, by the id of their repository. */
export type Trees = Record<string, string>;

/** Stores the change that a run may push once a person approves it. Replaces an earlier one, with its approval. */
export async function holdChange(
  em: EntityManager,
  { id, taskId }: { id: string; taskId: string },
  { trees, diff }: { trees: Trees; diff: StoredDiff },
): Promise<void> {
  const { branchName, baseBranch, files, truncated } = diff;
  await em.query(
    `insert into held_changes (run_id, task_id, trees, branch_name, base_branch, files, truncated)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (run_id) do update set trees = excluded.trees, branch_name = excluded.branch_name,
       base_branch = excluded.base_branch, files = excluded.files, truncated = excluded.truncated, at = now(),
       approved_at = null, approved_by = null`,
    [id, taskId, trees, branchName, baseBranch, storableJson(files), truncated],
  );
}

export async function approveChange(em: EntityManager, runId: string, userId: string): Promise<void> {
  await em.query('update held_changes set approved_at = now(), approved_by = $2 where run_id = $1', [runId, userId]);
}

/** Returns the trees that a person approved for a run; undefined when nobody did. */
export async function findApprovedTrees(em: EntityManager, runId: string): Promise<Trees | undefined> {
  const rows: { trees: Trees }[] = await em.query(
    'select trees from held_changes where run_id = $1 and approved_at is not null',
    [runId],
  );
  return rows[0]?.trees;
}
