import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Reviews of people's pull requests. Their runs belong to a hidden task for each pull request, which no list shows. */
export class Reviews1770508800000 implements MigrationInterface {
  name = 'Reviews1770508800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(tables);
    await runner.query(figuresOf(' and not t.hidden'));
    await runner.query(countsOf(' where not hidden', 'if new.hidden then return null; end if;'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table review_notes, pull_asks, reviewed_pulls;
      delete from tasks where hidden;`);
    await runner.query(figuresOf(''));
    await runner.query(countsOf('', ''));
    await runner.query(`
      alter table tasks drop column hidden;
      delete from runs where kind in ('review', 'fix');
      alter table runs drop constraint runs_kind_check,
        add constraint runs_kind_check check (kind in ('start', 'retry', 'revise', 'continue', 'rewind'));`);
  }
}

const tables = `
  alter table tasks add column hidden boolean not null default false;
  alter table runs drop constraint runs_kind_check,
    add constraint runs_kind_check check (kind in ('start', 'retry', 'revise', 'continue', 'rewind', 'review', 'fix'));

  -- The pull requests that were asked about, and the hidden task to which their runs belong.
  create table reviewed_pulls (
    repository_id text not null references repositories on delete cascade,
    number integer not null,
    task_id text not null unique references tasks on delete cascade,
    primary key (repository_id, number)
  );

  -- What a run of the kind review or fix was asked for: the pull request as it was then.
  create table pull_asks (
    run_id text primary key references runs on delete cascade,
    repository_id text not null references repositories on delete cascade,
    number integer not null,
    head_sha text not null,
    head_branch text not null,
    base_branch text not null,
    -- The branch is in another repository, so whoever owns that one chooses what is in it.
    is_fork boolean not null,
    -- Somebody with write permission asked.
    by_writer boolean not null,
    title text not null,
    body text not null,
    author text,
    posted_at timestamptz,
    created_at timestamptz not null default now()
  );
  create index pull_asks_pull on pull_asks (repository_id, number, created_at);
  create index pull_asks_day on pull_asks (repository_id, created_at);

  -- Our comments on lines, and whether people found them useful.
  create table review_notes (
    id text primary key,
    run_id text not null references runs on delete cascade,
    repository_id text not null references repositories on delete cascade,
    number integer not null,
    -- The order in the review.
    place integer not null,
    path text not null,
    line integer not null,
    side text not null check (side in ('LEFT', 'RIGHT')),
    -- The line as it was.
    quote text not null,
    severity text not null,
    text text not null,
    suggestion text,
    github_id bigint,
    -- Why it was not useful: resolved without a change, or a thumbs down; null while nobody said so.
    not_useful text check (not_useful in ('resolved', 'thumbs_down')),
    not_useful_at timestamptz,
    -- An admin decided that it was useful after all.
    is_settled boolean not null default false,
    created_at timestamptz not null default now()
  );
  create index review_notes_pull on review_notes (repository_id, number, created_at);
  create index review_notes_not_useful on review_notes (repository_id, not_useful_at) where not_useful is not null;
  create index review_notes_run on review_notes (run_id);`;

/** What a task counts as for its agents. `which` excludes tasks. */
const figuresOf = (which: string) => `
  create or replace function figures_of_tasks(ids text[]) returns setof task_figures language plpgsql stable as $$
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
    where t.id = any(ids)${which};
  end $$;`;

/** Counts the tasks of each status. `which` excludes tasks, and `skips` is what the trigger of each move begins with. */
const countsOf = (which: string, skips: string) => `
  create or replace function note_task_changes() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'DELETE' then
      insert into task_changes (project_id, status, tasks)
        select project_id, status, count(*) from added${which} group by 1, 2;
    end if;
    if tg_op <> 'INSERT' then
      insert into task_changes (project_id, status, tasks)
        select project_id, status, -count(*) from removed${which} group by 1, 2;
    end if;
    insert into stale_tasks (task_id) values ('') on conflict do nothing;
    return null;
  end $$;
  create or replace function note_task_moves() returns trigger language plpgsql as $$
  begin
    ${skips}
    insert into task_changes (project_id, status, tasks) values (old.project_id, old.status, -1), (new.project_id, new.status, 1);
    insert into stale_tasks (task_id) values ('') on conflict do nothing;
    return null;
  end $$;
  create or replace function recount_statuses() returns void language plpgsql as $$
  begin
    lock table task_counts in share row exclusive mode;
    delete from task_counts;
    insert into task_counts select project_id, status, count(*) from tasks${which} group by 1, 2;
  end $$;`;
