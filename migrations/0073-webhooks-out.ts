import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The webhooks of a project, and what is delivered to them. Triggers write a delivery in the transaction of the change
 * that it is about, so that no change is forgotten and a crash loses none.
 */
export class WebhooksOut1770249600000 implements MigrationInterface {
  name = 'WebhooksOut1770249600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(tables);
    await runner.query(notes);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger tasks_webhooks on tasks;
      drop trigger runs_webhooks on runs;
      drop trigger sprints_webhooks on sprints;
      drop trigger proofs_webhooks on proofs;
      drop function note_webhooks_of_task(), note_webhooks_of_run(), note_webhooks_of_sprint(),
        note_webhooks_of_proof(), note_webhooks(text, text, text, jsonb, text[]);
      drop table admin_notices;
      drop function note_admin_notice();
      drop table webhook_deliveries;
      drop table webhooks;`);
  }
}

const tables = `
  create table webhooks (
    id text primary key,
    project_id text not null references projects on delete cascade,
    url text not null,
    events jsonb not null,
    format text not null check (format in ('standard', 'slack')),
    enabled boolean not null default true,
    -- Why the service switched it off; null unless it did.
    problem text,
    -- The receiver gets nothing before this time, because it failed several times in a row or asked for a pause.
    rest_until timestamptz,
    -- The key with which deliveries are signed, encrypted.
    key_id text not null,
    ciphertext bytea not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );
  create index webhooks_project on webhooks (project_id);

  create table webhook_deliveries (
    id text primary key default 'delivery_' || replace(gen_random_uuid()::text, '-', ''),
    -- Deliveries of a lane arrive in this order.
    number bigint generated always as identity,
    webhook_id text not null references webhooks on delete cascade,
    event text not null,
    -- The task or sprint that it is about. A delivery waits for the earlier ones of its lane.
    lane text not null,
    data jsonb not null,
    at timestamptz not null default clock_timestamp(),
    status text not null default 'waiting' check (status in ('waiting', 'delivered', 'failed')),
    attempts integer not null default 0,
    first_attempt_at timestamptz,
    not_before timestamptz not null default now(),
    -- A worker is sending it until then.
    leased_until timestamptz,
    delivered_at timestamptz,
    -- What became of the last attempt.
    response_status integer,
    excerpt text,
    problem text
  );
  create index webhook_deliveries_list on webhook_deliveries (webhook_id, number);
  create index webhook_deliveries_lane on webhook_deliveries (webhook_id, lane, number) where status = 'waiting';
  create index webhook_deliveries_due on webhook_deliveries (not_before) where status = 'waiting';
  create index webhook_deliveries_at on webhook_deliveries (at);

  -- What the inbox of a project's admins says that is about no task.
  create table admin_notices (
    object_id text primary key,
    project_id text not null references projects on delete cascade,
    reason text not null,
    title text not null,
    text text not null,
    since timestamptz not null default now()
  );
  create index admin_notices_project on admin_notices (project_id);
  create function note_admin_notice() returns trigger language plpgsql as $$
  declare changed record := coalesce(new, old);
  begin
    perform pg_notify('changes', 'inbox ' || m.user_id) from members m
      where m.project_id = changed.project_id and m.role in ('owner', 'admin');
    return null;
  end $$;
  create trigger admin_notices_inbox after insert or update or delete on admin_notices
    for each row execute function note_admin_notice();`;

const notes = `
  -- A person who reads messages hears of one thing once: a webhook in Slack's format does not get an event if it gets one
  -- of those that say the same.
  create function note_webhooks(project text, event text, lane text, data jsonb, same text[]) returns void
  language plpgsql as $$
  begin
    insert into webhook_deliveries (webhook_id, event, lane, data)
      select w.id, note_webhooks.event, note_webhooks.lane, note_webhooks.data || jsonb_build_object('projectId', project)
      from webhooks w
      where w.project_id = project and w.enabled and w.events ? note_webhooks.event
        and not (w.format = 'slack' and w.events ?| same);
    if found then perform pg_notify('changes', 'webhooks'); end if;
  end $$;

