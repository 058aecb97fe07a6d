import type { EntityManager } from 'typeorm';
import type { Proof } from '../../domain/proof/proof.ts';
import { storableJson } from '../../domain/text/storable.ts';

/** Stores the proof of a run's change. */
export async function upsertProof(em: EntityManager, run: { id: string; taskId: string }, proof: Proof): Promise<void> {
  await em.query(
    `insert into proofs (run_id, task_id, status, new_tests_fail_on_base, old_tests_pass, tests_changed, tests_removed,
       reason) values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (run_id) do update set status = excluded.status,
       new_tests_fail_on_base = excluded.new_tests_fail_on_base, old_tests_pass = excluded.old_tests_pass,
       tests_changed = excluded.tests_changed, tests_removed = excluded.tests_removed, reason = excluded.reason, at = now()`,
    [
      run.id,
      run.taskId,
      proof.status,
      proof.newTestsFailOnBase,
      proof.oldTestsPass,
      storableJson(proof.testsChanged),
      storableJson(proof.testsRemoved),
      proof.reason,
    ],
  );
}

/** Returns the proof of the latest run that has one. */
export async function findProof(em: EntityManager, taskId: string): Promise<(Proof & { runId: string }) | undefined> {
  const rows: (Proof & { runId: string })[] = await em.query(
    `select p.run_id as "runId", p.status, p.new_tests_fail_on_base as "newTestsFailOnBase",
       p.old_tests_pass as "oldTestsPass", p.tests_changed as "testsChanged", p.tests_removed as "testsRemoved", p.reason
     from proofs p join runs r on r.id = p.run_id
     where p.task_id = $1 order by r.created_at desc, r.id desc limit 1`,
    [taskId],
  );
  return rows[0];
}
