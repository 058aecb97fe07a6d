import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores whose words the report of a sprint contains. Earlier reports have null, and chats leave their text out. */
export class WordsOfDigests1772238340000 implements MigrationInterface {
  name = 'WordsOfDigests1772238340000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table digests add column directed_by jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table digests drop column directed_by');
  }
}
