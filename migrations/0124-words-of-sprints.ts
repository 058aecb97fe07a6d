import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores whose words the name and the goal of a sprint are. For sprints that exist, the audit log says who created and changed them. */
export class WordsOfSprints1772238330000 implements MigrationInterface {
  name = 'WordsOfSprints1772238330000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table sprints add column directed_by jsonb not null default '[]'`);
    await runner.query(
      `update sprints s set directed_by = a.people from (
         select object_id, jsonb_agg(distinct actor_id) as people from audit_records
         where object_type = 'sprint' and action in ('sprint.create', 'sprint.update') and actor_id is not null
         group by object_id) a
       where a.object_id = s.id`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table sprints drop column directed_by');
  }
}
