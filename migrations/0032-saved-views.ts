import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The views of boards that people save, each for one person and project. */
export class SavedViews1766361600000 implements MigrationInterface {
  name = 'SavedViews1766361600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table saved_views (
        project_id text not null,
        user_id text not null,
        name text not null,
        -- The filters and the sorting, as in the address of the board.
        query text not null,
        created_at timestamptz not null default now(),
        primary key (project_id, user_id, name),
        -- The views of a person who leaves a project go with the membership.
        foreign key (project_id, user_id) references members on delete cascade
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table saved_views;');
  }
}
