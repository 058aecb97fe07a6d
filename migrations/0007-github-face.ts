import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Check runs on GitHub, how much was written there, how far it was read, and the App that the setup page created. */
export class GitHubFace1764201600000 implements MigrationInterface {
  name = 'GitHubFace1764201600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table repositories add column is_archived boolean not null default false;
      alter table tasks add column wants_issue boolean not null default false;
      -- How often in a row GitHub did not know yet whether it can be merged.
      alter table pull_requests add column mergeable_asks integer not null default 0;
      alter table mirrored add column check_run_id bigint;
      alter table mirrored add column check_sha text;
      alter table mirrored add column check_shown text;
      -- Until when no label is changed there, because too much was changed at once.
      alter table mirrored add column tripped_until timestamptz;

      -- Comments made and labels changed by us, for the breaker.
      create table mirror_writes (
        repository_id text not null references repositories on delete cascade,
        number integer not null,
        at timestamptz not null default now()
      );
      create index mirror_writes_place on mirror_writes (repository_id, number, at);

      alter table github_pace add column hour timestamptz not null default '-infinity';
      alter table github_pace add column hour_writes integer not null default 0;

      -- How far something that is read again and again was read.
      create table read_marks (
        name text primary key,
        mark text not null,
        at timestamptz not null default now()
      );

      -- Of each project, so that nobody learns of the others' tasks.
      alter table reconciliations drop column checked;
      -- How many tasks of each project a reconciliation looked at.
      create table reconciled_projects (
        reconciliation_id text not null references reconciliations on delete cascade,
        project_id text not null references projects on delete cascade,
        checked integer not null,
        primary key (reconciliation_id, project_id)
      );

      -- The App, where it was made by the setup page and not by the environment.
      create table github_app (
        app_id bigint primary key,
        slug text not null,
        client_id text not null,
        key_id text not null,
        ciphertext bytea not null,
        created_at timestamptz not null default now()
      );
      -- There is one App.
      create unique index github_app_one on github_app ((true));
      create table setup_codes (
        code_digest text primary key,
        created_at timestamptz not null default now()
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table reconciliations add column checked integer not null default 0;
      drop table setup_codes, github_app, reconciled_projects, read_marks, mirror_writes;
      alter table github_pace drop column hour_writes, drop column hour;
      alter table mirrored drop column tripped_until, drop column check_shown, drop column check_sha, drop column check_run_id;
      alter table pull_requests drop column mergeable_asks;
      alter table tasks drop column wants_issue;
      alter table repositories drop column is_archived;`);
  }
}
