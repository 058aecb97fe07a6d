import type { MigrationInterface, QueryRunner } from 'typeorm';
import { languagesByExtension } from '../src/agents/figures.ts';

/** Figures of agents and counts of tasks, which change with what they count, and indexes for reads of many rows. */
export class AgentFigures1765929600000 implements MigrationInterface {
  name = 'AgentFigures1765929600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(lines);
    await runner.query(tables);
    const languages = await languagesByExtension();
    await runner.query('insert into languages (extension, name) select * from unnest($1::text[], $2::text[])', [
      [...languages.keys()],
      [...languages.values()],
    ]);
    await runner.query(oneTask);
    await runner.query(totals);
    await runner.query(triggers);
    await runner.query(indexes);
    await runner.query(titles);
    await runner.query(fill);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index if exists tasks_title;
      drop index runs_ended, runs_blamed, tasks_backlog, tasks_owner;
      create index tasks_owner on tasks (owner);
      drop trigger tasks_moved on tasks;
      drop trigger tasks_removed on tasks;
      drop trigger tasks_added on tasks;
      drop trigger diffs_figures on diffs;
      drop trigger pull_requests_figures_changed on pull_requests;
      drop trigger pull_requests_figures on pull_requests;
      drop trigger tasks_figures_changed on tasks;
      drop trigger tasks_figures on tasks;
      drop trigger runs_figures_changed on runs;
      drop trigger runs_figures on runs;
      drop function recount_statuses(), recount_line(text), count_tasks(text[]), add_figures(task_figures[], task_figures[]),
        figures_of_tasks(text[]);
      drop table stale_tasks, task_changes, task_counts, agent_days, agent_skills, agent_figures, task_figures, languages;
      drop function count_changes(), note_task_moves(), note_task_changes(), mark_stale_task();
      drop trigger agents_line on agents;
      drop function join_line();
      alter table agents drop column line_id;`);
  }
}

const lines = `
  -- All versions of an agent belong to one line, which has the id of the first version.
  alter table agents add column line_id text;
  with recursive versions (id, line_id) as (
    select id, id from agents where previous_version_id is null
    union all select a.id, v.line_id from agents a join versions v on a.previous_version_id = v.id)
  update agents a set line_id = v.line_id from versions v where v.id = a.id;
  alter table agents alter column line_id set not null;
  create index agents_line on agents (line_id, version);

  create function join_line() returns trigger language plpgsql as $$
  begin
    new.line_id := coalesce((select line_id from agents where id = new.previous_version_id), new.id);
    return new;
  end $$;
  create trigger agents_line before insert on agents for each row execute function join_line();`;

const tables = `
  -- Linguist's languages by file extension.
  create table languages (
    extension text primary key,
    name text not null
  );

  -- What a task counts as in the figures of a version of an agent; version 0 stands for the whole line. A task on which
  -- two versions worked counts once for each of them, and once for the line.
  create table task_figures (
    task_id text not null,
    line_id text not null,
    version integer not null,
    project_id text not null,
    completed boolean not null,
    failed boolean not null,
    -- From the start of the first run until the task was done.
    milliseconds bigint,
    lines bigint not null,
    pulls integer not null,
    -- The languages of its files, if it was merged.
    languages text[] not null,
    -- The days (UTC) on which its runs succeeded and failed, one entry for each run.
    succeeded_on date[] not null,
    failed_on date[] not null,
    primary key (task_id, line_id, version, project_id)
  );
  create index task_figures_line on task_figures (line_id, task_id);

  -- The sums of task_figures.
  create table agent_figures (
    line_id text not null,
    version integer not null,
    project_id text not null,
    tasks integer not null default 0,
    completed integer not null default 0,
    failed integer not null default 0,
    -- The number of tasks in the sum of milliseconds.
    timed integer not null default 0,
    milliseconds bigint not null default 0,
    lines bigint not null default 0,
    pulls integer not null default 0,
    primary key (line_id, version, project_id)
  );
  create table agent_skills (
    line_id text not null,
    version integer not null,
    project_id text not null,
    language text not null,
    tasks integer not null,
    primary key (line_id, version, project_id, language)
  );
  -- The runs that ended on each day (UTC).
  create table agent_days (
    line_id text not null,
    version integer not null,
    project_id text not null,
    day date not null,
    succeeded integer not null,
    failed integer not null,
    primary key (line_id, version, project_id, day)
  );

