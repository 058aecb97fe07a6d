import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Commits that were not ready stay so when a branch returns to them, and pull requests with the same head are found. The
 * trigger also works for what a worker of the previous release stores.
 */
export class EarlierUnreadyCommits1772237800000 implements MigrationInterface {
  name = 'EarlierUnreadyCommits1772237800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table pull_requests add column unready_before jsonb not null default '[]';

      create function keep_unready_commit() returns trigger language plpgsql as $f$
      begin
        new.unready_before := new.unready_before - old.unready_sha;
        -- With the same head, the commit has become ready.
        if new.unready_sha is not null or new.head_sha <> old.unready_sha then
          new.unready_before := new.unready_before || to_jsonb(old.unready_sha);
        end if;
        if jsonb_array_length(new.unready_before) > 50 then
          new.unready_before := new.unready_before - 0;
        end if;
        return new;
      end $f$;
      create trigger pull_requests_unready before update on pull_requests for each row
        when (old.unready_sha is distinct from new.unready_sha and old.unready_sha is not null)
        execute function keep_unready_commit();

      create index pull_proofs_head on pull_proofs (repository_id, head_sha);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index pull_proofs_head;
      drop trigger pull_requests_unready on pull_requests;
      drop function keep_unready_commit();
      alter table pull_requests drop column unready_before;`);
  }
}
