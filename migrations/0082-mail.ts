import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What people have chosen about mail, and what they have been told by it. */
export class Mail1770681600000 implements MigrationInterface {
  name = 'Mail1770681600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table mail_settings (
        user_id text primary key references users on delete cascade,
        mode text not null default 'off' check (mode in ('off', 'now', 'daily')),
        address text,
        -- When the person opened the link that was sent to the address.
        confirmed_at timestamptz,
        -- Older entries of the inbox are not mailed.
        since timestamptz not null default now(),
        next_digest_at timestamptz
      );
      create index mail_settings_digest on mail_settings (next_digest_at) where mode = 'daily';

      -- The entries of the inbox about which a person got a mail, while they are in the inbox.
      create table mail_told (
        user_id text not null references users on delete cascade,
        entry text not null,
        primary key (user_id, entry)
      );

      -- Mails in which people confirm their addresses. They are kept for a day, to limit their number.
      create table mail_confirmations (
        id bigint generated always as identity primary key,
        user_id text not null references users on delete cascade,
        address text not null,
        at timestamptz not null default now(),
        sent_at timestamptz
      );
      create index mail_confirmations_user on mail_confirmations (user_id);
      create index mail_confirmations_address on mail_confirmations (address);

      -- The people whose inbox has changed since a worker looked at it. Rows are only added, because updates of one row
      -- would let the transactions of a project's tasks wait for each other.
      create table mail_wanted (
        id bigint generated always as identity primary key,
        user_id text not null references users on delete cascade
      );

      create function want_mail(project text, only_admins boolean) returns void language plpgsql as $$
      begin
        insert into mail_wanted (user_id)
          select m.user_id from members m join mail_settings s on s.user_id = m.user_id
          where m.project_id = project and s.mode = 'now' and s.confirmed_at is not null
            and (not only_admins or m.role in ('owner', 'admin'));
        if found then perform pg_notify('changes', 'mail'); end if;
      end $$;

      create or replace function note_inbox_event(project text, task text, reason text) returns void language plpgsql as $$
      begin
        insert into project_events (project_id, kind, object_id, status)
          values (project, 'inbox', task, coalesce(reason, 'done'));
        perform pg_notify('changes', 'project ' || project);
        perform pg_notify('changes', 'inbox ' || m.user_id) from members m where m.project_id = project;
        if reason is not null then perform want_mail(project, false); end if;
      end $$;

      create function want_mail_of_admins() returns trigger language plpgsql as $$
      begin
        perform want_mail(new.project_id, true);
        return null;
      end $$;
      create trigger admin_notices_mail after insert or update on admin_notices
        for each row execute function want_mail_of_admins();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger admin_notices_mail on admin_notices;
      create or replace function note_inbox_event(project text, task text, reason text) returns void language plpgsql as $$
      begin
        insert into project_events (project_id, kind, object_id, status)
          values (project, 'inbox', task, coalesce(reason, 'done'));
        perform pg_notify('changes', 'project ' || project);
        perform pg_notify('changes', 'inbox ' || m.user_id) from members m where m.project_id = project;
      end $$;
      drop function want_mail_of_admins(), want_mail(text, boolean);
      drop table mail_wanted;
      drop table mail_confirmations;
      drop table mail_told;
      drop table mail_settings;`);
  }
}