  -- The number of tasks of each project in each status.
  create table task_counts (
    project_id text not null,
    status text not null,
    tasks integer not null,
    primary key (project_id, status)
  );

  -- What a transaction has changed and must count before it commits; both are empty outside of transactions. The empty
  -- id marks a transaction that has something to count.
  create table stale_tasks (
    transaction text not null default pg_current_xact_id()::text,
    task_id text not null,
    primary key (transaction, task_id)
  );
  create table task_changes (
    transaction text not null default pg_current_xact_id()::text,
    number bigint generated always as identity,
    project_id text not null,
    status text not null,
    tasks integer not null,
    primary key (transaction, number)
  );`;

const oneTask = `
  create function figures_of_tasks(ids text[]) returns setof task_figures language plpgsql stable as $$
  begin
    -- Looks up what belongs to each task, so that the cost grows with the number of tasks, however few PostgreSQL expects.
    return query
    select t.id, w.line_id, w.version, w.project_id, t.status = 'done', t.status <> 'done' and latest.status = 'failed',
      case when t.status = 'done' then (1000 * extract(epoch from t.done_at - w.began))::bigint end,
      coalesce(pulls.lines, 0)::bigint, pulls.count, coalesce(skills.languages, '{}'),
      coalesce(w.succeeded_on, '{}'), coalesce(w.failed_on, '{}')
    from tasks t
    cross join lateral (
      select r.status from runs r where r.task_id = t.id order by r.created_at desc, r.id desc limit 1) latest
    cross join lateral (
      select count(*)::int as count, sum(p.additions) filter (where p.status = 'merged') as lines,
        bool_or(p.status = 'merged') as is_merged
      from pull_requests p where p.task_id = t.id) pulls
    cross join lateral (
      select array_agg(distinct l.name order by l.name) as languages
      from diffs d
      cross join lateral jsonb_array_elements(d.files) file
      -- The extension begins with the last dot of the name, unless the name begins with it. The limit makes PostgreSQL
      -- look each one up instead of reading all languages.
      cross join lateral (
        select name from languages where extension = lower(substring(file->>'path' from '[^/](\\.[^./]*)$')) limit 1) l
      where d.task_id = t.id and pulls.is_merged) skills
    cross join lateral (
      select r.project_id, a.line_id, v.version, min(r.started_at) as began,
        array_agg((r.finished_at at time zone 'UTC')::date order by r.finished_at)
          filter (where r.status = 'succeeded' and r.finished_at is not null) as succeeded_on,
        array_agg((r.finished_at at time zone 'UTC')::date order by r.finished_at)
          filter (where r.status = 'failed' and r.finished_at is not null) as failed_on
      from runs r join agents a on a.id = r.agent_id cross join lateral (values (0), (a.version)) v (version)
      where r.task_id = t.id group by r.project_id, a.line_id, v.version) w
    where t.id = any(ids);
  end $$;`;

const totals = `
  -- Adds the figures of tasks to the sums, and subtracts others. Rows are locked in one order, so that transactions wait
  -- for each other without a deadlock.
  create function add_figures(less task_figures[], more task_figures[]) returns void language plpgsql as $$
  begin
    insert into agent_figures as a
      select f.line_id, f.version, f.project_id, sum(sign), sum(sign * f.completed::int), sum(sign * f.failed::int),
        sum(sign * (f.milliseconds is not null)::int), sum(sign * coalesce(f.milliseconds, 0)), sum(sign * f.lines), sum(sign * f.pulls)
      from (select -1 as sign, l.* from unnest(less) l union all select 1, m.* from unnest(more) m) f
      group by f.line_id, f.version, f.project_id order by f.line_id, f.version, f.project_id
    on conflict (line_id, version, project_id) do update set tasks = a.tasks + excluded.tasks,
      completed = a.completed + excluded.completed, failed = a.failed + excluded.failed,
      timed = a.timed + excluded.timed, milliseconds = a.milliseconds + excluded.milliseconds,
      lines = a.lines + excluded.lines, pulls = a.pulls + excluded.pulls;

    insert into agent_skills as a
      select f.line_id, f.version, f.project_id, language, sum(sign)
      from (select -1 as sign, l.* from unnest(less) l union all select 1, m.* from unnest(more) m) f
      cross join lateral unnest(f.languages) language
      group by f.line_id, f.version, f.project_id, language having sum(sign) <> 0
      order by f.line_id, f.version, f.project_id, language
    on conflict (line_id, version, project_id, language) do update set tasks = a.tasks + excluded.tasks;

