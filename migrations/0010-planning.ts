import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sessions of the planning wizard, from a goal to a sprint. */
export class Planning1764460800000 implements MigrationInterface {
  name = 'Planning1764460800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table wizard_sessions (
        id text primary key,
        project_id text not null references projects on delete cascade,
        repository_id text references repositories on delete set null,
        created_by text references users on delete set null,
        goal text not null,
        status text not null check (status in ('collecting', 'answered', 'prd_ready', 'plan_ready', 'tasks_ready', 'finalized')),
        -- What was asked, in order, with what was answered; the last one may still be open.
        steps jsonb not null,
        prd jsonb,
        plan jsonb,
        tasks jsonb,
        -- Notes on the repository for the prompts. They are read once.
        repository_notes text,
        -- The sprint and tasks that it became, as they were answered.
        result jsonb,
        -- The issue in which the session began and is shown, if any.
        issue_repository_id text references repositories on delete set null,
        issue_number integer,
        -- Each change increments it, so that the later of two simultaneous changes is refused.
        version integer not null default 1,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      );
      create index wizard_sessions_project on wizard_sessions (project_id, created_at);
      create unique index wizard_sessions_issue on wizard_sessions (issue_repository_id, issue_number) where status <> 'finalized';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table wizard_sessions');
  }
}
