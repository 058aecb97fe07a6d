import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Subtasks as sub-issues and dependencies as issue dependencies; types and assignees of issues. */
export class IssueLinks1770768000000 implements MigrationInterface {
  name = 'IssueLinks1770768000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table tasks add column issue_type text, add column issue_assignees jsonb not null default '[]';

      -- Links of issues that were compared with those of their tasks.
      create table issue_links (
        -- The parent, or the task that waits.
        task_id text not null references tasks on delete cascade,
        kind text not null check (kind in ('subtask', 'dependency')),
        -- The subtask, or the task that it waits for.
        other_id text not null references tasks on delete cascade,
        -- Whether both sides had the link when they last agreed.
        is_agreed boolean not null,
        -- Why they differ now, and when that is tried again.
        problem text,
        again_at timestamptz,
        check ((problem is null) = (again_at is null)),
        check (is_agreed or problem is not null),
        primary key (task_id, kind, other_id)
      );
      create index issue_links_other on issue_links (other_id);

      -- What the GitHub of an installation does not have.
      create table missing_on_host (
        installation_id bigint not null,
        kind text not null,
        at timestamptz not null,
        primary key (installation_id, kind)
      );

      alter table audit_records drop constraint audit_records_via_check;
      alter table audit_records add constraint audit_records_via_check
        check (via in ('token', 'session', 'mcp', 'comment', 'label', 'review', 'issue', 'system'));`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table issue_links, missing_on_host;
      alter table tasks drop column issue_type, drop column issue_assignees;
      alter table audit_records drop constraint audit_records_via_check;
      alter table audit_records add constraint audit_records_via_check
        check (via in ('token', 'session', 'mcp', 'comment', 'label', 'review', 'system')) not valid;`);
  }
}