    insert into agent_days as a
      select f.line_id, f.version, f.project_id, day, sum(sign * succeeded), sum(sign * (1 - succeeded))
      from (select -1 as sign, l.* from unnest(less) l union all select 1, m.* from unnest(more) m) f
      cross join lateral (select unnest(f.succeeded_on), 1 union all select unnest(f.failed_on), 0) run (day, succeeded)
      group by f.line_id, f.version, f.project_id, day
      order by f.line_id, f.version, f.project_id, day
    on conflict (line_id, version, project_id, day) do update set succeeded = a.succeeded + excluded.succeeded,
      failed = a.failed + excluded.failed;

    -- Rows that count nothing any more.
    delete from agent_days a using unnest(less) l where a.succeeded = 0 and a.failed = 0
      and a.line_id = l.line_id and a.version = l.version and a.project_id = l.project_id
      and a.day = any(l.succeeded_on || l.failed_on);
    delete from agent_skills a using unnest(less) l where a.tasks = 0
      and a.line_id = l.line_id and a.version = l.version and a.project_id = l.project_id and a.language = any(l.languages);
    delete from agent_figures a using unnest(less) l where a.tasks = 0
      and a.line_id = l.line_id and a.version = l.version and a.project_id = l.project_id;
  end $$;

  -- Computes the figures of tasks and changes the sums by the differences. It may be repeated at any time.
  create function count_tasks(ids text[]) returns void language plpgsql as $$
  declare
    stored task_figures[];
    fresh task_figures[];
    less task_figures[];
    more task_figures[];
  begin
    -- Two transactions that change one task must not compute its figures at the same time, because neither sees the
    -- changes of the other. The second waits here, and its next statement sees what the first has committed. There are
    -- only 128 locks, because one transaction may change more tasks than PostgreSQL has room for locks.
    perform pg_advisory_xact_lock(hashtextextended(share::text, 7))
      from (select distinct hashtext(id) & 127 as share from unnest(ids) id order by 1) locks;
    stored := array(select s from task_figures s where s.task_id = any(ids));
    fresh := array(select f from figures_of_tasks(ids) f);
    less := array(select s from unnest(stored) s except select f from unnest(fresh) f);
    more := array(select f from unnest(fresh) f except select s from unnest(stored) s);
    if less = '{}' and more = '{}' then return; end if;
    delete from task_figures t using unnest(less) l
      where (t.task_id, t.line_id, t.version, t.project_id) = (l.task_id, l.line_id, l.version, l.project_id);
    insert into task_figures select m.* from unnest(more) m;
    perform add_figures(less, more);
  end $$;

  -- Computes the sums of a line from task_figures. Commits that change sums wait until it has committed.
  create function recount_line(line text) returns void language plpgsql as $$
  declare
    last text := '';
    part task_figures[];
  begin
    lock table agent_figures in share row exclusive mode;
    delete from agent_figures where line_id = line;
    delete from agent_skills where line_id = line;
    delete from agent_days where line_id = line;
    loop
      part := array(select t from task_figures t where t.line_id = line and t.task_id in (
        select distinct o.task_id from task_figures o where o.line_id = line and o.task_id > last order by o.task_id limit 5000));
      exit when part = '{}';
      perform add_figures('{}', part);
      last := (select max(p.task_id) from unnest(part) p);
    end loop;
  end $$;

  create function recount_statuses() returns void language plpgsql as $$
  begin
    lock table task_counts in share row exclusive mode;
    delete from task_counts;
    insert into task_counts select project_id, status, count(*) from tasks group by 1, 2;
  end $$;`;

const triggers = `
  create function mark_stale_task() returns trigger language plpgsql as $$
  declare
    changed record := coalesce(new, old);
    task text;
  begin
    if tg_table_name = 'tasks' then task := changed.id; else task := changed.task_id; end if;
    insert into stale_tasks (task_id) values (''), (task) on conflict do nothing;
    return null;
  end $$;

