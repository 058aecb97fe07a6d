import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was found out about files with some settings, apart from the pull requests that show it; up to which commit a base branch was
 * followed; with which settings a proof was made, and whether it counts no longer. The fingerprint in `pull_proofs` stays for the
 * previous release.
 */
export class WhatProofsAreAbout1772238310000 implements MigrationInterface {
  name = 'WhatProofsAreAbout1772238310000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table proof_evidence (
        repository_id text not null references repositories on delete cascade,
        -- Identifies everything that decides about the result.
        fingerprint text not null,
        status text not null,
        reason text,
        is_hindered boolean not null,
        notes jsonb not null,
        -- The head about which it was found out.
        head_sha text not null,
        at timestamptz not null,
        primary key (repository_id, fingerprint)
      );
      insert into proof_evidence
      select distinct on (repository_id, fingerprint)
        repository_id, fingerprint, status, reason, is_hindered, notes, head_sha, at
      from pull_proofs where fingerprint is not null and status <> 'not_run'
      order by repository_id, fingerprint, at desc, id desc;

      -- Pushes to these branches from these commits on have proofs tried again. A branch has several while a run has seen another commit
      -- than the last push.
      create table proof_bases (
        repository_id text not null references repositories on delete cascade,
        branch text not null,
        head_sha text not null,
        looked_at timestamptz not null default now(),
        primary key (repository_id, branch, head_sha)
      );
      alter table pull_proofs
        -- Null in proofs of an earlier release.
        add column rules text,
        -- Why its result counts no longer, or will not once its run ends: its base branch or the settings have changed since it was
        -- asked for.
        add column outdated_reason text,
        -- A later head, which a run of a task has made. It is proved only if somebody asks.
        add column own_head text;
      -- A large push has too many commits for it.
      drop index pull_proofs_commits;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create index pull_proofs_commits on pull_proofs using gin (commits) where commits <> '{}';
      drop table proof_evidence, proof_bases; alter table pull_proofs drop column rules, drop column outdated_reason, drop column own_head`,
    );
  }
}
