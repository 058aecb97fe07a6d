import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the model says about a sprint, apart from the facts of the digest. */
export class DigestWords1766016000000 implements MigrationInterface {
  name = 'DigestWords1766016000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table digests add column words text not null default ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table digests drop column words');
  }
}
