import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Proofs of people's pull requests, and runs that let those of people go first. */
export class ProofsOfPulls1770854400000 implements MigrationInterface {
  name = 'ProofsOfPulls1770854400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${kinds(`'start', 'retry', 'revise', 'continue', 'rewind', 'review', 'fix', 'prove', 'harvest', 'trial'`)}

      -- Runs of these kinds wait until no other run of their project does, and do not occupy an agent.
      drop index runs_busy_agent, runs_queued, runs_queued_by_agent;
      create unique index runs_busy_agent on runs (agent_id, project_id) where status = 'running' and kind not in ${behind};
      create index runs_queued on runs (created_at, id) where status = 'queued' and kind not in ${behind};
      create index runs_queued_by_agent on runs (project_id, coalesce(agent_id, ''), created_at, id)
        where status = 'queued' and kind not in ${behind};
      create index runs_queued_behind on runs (created_at, id) where status = 'queued' and kind in ${behind};
      create index runs_queued_behind_by_project on runs (project_id, created_at, id)
        where status = 'queued' and kind in ${behind};

      -- A pull request has one hidden task for what agents do for it, and another one for its proofs.
      alter table reviewed_pulls drop constraint reviewed_pulls_pkey,
        add column purpose text not null default 'agents' check (purpose in ('agents', 'proof'));
      alter table reviewed_pulls alter column purpose drop default, add primary key (repository_id, number, purpose);

      -- Code of somebody who may not write here: nothing of it is kept, and it sees no secret.
      alter table pull_asks add column is_foreign boolean not null default false;

      -- What the tests of a pull request prove, for each head.
      create table pull_proofs (
        id text primary key,
        repository_id text not null references repositories on delete cascade,
        number integer not null,
        head_sha text not null,
        author text,
        -- The run that tries it, or tried it last.
        run_id text references runs on delete set null,
        -- Why nothing is tried: it waits for a person who may write, or the minutes of the day are used up.
        hold text check (hold in ('writer', 'minutes')),
        -- Whether weakened tests make the check run fail.
        is_required boolean not null,
        -- The minutes of the day that the repository allows; null where a person asked.
        minutes_per_day real,
        status text,
        reason text,
        -- Notes at lines of the files that decide.
        notes jsonb not null default '[]',
        seconds integer not null default 0,
        at timestamptz,
        -- Identifies everything that decides about the result.
        fingerprint text,
        check_run_id bigint,
        check_shown text,
        created_at timestamptz not null default now(),
        unique (repository_id, number, head_sha),
        check ((status is null) = (at is null))
      );
      create index pull_proofs_newest on pull_proofs (repository_id, at desc, id) where status is not null;
      create index pull_proofs_known on pull_proofs (repository_id, fingerprint) where fingerprint is not null;
      create index pull_proofs_held on pull_proofs (repository_id, created_at) where hold = 'minutes';
      create index pull_proofs_run on pull_proofs (run_id);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table pull_proofs;
      delete from tasks where id in (select task_id from reviewed_pulls where purpose = 'proof');
      delete from runs where kind in ${behind};
      alter table pull_asks drop column is_foreign;
      alter table reviewed_pulls drop constraint reviewed_pulls_pkey;
      alter table reviewed_pulls drop column purpose, add primary key (repository_id, number);
      drop index runs_queued_behind_by_project, runs_queued_behind, runs_busy_agent, runs_queued, runs_queued_by_agent;
      create unique index runs_busy_agent on runs (agent_id, project_id) where status = 'running';
      create index runs_queued on runs (created_at, id) where status = 'queued';
      create index runs_queued_by_agent on runs (project_id, coalesce(agent_id, ''), created_at, id)
        where status = 'queued';
      ${kinds(`'start', 'retry', 'revise', 'continue', 'rewind', 'review', 'fix'`)}`);
  }
}

const behind = `('prove', 'harvest', 'trial')`;

const kinds = (allowed: string) => `
  alter table runs drop constraint runs_kind_check, add constraint runs_kind_check check (kind in (${allowed}));`;
