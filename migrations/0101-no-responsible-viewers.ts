import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A viewer decides nothing, so what waits for one would be in nobody's inbox: whoever becomes a viewer is responsible for nothing. */
export class NoResponsibleViewers1772236800000 implements MigrationInterface {
  name = 'NoResponsibleViewers1772236800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create function free_tasks_of_viewer() returns trigger language plpgsql as $$
      begin
        update tasks set responsible = null where project_id = new.project_id and responsible = new.user_id;
        return null;
      end $$;
      create trigger members_become_viewers after update of role on members
        for each row when (new.role = 'viewer' and old.role <> 'viewer') execute function free_tasks_of_viewer();
      update tasks t set responsible = null from members m
        where m.project_id = t.project_id and m.user_id = t.responsible and m.role = 'viewer';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop trigger members_become_viewers on members; drop function free_tasks_of_viewer();');
  }
}
