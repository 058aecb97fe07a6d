import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes for removing old rows. Without them each search would read the largest tables completely. */
export class Retention1764720000000 implements MigrationInterface {
  name = 'Retention1764720000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index sign_ins_age on sign_ins (created_at);
      create index deliveries_age on deliveries (received_at);
      create index run_events_age on run_events (at);
      create index run_turns_age on run_turns (at);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index run_turns_age, run_events_age, deliveries_age, sign_ins_age');
  }
}
