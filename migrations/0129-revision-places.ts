import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores with a request for changes the repositories whose content it may repeat. They have no foreign key: what a repository
 * contained stays private when it is disconnected.
 */
export class RevisionPlaces1772238380000 implements MigrationInterface {
  name = 'RevisionPlaces1772238380000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table revisions add column repository_ids jsonb not null default '[]'`);
    // The cause of such a request begins with its kind, then names the repository. A run that fails leaves its requests to the next one.
    await runner.query(
      `update revisions set repository_ids = jsonb_build_array(split_part(cause, '/', 2))
       where split_part(cause, '/', 1) in ('checks', 'conflict', 'review', 'thread')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table revisions drop column repository_ids');
  }
}
