import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a task was last compared with GitHub in a repository, so that those longest not compared come first. */
export class Compared1764979200000 implements MigrationInterface {
  name = 'Compared1764979200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table compared (
        repository_id text not null references repositories (id) on delete cascade,
        task_id text not null references tasks (id) on delete cascade,
        compared_at timestamptz not null,
        primary key (repository_id, task_id)
      );
      create index compared_task on compared (task_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table compared');
  }
}
