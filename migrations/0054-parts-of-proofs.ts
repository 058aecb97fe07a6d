import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a run proved in each of its repositories. */
export class PartsOfProofs1768262400000 implements MigrationInterface {
  name = 'PartsOfProofs1768262400000';

  async up(runner: QueryRunner): Promise<void> {
    // Which repository an earlier result is about is not known, so the worst one counts for each of the run.
    await runner.query(`
      alter table proofs add column parts jsonb not null default '{}';
      update proofs p set parts = s.parts from (
        select o.run_id, jsonb_object_agg(key, jsonb_build_object('status', o.status,
          'newTestsFailOnBase', o.new_tests_fail_on_base, 'oldTestsPass', o.old_tests_pass,
          'testsChanged', o.tests_changed, 'testsRemoved', o.tests_removed, 'reason', o.reason)) as parts
        from proofs o, jsonb_object_keys(case when o.commits = '{}' then o.trees else o.commits end) key group by o.run_id) s
      where s.run_id = p.run_id;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table proofs drop column parts');
  }
}
