import type { MigrationInterface, QueryRunner } from 'typeorm';

/** People see whether a model is still wording the suggestions about an agent. */
export class SuggestionsUnderWay1766793600000 implements MigrationInterface {
  name = 'SuggestionsUnderWay1766793600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- When the model last answered, usably or not; null while it is being asked.
      alter table agent_suggestions add column ended_at timestamptz;
      update agent_suggestions set ended_at = made_at;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table agent_suggestions drop column ended_at');
  }
}