  create trigger runs_figures after insert or delete on runs for each row execute function mark_stale_task();
  create trigger runs_figures_changed after update of status, agent_id, started_at, finished_at on runs for each row
    when ((old.status, old.agent_id, old.started_at, old.finished_at)
      is distinct from (new.status, new.agent_id, new.started_at, new.finished_at))
    execute function mark_stale_task();
  create trigger tasks_figures after delete on tasks for each row execute function mark_stale_task();
  create trigger tasks_figures_changed after update of status, done_at on tasks for each row
    when ((old.status = 'done', old.done_at) is distinct from (new.status = 'done', new.done_at))
    execute function mark_stale_task();
  create trigger pull_requests_figures after insert or delete on pull_requests for each row
    execute function mark_stale_task();
  create trigger pull_requests_figures_changed after update of status, additions on pull_requests for each row
    when ((old.status, old.additions) is distinct from (new.status, new.additions))
    execute function mark_stale_task();
  create trigger diffs_figures after insert or update of files or delete on diffs for each row
    execute function mark_stale_task();

  create function note_task_changes() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'DELETE' then
      insert into task_changes (project_id, status, tasks) select project_id, status, count(*) from added group by 1, 2;
    end if;
    if tg_op <> 'INSERT' then
      insert into task_changes (project_id, status, tasks) select project_id, status, -count(*) from removed group by 1, 2;
    end if;
    insert into stale_tasks (task_id) values ('') on conflict do nothing;
    return null;
  end $$;
  create trigger tasks_added after insert on tasks referencing new table as added
    for each statement execute function note_task_changes();
  create trigger tasks_removed after delete on tasks referencing old table as removed
    for each statement execute function note_task_changes();
  create function note_task_moves() returns trigger language plpgsql as $$
  begin
    insert into task_changes (project_id, status, tasks) values (old.project_id, old.status, -1), (new.project_id, new.status, 1);
    insert into stale_tasks (task_id) values ('') on conflict do nothing;
    return null;
  end $$;
  create trigger tasks_moved after update of status on tasks for each row when (old.status <> new.status)
    execute function note_task_moves();

  create function count_changes() returns trigger language plpgsql as $$
  declare ids text[];
  begin
    with taken as (delete from stale_tasks where transaction = pg_current_xact_id()::text returning task_id)
      select array_agg(task_id) filter (where task_id <> '') into ids from taken;
    if ids is not null then perform count_tasks(ids); end if;
    with taken as (delete from task_changes where transaction = pg_current_xact_id()::text returning *)
      insert into task_counts as c select project_id, status, sum(tasks) from taken
        group by project_id, status having sum(tasks) <> 0 order by project_id, status
      on conflict (project_id, status) do update set tasks = c.tasks + excluded.tasks;
    return null;
  end $$;
  -- Sums change when the transaction commits, so that nobody waits for long for a row that all runs of an agent change.
  create constraint trigger stale_tasks_counted after insert on stale_tasks deferrable initially deferred
    for each row when (new.task_id = '') execute function count_changes();`;

const indexes = `
  create index runs_ended on runs (agent_id, project_id, status, finished_at);
  create index runs_blamed on runs (agent_id, project_id, finished_at)
    where status = 'failed' and failure->>'category' not in ('auth', 'rate_limit', 'repository');
  drop index tasks_owner;
  create index tasks_owner on tasks (owner, created_at desc, id desc);
  create index tasks_backlog on tasks (project_id, created_at desc, id desc) where sprint_id is null;`;

/**
 * PostgreSQL includes pg_trgm, and every role that may create schemas may create this extension. Without it there is no
 * index, and a search reads all titles of the project.
 */
const titles = `
  do $$
  begin
    create extension if not exists pg_trgm;
    create index tasks_title on tasks using gin (lower(title) gin_trgm_ops) with (fastupdate = off);
    -- With more examples of titles, PostgreSQL knows whether a word is rare enough for the index.
    alter index tasks_title alter column 1 set statistics 1000;
  exception when insufficient_privilege or feature_not_supported or undefined_file or undefined_object then
    raise notice 'titles are searched without an index: %', sqlerrm;
  end $$;`;

const fill = `
  insert into task_counts select project_id, status, count(*) from tasks group by 1, 2;
  do $$
  declare part text[];
  begin
    for part in
      select array_agg(task_id) from (select task_id, row_number() over (order by task_id) / 10000 as n
        from (select distinct task_id from runs) tasks) parts group by n
    loop
      perform count_tasks(part);
    end loop;
  end $$;`;