  create function note_webhooks_of_task() returns trigger language plpgsql as $$
  declare
    before text := reason_of_task(old.status, old.failure);
    after text := reason_of_task(new.status, new.failure);
    is_new_reason boolean := after is not null
      and (before is distinct from after or old.status_since is distinct from new.status_since);
    about jsonb;
  begin
    if not exists (select from webhooks w where w.project_id = new.project_id) then return null; end if;
    about := jsonb_build_object('taskId', new.id, 'title', new.title);
    if old.status is distinct from new.status then
      perform note_webhooks(new.project_id, 'task.status', new.id,
        about || jsonb_build_object('status', new.status, 'previousStatus', old.status),
        case when is_new_reason then '{task.attention}' else '{}' end::text[]);
    end if;
    if new.failure ->> 'category' = 'budget' and old.failure is distinct from new.failure then
      perform note_webhooks(new.project_id, 'budget', new.id,
        about || jsonb_build_object('text', left(new.failure ->> 'message', 2000)), '{task.attention}');
    end if;
    if is_new_reason then
      perform note_webhooks(new.project_id, 'task.attention', new.id,
        about || jsonb_build_object('reason', after, 'since', clock_timestamp(), 'options', '[]'::jsonb,
          'text', left(coalesce(case when after = 'failed' then new.failure ->> 'message' else (
            select h.summary from handoffs h where h.task_id = new.id order by h.created_at desc, h.id desc limit 1)
          end, ''), 2000)), '{}');
    end if;
    return null;
  end $$;
  create trigger tasks_webhooks after insert or update of status, failure, status_since on tasks
    for each row execute function note_webhooks_of_task();

  create function note_webhooks_of_run() returns trigger language plpgsql as $$
  declare
    before text := reason_of_run(old.status, old.wait_reason);
    after text := reason_of_run(new.status, new.wait_reason);
    about jsonb;
  begin
    if not exists (select from webhooks w where w.project_id = new.project_id) then return null; end if;
    about := jsonb_build_object('taskId', new.task_id, 'runId', new.id,
      'title', (select t.title from tasks t where t.id = new.task_id));
    if after is not null and (before is distinct from after or old.wait_id is distinct from new.wait_id) then
      perform note_webhooks(new.project_id, 'task.attention', new.task_id,
        about || jsonb_build_object('reason', after, 'since', new.waiting_since, 'attentionId', new.wait_id,
          'text', left(coalesce(new.wait_text, ''), 2000), 'options', coalesce(new.wait_options, '[]'::jsonb)), '{}');
    end if;
    if old.status <> new.status and new.status in ('succeeded', 'failed', 'cancelled') then
      perform note_webhooks(new.project_id, 'run.ended', new.task_id,
        about || jsonb_build_object('status', new.status, 'kind', new.kind, 'agentId', new.agent_id,
          'steps', new.steps, 'costUsd', new.cost_usd,
          'failure', case when new.failure is not null then jsonb_build_object(
            'category', new.failure ->> 'category', 'message', left(new.failure ->> 'message', 2000)) end),
        case when new.status = 'failed' then '{task.attention}' else '{task.status}' end::text[]);
    end if;
    return null;
  end $$;
  create trigger runs_webhooks after update of status, wait_id on runs
    for each row execute function note_webhooks_of_run();

  create function note_webhooks_of_sprint() returns trigger language plpgsql as $$
  begin
    if old.status is distinct from new.status then
      perform note_webhooks(new.project_id, 'sprint.status', new.id, jsonb_build_object('sprintId', new.id,
        'name', new.name, 'status', new.status, 'previousStatus', old.status), '{}');
    end if;
    return null;
  end $$;
  create trigger sprints_webhooks after insert or update of status on sprints
    for each row execute function note_webhooks_of_sprint();

  create function note_webhooks_of_proof() returns trigger language plpgsql as $$
  begin
    if (old.status, old.reason) is distinct from (new.status, new.reason) then
      perform note_webhooks(t.project_id, 'proof', t.id, jsonb_build_object('taskId', t.id, 'runId', new.run_id,
        'title', t.title, 'status', new.status, 'reason', left(new.reason, 2000),
        'newTestsFailOnBase', new.new_tests_fail_on_base, 'oldTestsPass', new.old_tests_pass), '{}')
      from tasks t where t.id = new.task_id;
    end if;
    return null;
  end $$;
  create trigger proofs_webhooks after insert or update of status, reason on proofs
    for each row execute function note_webhooks_of_proof();`;
