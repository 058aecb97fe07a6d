import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The secrets that set-up of a project's repositories gets, and trials of set-up without an agent. */
export class Environments1765324800000 implements MigrationInterface {
  name = 'Environments1765324800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table environment_secrets (
        project_id text not null references projects (id) on delete cascade,
        name text not null,
        key_id text not null,
        ciphertext bytea not null,
        -- Changes with every value, because a kept result of set-up is valid only for the values that made it.
        version text not null,
        created_at timestamptz not null default now(),
        primary key (project_id, name)
      );
      create table environment_trials (
        id text primary key,
        repository_id text not null references repositories (id) on delete cascade,
        status text not null check (status in ('running', 'ready', 'failed')),
        started_at timestamptz not null default now(),
        finished_at timestamptz,
        image text,
        problem text,
        commands jsonb not null default '[]',
        refused_hosts jsonb not null default '[]',
        -- The issue or pull request that asked for the trial and gets its result.
        issue_number integer,
        -- When its worker last reported. A running trial that was not seen for minutes has lost its worker.
        seen_at timestamptz not null default now()
      );
      create unique index environment_trials_running on environment_trials (repository_id) where status = 'running';
      create index environment_trials_repository on environment_trials (repository_id, started_at desc)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table environment_trials; drop table environment_secrets');
  }
}
