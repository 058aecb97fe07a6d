import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds an index for the words of descriptions, sums of what runs cost by day and agent, indexes that list tasks created
 * together in their order, and events for changes of planning sessions.
 */
export class SearchAndSpend1766707200000 implements MigrationInterface {
  name = 'SearchAndSpend1766707200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(words);
    await runner.query(order('id'));
    await runner.query(spend);
    await runner.query(plans);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table plan_editors;
      drop function note_plan_editor();
      drop trigger wizard_sessions_event on wizard_sessions;
      delete from project_events where kind = 'plan';
      alter table project_events drop constraint project_events_kind_check,
        add constraint project_events_kind_check check (kind in ('task', 'run', 'sprint', 'inbox', 'chat'));
      alter table wizard_sessions drop column updated_by;
      drop trigger runs_spend_changed on runs;
      drop trigger runs_spend_added on runs;
      drop function note_spend(), add_spend(runs, date, numeric, bigint, bigint, bigint);
      drop table spend_days;`);
    await runner.query(order('id desc'));
    await runner.query('alter table tasks drop column words; drop function words_of(text, text);');
  }
}

/**
 * PostgreSQL's own parser is not used, because it treats a path or an address as a single word, and a search for a part of
 * it would find nothing. Words end at white space and ASCII punctuation, in every locale. Long words are cut, because a
 * lexeme may have at most 2 kB.
 * The project is among the words, after a slash, so that the index finds the words of one project. No word has a slash.
 */
const words = `
  create function words_of(project_id text, description text) returns tsvector language sql immutable parallel safe as $$
    select array_to_tsvector(array_agg(distinct left(word, 60)) || lower('/' || project_id))
    from regexp_split_to_table(lower(left(description, 50000)), '[\\s!-/:-@[-^\`{-~]+') word where word <> ''
  $$;
  alter table tasks add column words tsvector not null generated always as (words_of(project_id, description)) stored;
  create index tasks_words on tasks using gin (words) with (fastupdate = off);
  -- With more examples of words, PostgreSQL knows whether one is rare enough for the index.
  alter table tasks alter column words set statistics 1000;`;

/** The indexes of lists that begin with the newest task. Tasks that were created together have the same time. */
const order = (id: 'id' | 'id desc') => `
  drop index tasks_project, tasks_project_status, tasks_sprint, tasks_owner, tasks_backlog;
  create index tasks_project on tasks (project_id, created_at desc, ${id});
  create index tasks_project_status on tasks (project_id, status, created_at desc, ${id});
  create index tasks_sprint on tasks (sprint_id, created_at desc, ${id});
  create index tasks_owner on tasks (owner, created_at desc, ${id});
  create index tasks_backlog on tasks (project_id, created_at desc, ${id}) where sprint_id is null;`;

const spend = `
  -- What the runs of a project have used on each day (UTC), by agent. A run that works on several days counts on each of
  -- them with what it used then. The cost of a run stays when its task is deleted.
  create table spend_days (
    project_id text not null references projects on delete cascade,
    day date not null,
    -- The line of the agent's versions; empty for runs without an agent.
    line_id text not null,
    cost_usd numeric not null,
    input_tokens bigint not null,
    cached_input_tokens bigint not null,
    output_tokens bigint not null,
    primary key (project_id, day, line_id)
  );
  -- The day on which an earlier run used its tokens is not known, so it counts on the day on which it was created.
  insert into spend_days
    select r.project_id, (r.created_at at time zone 'UTC')::date, coalesce(a.line_id, ''), sum(coalesce(r.cost_usd, 0)),
      sum(r.input_tokens), sum(r.cached_input_tokens), sum(r.output_tokens)
    from runs r left join agents a on a.id = r.agent_id
    where r.input_tokens > 0 or r.output_tokens > 0 or r.cost_usd > 0 group by 1, 2, 3;

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
  create trigger runs_spend_added after insert on runs for each row
    when (new.input_tokens > 0 or new.output_tokens > 0 or new.cost_usd > 0) execute function note_spend();
  create trigger runs_spend_changed after update of cost_usd, input_tokens, cached_input_tokens, output_tokens on runs
    for each row
    when ((old.cost_usd, old.input_tokens, old.cached_input_tokens, old.output_tokens)
      is distinct from (new.cost_usd, new.input_tokens, new.cached_input_tokens, new.output_tokens))
    execute function note_spend();`;

const plans = `
  -- The person who changed the session last; null if the service did.
  alter table wizard_sessions add column updated_by text references users on delete set null;

  alter table project_events drop constraint project_events_kind_check,
    add constraint project_events_kind_check check (kind in ('task', 'run', 'sprint', 'inbox', 'chat', 'plan'));
  create trigger wizard_sessions_event after insert or update or delete on wizard_sessions
    for each row execute function note_project_event('plan');

  -- Who is editing which part of a plan. Rows are confirmed while the person's page is open.
  create table plan_editors (
    session_id text not null references wizard_sessions on delete cascade,
    user_id text not null references users on delete cascade,
    part text not null check (part in ('prd', 'plan', 'tasks')),
    seen_at timestamptz not null default now(),
    primary key (session_id, user_id, part)
  );
  create index plan_editors_user on plan_editors (user_id);
  create function note_plan_editor() returns trigger language plpgsql as $$
  declare changed record := coalesce(new, old);
  begin
    -- Inserts nothing while the plan itself is being deleted, which is an event already.
    insert into project_events (project_id, kind, object_id, status)
      select project_id, 'plan', id, status from wizard_sessions where id = changed.session_id;
    perform pg_notify('changes', 'project ' || project_id) from wizard_sessions where id = changed.session_id;
    return null;
  end $$;
  create trigger plan_editors_event after insert or delete on plan_editors
    for each row execute function note_plan_editor();`;
