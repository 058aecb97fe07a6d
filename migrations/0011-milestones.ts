import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sprints as GitHub shows them: a milestone in each repository that has issues of theirs. */
export class Milestones1764547200000 implements MigrationInterface {
  name = 'Milestones1764547200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table sprint_milestones (
        repository_id text not null references repositories on delete cascade,
        number integer not null,
        -- None any more when the sprint was deleted; then the milestone is to be closed.
        sprint_id text references sprints on delete set null,
        -- Title, day and state as they were written last.
        shown text not null,
        primary key (repository_id, number),
        unique (sprint_id, repository_id)
      );
      -- The milestone that we put on the issue; people's own are never touched.
      alter table mirrored add column milestone integer;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table mirrored drop column milestone;
      drop table sprint_milestones;`);
  }
}
