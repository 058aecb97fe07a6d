import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether a role was given by a person or by GitHub, and which process is answering an idempotent request. */
export class Identity1764633600000 implements MigrationInterface {
  name = 'Identity1764633600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table idempotency_keys
        -- The attempt that may answer. Another one takes over by writing its own, so at most one of them commits.
        add column claim text not null default '',
        -- The process of that attempt; null for attempts from before this was recorded.
        add column process text,
        add column attempts integer not null default 1;`);
    await runner.query(`
      alter table members
        -- Null for the creator of the project, and for roles that GitHub grants.
        add column added_by text references users on delete set null,
        -- GitHub says that they administer the account of the installation, which makes them owner.
        add column is_granted boolean not null default false,
        -- Of a granted owner: the role that a person gave them besides. It remains when the grant is taken back.
        add column given_role text check (given_role in ('member', 'admin', 'owner')),
        add check (is_granted or given_role is null),
        add check (not is_granted or role = 'owner');
      -- Until now nobody noted where a role came from. Owners of an installation's project count as granted: the next
      -- comparison with GitHub keeps the account's admins and takes back the others.
      update members m set is_granted = true
        from installations i where i.project_id = m.project_id and m.role = 'owner';
      -- Admins of an account who left its project: comparing with GitHub does not bring them back, signing in does.
      create table departures (
        project_id text not null references projects on delete cascade,
        user_id text not null references users on delete cascade,
        at timestamptz not null default now(),
        primary key (project_id, user_id)
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table departures;
      alter table members drop column added_by, drop column is_granted, drop column given_role;
      alter table idempotency_keys drop column claim, drop column process, drop column attempts;`);
  }
}
