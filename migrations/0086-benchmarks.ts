import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Benchmarks of repositories: earlier changes whose tests tell whether an agent can make them. */
export class Benchmarks1770940800000 implements MigrationInterface {
  name = 'Benchmarks1770940800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table runs drop constraint runs_kind_check,
        add constraint runs_kind_check check (kind in (
          'start', 'retry', 'revise', 'continue', 'rewind', 'review', 'fix', 'prove', 'harvest'));

      create table benchmarks (
        repository_id text primary key references repositories on delete cascade,
        -- The hidden task to which the runs belong that harvest it, and the latest of them.
        task_id text not null unique references tasks on delete cascade,
        run_id text not null references runs on delete cascade,
        -- How many usable items were asked for, and since when the changes may be.
        most integer not null,
        since timestamptz,
        -- The commits that the latest run has looked at, and how many of them were left out for which reason.
        looked integer not null default 0,
        dropped jsonb not null default '{}',
        created_at timestamptz not null default now()
      );

      -- A change of the past as a task with hidden tests.
      create table benchmark_items (
        id text primary key,
        repository_id text not null references benchmarks on delete cascade,
        title text not null,
        text text not null,
        -- What the text said about the solution and says no longer.
        removed jsonb not null,
        base_sha text not null,
        solution_sha text not null,
        -- The paths that the solution's tests consist of, and the single tests that fail before it and pass with it.
        tests jsonb not null,
        single_tests jsonb not null,
        -- How long the checks took with the solution.
        seconds double precision not null,
        state text not null check (state in ('usable', 'rejected')),
        reason text,
        enabled boolean not null default true,
        -- The key of the environment of the base, under which its set-up is kept.
        environment_key text not null,
        -- Newer changes have smaller numbers.
        place integer not null,
        check ((state = 'rejected') = (reason is not null)),
        created_at timestamptz not null default now(),
        unique (repository_id, solution_sha)
      );
      create index benchmark_items_order on benchmark_items (repository_id, state, place);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table benchmark_items, benchmarks;
      delete from tasks where hidden and id in (select task_id from runs where kind = 'harvest');
      alter table runs drop constraint runs_kind_check,
        add constraint runs_kind_check check (kind in (
          'start', 'retry', 'revise', 'continue', 'rewind', 'review', 'fix', 'prove'));`);
  }
}
