import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a project has used also by person, model, sprint and repository. What it used before stays under none of them, because
 * nobody noted it.
 */
export class WhatSpendIsFor1771459200000 implements MigrationInterface {
  name = 'WhatSpendIsFor1771459200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The model that answered last.
      alter table runs add column model text;

      -- Each is empty for none. They are no references, because the figures outlive what they name.
      alter table spend_days
        add column user_id text not null default '',
        add column model text not null default '',
        add column sprint_id text not null default '',
        add column repository_id text not null default '',
        drop constraint spend_days_pkey,
        add primary key (project_id, day, line_id, user_id, model, sprint_id, repository_id);

      drop trigger runs_spend_changed on runs;
      drop trigger runs_spend_added on runs;
      drop function note_spend(), add_spend(runs, date, numeric, bigint, bigint, bigint);

      -- A task says its sprint and its repository; what is about no task is given them.
      create function add_spend(project text, day date, agent text, person text, model text, task text, sprint text,
        repository text, cost numeric, input bigint, cached bigint, output bigint) returns void language sql as $$
        insert into spend_days as s (project_id, day, line_id, user_id, model, sprint_id, repository_id, cost_usd,
            input_tokens, cached_input_tokens, output_tokens)
          select project, day, coalesce((select line_id from agents where id = agent), ''), coalesce(person, ''),
            coalesce(model, ''), coalesce(sprint, t.sprint_id, ''), coalesce(repository, t.repository_id, (
              select r.id from repositories r where t.id is not null and r.project_id = project and r.is_primary), ''),
            cost, input, cached, output
          from (select 1) one left join tasks t on t.id = task
        on conflict (project_id, day, line_id, user_id, model, sprint_id, repository_id) do update
          set cost_usd = s.cost_usd + excluded.cost_usd, input_tokens = s.input_tokens + excluded.input_tokens,
            cached_input_tokens = s.cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = s.output_tokens + excluded.output_tokens
      $$;

      create function note_spend() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          perform add_spend(new.project_id, (new.created_at at time zone 'UTC')::date, new.agent_id, new.started_by,
            new.model, new.task_id, null, null, coalesce(new.cost_usd, 0), new.input_tokens, new.cached_input_tokens,
            new.output_tokens);
        else
          perform add_spend(new.project_id, (now() at time zone 'UTC')::date, new.agent_id, new.started_by, new.model,
            new.task_id, null, null, coalesce(new.cost_usd, 0) - coalesce(old.cost_usd, 0),
            new.input_tokens - old.input_tokens, new.cached_input_tokens - old.cached_input_tokens,
            new.output_tokens - old.output_tokens);
        end if;
        return null;
      end $$;
      ${triggers}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger runs_spend_changed on runs;
      drop trigger runs_spend_added on runs;
      drop function note_spend(),
        add_spend(text, date, text, text, text, text, text, text, numeric, bigint, bigint, bigint);

      -- The sums are put back without counting for people a second time.
      drop trigger spend_days_person on spend_days;
      create temp table earlier_spend on commit drop as
        select project_id, day, line_id, sum(cost_usd) as cost_usd, sum(input_tokens)::bigint as input_tokens,
          sum(cached_input_tokens)::bigint as cached_input_tokens, sum(output_tokens)::bigint as output_tokens
        from spend_days group by 1, 2, 3;
      delete from spend_days;
      alter table spend_days drop constraint spend_days_pkey, drop column user_id, drop column model,
        drop column sprint_id, drop column repository_id, add primary key (project_id, day, line_id);
      insert into spend_days (project_id, day, line_id, cost_usd, input_tokens, cached_input_tokens, output_tokens)
        select project_id, day, line_id, cost_usd, input_tokens, cached_input_tokens, output_tokens from earlier_spend;
      create trigger spend_days_person after insert or update of cost_usd on spend_days
        for each row execute function note_person_spend();
      alter table runs drop column model;

      create function add_spend(run runs, day date, cost numeric, input bigint, cached bigint, output bigint)
      returns void language sql as $$
        insert into spend_days as s
          values (run.project_id, day, coalesce((select line_id from agents where id = run.agent_id), ''), cost, input, cached, output)
        on conflict (project_id, day, line_id) do update set cost_usd = s.cost_usd + excluded.cost_usd,
          input_tokens = s.input_tokens + excluded.input_tokens,
          cached_input_tokens = s.cached_input_tokens + excluded.cached_input_tokens,
          output_tokens = s.output_tokens + excluded.output_tokens
      $$;
      create function note_spend() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          perform add_spend(new, (new.created_at at time zone 'UTC')::date, coalesce(new.cost_usd, 0), new.input_tokens,
            new.cached_input_tokens, new.output_tokens);
        else
          perform add_spend(new, (now() at time zone 'UTC')::date, coalesce(new.cost_usd, 0) - coalesce(old.cost_usd, 0),
            new.input_tokens - old.input_tokens, new.cached_input_tokens - old.cached_input_tokens,
            new.output_tokens - old.output_tokens);
        end if;
        return null;
      end $$;
      ${triggers}`);
  }
}

const triggers = `
  create trigger runs_spend_added after insert on runs for each row
    when (new.input_tokens > 0 or new.output_tokens > 0 or new.cost_usd > 0) execute function note_spend();
  create trigger runs_spend_changed after update of cost_usd, input_tokens, cached_input_tokens, output_tokens on runs
    for each row
    when ((old.cost_usd, old.input_tokens, old.cached_input_tokens, old.output_tokens)
      is distinct from (new.cost_usd, new.input_tokens, new.cached_input_tokens, new.output_tokens))
    execute function note_spend();`;
