import type { MigrationInterface, QueryRunner } from 'typeorm';

/** OpenAI's models since gpt-5.6 know a seventh effort. */
export class EffortMax1768089600000 implements MigrationInterface {
  name = 'EffortMax1768089600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table agents drop constraint agents_reasoning_effort_check;
      alter table agents add constraint agents_reasoning_effort_check
        check (reasoning_effort in ('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'));`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      update agents set reasoning_effort = 'xhigh' where reasoning_effort = 'max';
      alter table agents drop constraint agents_reasoning_effort_check;
      alter table agents add constraint agents_reasoning_effort_check
        check (reasoning_effort in ('none', 'minimal', 'low', 'medium', 'high', 'xhigh'));`);
  }
}
