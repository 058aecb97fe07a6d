import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the tests of a run's change prove. */
export class Proofs1765756800000 implements MigrationInterface {
  name = 'Proofs1765756800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table proofs (
        run_id text primary key references runs (id) on delete cascade,
        task_id text not null references tasks (id) on delete cascade,
        status text not null check (status in ('proved', 'unproved', 'weakened', 'no_tests', 'not_run')),
        new_tests_fail_on_base boolean,
        old_tests_pass boolean,
        tests_changed jsonb not null default '[]',
        tests_removed jsonb not null default '[]',
        reason text,
        at timestamptz not null default now()
      );
      create index proofs_task on proofs (task_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table proofs');
  }
}
