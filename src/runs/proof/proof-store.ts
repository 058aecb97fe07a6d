import type { EntityManager } from 'typeorm';
import type { Trees } from '../../conversation/ending.ts';
import { notRun, type Proof } from '../../domain/proof/proof.ts';
import { storableJson } from '../../domain/text/sanitize.ts';

/** Stores the proof of a run's change, which has these trees. */
export async function upsertProof(
  em: EntityManager,
  run: { id: string; taskId: string },
  proof: Proof,
  trees: Trees,
): Promise<void> {
  await em.query(
    `insert into proofs (run_id, task_id, status, new_tests_fail_on_base, old_tests_pass, tests_changed, tests_removed,
       reason, trees) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (run_id) do update set status = excluded.status,
       new_tests_fail_on_base = excluded.new_tests_fail_on_base, old_tests_pass = excluded.old_tests_pass,
       tests_changed = excluded.tests_changed, tests_removed = excluded.tests_removed, reason = excluded.reason,
       trees = excluded.trees, at = now()`,
    [
      run.id,
      run.taskId,
      proof.status,
      proof.newTestsFailOnBase,
      proof.oldTestsPass,
      storableJson(proof.testsChanged),
      storableJson(proof.testsRemoved),
      proof.reason,
      trees,
    ],
  );
}

/** Stores the commit as which a run pushes the tree that its proof is about. */
export async function setProvenCommit(
  em: EntityManager,
  runId: string,
  repositoryId: string,
  commit: string,
): Promise<void> {
  await em.query('update proofs set commits = commits || jsonb_build_object($2::text, $3::text) where run_id = $1', [
    runId,
    repositoryId,
    commit,
  ]);
}

/**
 * The condition under which the evidence of a run, with its row `p` of `proofs`, is void: an open pull request has
 * another head than the commit that the run pushed.
 */
export const isVoid = `exists (select from pull_requests pr where pr.task_id = p.task_id and pr.status in ('open', 'draft')
  and p.commits ? pr.repository_id and pr.head_sha <> p.commits ->> pr.repository_id)`;

/** Returns the proof of the latest run that has one. It is void when the branch has other commits since then. */
export async function findProof(em: EntityManager, taskId: string): Promise<(Proof & { runId: string }) | undefined> {
  const rows: (Proof & { runId: string; isVoid: boolean })[] = await em.query(
    `select p.run_id as "runId", p.status, p.new_tests_fail_on_base as "newTestsFailOnBase",
       p.old_tests_pass as "oldTestsPass", p.tests_changed as "testsChanged", p.tests_removed as "testsRemoved", p.reason,
       ${isVoid} as "isVoid"
     from proofs p join runs r on r.id = p.run_id
     where p.task_id = $1 order by r.created_at desc, r.id desc limit 1`,
    [taskId],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { isVoid: isOther, ...proof } = row;
  return isOther ? { ...notRun('the branch has commits that this run did not test'), runId: row.runId } : proof;
}
