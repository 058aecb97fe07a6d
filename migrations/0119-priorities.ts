import type { MigrationInterface, QueryRunner } from 'typeorm';

const behind = `('prove', 'harvest', 'trial')`;

/** Tasks have a priority. A run takes that of its task, so that the claim finds the most urgent ones of a project by an index. */
export class Priorities1772238300000 implements MigrationInterface {
  name = 'Priorities1772238300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table tasks add column priority text not null default 'normal'
        check (priority in ('urgent', 'high', 'normal', 'low'));
      alter table runs add column priority text not null default 'normal';

      drop trigger runs_labels on runs;
      drop function take_labels();
      create function take_from_task() returns trigger language plpgsql as $$
      declare
        found record;
      begin
        select p.runs_on, t.priority into found from tasks t left join repositories p on p.id = t.repository_id
        where t.id = new.task_id;
        new.runs_on := coalesce(found.runs_on, '{}');
        new.priority := coalesce(found.priority, 'normal');
        return new;
      end $$;
      create trigger runs_take_from_task before insert on runs for each row execute function take_from_task();

      create function pass_priority() returns trigger language plpgsql as $$
      begin
        update runs set priority = new.priority where task_id = new.id and status in ('queued', 'running', 'waiting');
        return null;
      end $$;
      create trigger tasks_priority after update of priority on tasks for each row
        when (old.priority <> new.priority) execute function pass_priority();

      create index runs_queued_by_priority on runs
        (project_id, array_position('{urgent,high,normal,low}'::text[], priority), created_at, id)
        where status = 'queued' and kind not in ${behind};`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index runs_queued_by_priority;
      drop trigger tasks_priority on tasks;
      drop function pass_priority();
      drop trigger runs_take_from_task on runs;
      drop function take_from_task();
      create function take_labels() returns trigger language plpgsql as $$
      begin
        new.runs_on := coalesce((select p.runs_on from tasks t join repositories p on p.id = t.repository_id
          where t.id = new.task_id), '{}');
        return new;
      end $$;
      create trigger runs_labels before insert on runs for each row execute function take_labels();
      alter table runs drop column priority;
      alter table tasks drop column priority;`);
  }
}
