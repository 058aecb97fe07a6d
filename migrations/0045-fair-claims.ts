import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Workers claim the runs of all projects in turn. */
export class FairClaims1767484800000 implements MigrationInterface {
  name = 'FairClaims1767484800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Numbers the running runs of a project from 1. Two claims at the same time choose the same number, and one fails.
      alter table runs add column slot integer;
      update runs set slot = numbered.slot
      from (select id, row_number() over (partition by project_id order by created_at, id) as slot
        from runs where status = 'running') numbered
      where runs.id = numbered.id;
      create unique index runs_slot on runs (project_id, slot) where status = 'running';
      drop index runs_waiting;
      create index runs_queued on runs (created_at, id) where status = 'queued';
      create index runs_queued_by_agent on runs (project_id, coalesce(agent_id, ''), created_at, id)
        where status = 'queued';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index runs_queued_by_agent;
      drop index runs_queued;
      create index runs_waiting on runs (created_at) where status in ('queued', 'running');
      drop index runs_slot;
      alter table runs drop column slot;`);
  }
}
