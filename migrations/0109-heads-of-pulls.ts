import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The head of each open pull request, and when it became the head. A command about a pull request does not cover later commits. */
export class HeadsOfPulls1772236970000 implements MigrationInterface {
  name = 'HeadsOfPulls1772236970000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table pull_heads (
        repository_id text not null references repositories (id) on delete cascade,
        number integer not null,
        head_sha text not null,
        since timestamptz not null,
        primary key (repository_id, number));
      insert into pull_heads (repository_id, number, head_sha, since)
        select distinct on (repository_id, number) repository_id, number, head_sha, created_at from pull_proofs
        order by repository_id, number, created_at desc;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table pull_heads');
  }
}
