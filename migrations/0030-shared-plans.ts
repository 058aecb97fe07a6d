import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Planning sessions read several repositories, keep the version before the last change, and lead to their sprint. */
export class SharedPlans1766188800000 implements MigrationInterface {
  name = 'SharedPlans1766188800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table wizard_sessions
        -- The repositories to read, the first one being that of tasks without a repository of their own.
        add column repository_ids jsonb not null default '[]',
        add column sprint_id text references sprints on delete set null,
        -- The parts of the plan before their last change: { prd?, plan?, tasks? }.
        add column previous jsonb not null default '{}',
        -- The change that a comment asked for and that is not yet written.
        add column wish text;
      update wizard_sessions w set
        repository_ids = case when repository_id is null then '[]' else jsonb_build_array(repository_id) end,
        sprint_id = (select s.id from sprints s where s.id = w.result->'sprint'->>'id');
      create index wizard_sessions_sprint on wizard_sessions (sprint_id) where sprint_id is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table wizard_sessions drop column repository_ids, drop column sprint_id, drop column previous,
        drop column wish`);
  }
}
