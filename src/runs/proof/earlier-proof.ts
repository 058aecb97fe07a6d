import type { EntityManager } from 'typeorm';
import type { RepositoryProof } from '../../conversation/ending.ts';
import type { Proof } from '../../domain/proof/proof.ts';
import { storableJson } from '../../domain/text/sanitize.ts';
import { endingStep } from '../journal.ts';

/**
 * Returns what a run of a task has proved about exactly this tree of a repository with these settings; undefined if none
 * has tested it.
 */
export async function findProofOf(
  em: EntityManager,
  taskId: string,
  { repositoryId, tree, settings }: Required<Omit<RepositoryProof, 'proof'>>,
): Promise<Proof | undefined> {
  const rows: { proof: Proof }[] = await em.query(
    `select about -> 'proof' as proof /* not null */
     from runs r join run_steps s on s.run_id = r.id and s.name = $4
       cross join jsonb_array_elements(s.data -> 'proofs') about
     where r.task_id = $1 and about ->> 'repositoryId' = $2 and about ->> 'tree' = $3 and about -> 'settings' = $5
     order by r.created_at desc, r.id desc limit 1`,
    [taskId, repositoryId, tree, endingStep, storableJson(settings)],
  );
  return rows[0]?.proof;
}
