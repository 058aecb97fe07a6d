import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The entries of the inbox that a person does not want to see for a while. */
export class Snoozes1771632000000 implements MigrationInterface {
  name = 'Snoozes1771632000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table inbox_snoozes (
        user_id text not null references users on delete cascade,
        task_id text not null references tasks on delete cascade,
        until timestamptz not null,
        -- Since when the task needed a person. What it needs since later is listed all the same.
        since timestamptz not null,
        primary key (user_id, task_id)
      );
      create index inbox_snoozes_task on inbox_snoozes (task_id);
      create index inbox_snoozes_until on inbox_snoozes (until);

      create function note_snooze() returns trigger language plpgsql as $$
      declare changed record := coalesce(new, old);
      begin
        perform pg_notify('changes', 'inbox ' || changed.user_id);
        -- When its time is over, the person is told again.
        if tg_op = 'DELETE' and old.until <= now() then
          delete from mail_told where user_id = old.user_id and starts_with(entry, old.task_id || ' ');
          insert into mail_wanted (user_id) select s.user_id from mail_settings s
            where s.user_id = old.user_id and s.mode = 'now' and s.confirmed_at is not null;
          if found then perform pg_notify('changes', 'mail'); end if;
        end if;
        return null;
      end $$;
      create trigger inbox_snoozes_event after insert or update or delete on inbox_snoozes
        for each row execute function note_snooze();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table inbox_snoozes;
      drop function note_snooze();`);
  }
}
