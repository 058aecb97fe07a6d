import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who may use the service, and what the projects that a person created have cost. */
export class Admission1767312000000 implements MigrationInterface {
  name = 'Admission1767312000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(admission);
    await runner.query(creators);
    await runner.query(spend);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger spend_days_person on spend_days;
      drop function note_person_spend();
      drop table person_spend_days;
      alter table projects drop column created_by;
      alter table users drop column admitted_until, drop column asked_at;`);
  }
}

/** Tokens of the command line, unlike those of the API, have no audit record. They show whom the operator let in. */
const admission = `
  -- Until when somebody may use the service without being a member of a project: 12 hours from a sign-in as a member of an
  -- account that has installed the App, and 'infinity' for whom the operator made a token.
  alter table users add column admitted_until timestamptz;
  -- When GitHub was last asked whether the person is a member of such an account.
  alter table users add column asked_at timestamptz;
  update users u set admitted_until = 'infinity' where exists (
    select 1 from api_tokens t where t.user_id = u.id and not t.is_session and t.name = 'command line'
      and t.revoked_at is null and t.expires_at > now()
      and not exists (select 1 from audit_records a where a.object_id = t.id));`;

const creators = `
  -- Who created the project; null for the project of an installation.
  alter table projects add column created_by text references users on delete set null;
  create index projects_created_by on projects (created_by) where created_by is not null;
  update projects p set created_by = (
      select m.user_id from members m
      where m.project_id = p.id and m.role = 'owner' and m.added_by is null and not m.is_granted
      order by m.created_at, m.user_id limit 1)
    where not exists (select 1 from installations i where i.project_id = p.id);`;

const spend = `
  -- What calls of models have cost on each day (UTC) in projects that a person created and for the person's own agents. It
  -- stays when a project is deleted.
  create table person_spend_days (
    user_id text not null references users on delete cascade,
    day date not null,
    cost_usd numeric not null,
    primary key (user_id, day)
  );
  insert into person_spend_days
    select p.created_by, s.day, sum(s.cost_usd) from spend_days s join projects p on p.id = s.project_id
    where p.created_by is not null group by 1, 2;

  create function note_person_spend() returns trigger language plpgsql as $$
  declare
    added numeric := new.cost_usd - case when tg_op = 'UPDATE' then old.cost_usd else 0 end;
  begin
    insert into person_spend_days as s
      select created_by, new.day, added from projects where id = new.project_id and created_by is not null
    on conflict (user_id, day) do update set cost_usd = s.cost_usd + excluded.cost_usd;
    return null;
  end $$;
  create trigger spend_days_person after insert or update of cost_usd on spend_days
    for each row execute function note_person_spend();`;
