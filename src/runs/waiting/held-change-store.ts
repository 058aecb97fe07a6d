import type { EntityManager } from 'typeorm';
import { storableJson } from '../../domain/text/storable.ts';
import type { StoredDiff } from '../../tasks/work-store.ts';
import type { Approvable } from '../agent/ending/ending.ts';

/** Stores a change that waits for approval. Removes the approvals that the run had for any other change. */
export async function holdChange(
  em: EntityManager,
  { id, taskId }: { id: string; taskId: string },
  { purpose, trees, parents }: Approvable,
  diff: StoredDiff,
): Promise<void> {
  const { branchName, baseBranch, files, truncated } = diff;
  await em.query(
    `delete from held_changes
     where run_id = $1 and (approved_at is null or purpose = $2 or trees <> $3 or parents <> $4)`,
    [id, purpose, trees, parents],
  );
  await em.query(
    `insert into held_changes (run_id, task_id, purpose, trees, parents, branch_name, base_branch, files, truncated)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, taskId, purpose, trees, parents, branchName, baseBranch, storableJson(files), truncated],
  );
}

/** Approves the change for which a run waits. */
export async function approveChange(em: EntityManager, runId: string, userId: string): Promise<void> {
  await em.query(
    'update held_changes set approved_at = now(), approved_by = $2 where run_id = $1 and approved_at is null',
    [runId, userId],
  );
}

/** Returns whether a person approved exactly this for a run. */
export async function isApproved(em: EntityManager, runId: string, wanted: Approvable): Promise<boolean> {
  const { purpose, trees, parents } = wanted;
  const rows = await em.query(
    `select from held_changes
     where run_id = $1 and approved_at is not null and purpose = $2 and trees = $3 and parents = $4`,
    [runId, purpose, trees, parents],
  );
  return rows.length > 0;
}
