import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the repository of a task's issue to those whose content its text may repeat, also where Deckhand created the issue. */
export class PlacesOfLinkedIssues1772238500000 implements MigrationInterface {
  name = 'PlacesOfLinkedIssues1772238500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `update tasks set text_repository_ids = text_repository_ids || jsonb_build_array(issue_repository_id)
       where issue_repository_id is not null and not jsonb_exists(text_repository_ids, issue_repository_id)`,
    );
  }

  async down(): Promise<void> {}
}
