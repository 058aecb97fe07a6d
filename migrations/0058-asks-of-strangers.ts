import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many comments of people who are not members of a project called its model, in the last hour in which they did. */
export class AsksOfStrangers1768608000000 implements MigrationInterface {
  name = 'AsksOfStrangers1768608000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table asks_of_strangers (
        user_id text primary key references users on delete cascade,
        hour timestamptz not null,
        count integer not null
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table asks_of_strangers;');
  }
}
