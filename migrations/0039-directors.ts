import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The people whose words a task, a run or a plan follows, and the repositories whose content a run has. */
export class Directors1766966400000 implements MigrationInterface {
  name = 'Directors1766966400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Ids of users. Nobody is known for what a service of an earlier version started by itself.
      alter table tasks add column directed_by jsonb not null default '[]';
      alter table runs add column directed_by jsonb not null default '[]';
      alter table wizard_sessions add column directed_by jsonb not null default '[]';
      -- Nobody has to hear of the new columns.
      alter table tasks disable trigger user;
      alter table wizard_sessions disable trigger user;
      update tasks set directed_by = jsonb_build_array(created_by) where created_by is not null;
      update runs r set directed_by = (
        select coalesce(jsonb_agg(distinct who), '[]') from (
          select r.started_by union select m.said_by from run_messages m where m.run_id = r.id
          union select v.asked_by from revisions v where v.run_id = r.id) people (who)
        where who is not null);
      update wizard_sessions set directed_by = (
        select coalesce(jsonb_agg(distinct who), '[]') from unnest(array[created_by, updated_by]) who where who is not null);
      alter table tasks enable trigger user;
      alter table wizard_sessions enable trigger user;

      -- What a run opened is also in the conversations that go on with that of the run.
      with recursive line as (
        select id, id as earlier, continues_run_id from runs
        union all
        select l.id, r.id, r.continues_run_id from line l join runs r on r.id = l.continues_run_id)
      insert into run_steps (run_id, name, data, at)
      select l.id, 'opened ' || substring(s.name from '[^ ]+$'), '{}', min(s.at)
      from line l join run_steps s on s.run_id = l.earlier
      where s.name like 'branch %' or s.name like 'earlier branch %'
      group by 1, 2
      on conflict do nothing;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      delete from run_steps where name like 'opened %';
      alter table wizard_sessions drop column directed_by;
      alter table runs drop column directed_by;
      alter table tasks drop column directed_by;`);
  }
}
