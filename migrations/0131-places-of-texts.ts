import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores with a task the repositories whose content its title and description may repeat: that of its issue, and those that the
 * run had opened which wrote it as a subtask. They stay when the issue is deleted, and have no foreign key.
 */
export class PlacesOfTexts1772238400000 implements MigrationInterface {
  name = 'PlacesOfTexts1772238400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table tasks add column text_repository_ids jsonb not null default '[]'`);
    await runner.query(
      `update tasks set text_repository_ids = jsonb_build_array(issue_repository_id) where issue_repository_id is not null`,
    );
    await runner.query(
      `update tasks t set text_repository_ids = t.text_repository_ids || o.ids
       from (select r.task_id, jsonb_agg(distinct substr(s.name, length('opened ') + 1)) as ids
         from runs r join run_steps s on s.run_id = r.id where starts_with(s.name, 'opened ') group by r.task_id) o
       where t.parent_id = o.task_id and t.created_by is null`,
    );
    await runner.query(
      `update tasks t set text_repository_ids = t.text_repository_ids || p.text_repository_ids
       from tasks p where p.id = t.parent_id and t.created_by is null and p.text_repository_ids <> '[]'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks drop column text_repository_ids');
  }
}
