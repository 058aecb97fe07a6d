import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Signed receipts of pull requests, and changes that collide with each other. */
export class ReceiptsAndCollisions1771200000000 implements MigrationInterface {
  name = 'ReceiptsAndCollisions1771200000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The keys that sign receipts, or have signed them.
      create table receipt_keys (
        -- The thumbprint of the public key (RFC 7638).
        id text primary key,
        public_key text not null,
        -- The private key, encrypted; null for one from the settings.
        key_id text,
        ciphertext bytea,
        created_at timestamptz not null default now(),
        check ((key_id is null) = (ciphertext is null))
      );

      -- What a run states, signed, about the commit that it pushed for a pull request.
      create table receipts (
        run_id text not null references runs on delete cascade,
        repository_id text not null references repositories on delete cascade,
        number integer not null,
        pull_url text not null,
        commit_sha text not null,
        -- A DSSE envelope. It is kept as it was signed.
        envelope json not null,
        created_at timestamptz not null default now(),
        primary key (run_id, repository_id)
      );
      create index receipts_commit on receipts (repository_id, commit_sha);
      create index receipts_pull on receipts (pull_url, created_at);

      -- A pull request of a task that git cannot merge together with another open one. Two of ours have a row each.
      create table collisions (
        repository_id text not null,
        number integer not null,
        task_id text not null,
        head_sha text not null,
        other_number integer not null,
        -- The other task, and the number again; null for a pull request that is not of a task.
        other_task_id text,
        other_own_number integer,
        other_url text not null,
        other_title text not null,
        other_author text,
        other_head_sha text not null,
        files jsonb not null,
        at timestamptz not null default now(),
        primary key (repository_id, number, other_number),
        foreign key (repository_id, number) references pull_requests on delete cascade,
        foreign key (repository_id, other_own_number) references pull_requests on delete cascade
      );
      create index collisions_task on collisions (task_id);
      create index collisions_other on collisions (repository_id, other_number);
      create index collisions_other_own on collisions (repository_id, other_own_number) where other_own_number is not null;

      -- Boards and pages of tasks show them.
      create function note_collision() returns trigger language plpgsql as $$
      declare changed record := coalesce(new, old);
      begin
        insert into project_events (project_id, kind, object_id, status)
          select t.project_id, 'task', t.id, t.status from tasks t where t.id = changed.task_id and not t.hidden;
        perform pg_notify('changes', 'project ' || t.project_id) from tasks t where t.id = changed.task_id;
        return null;
      end $$;
      create trigger collisions_event after insert or delete on collisions
        for each row execute function note_collision();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table collisions, receipts, receipt_keys;
      drop function note_collision;`);
  }
}
