import type { MigrationInterface, QueryRunner } from 'typeorm';

/** People, projects, repositories, agents, tasks, runs, webhook deliveries and what GitHub shows of tasks. */
export class Frame1763683200000 implements MigrationInterface {
  name = 'Frame1763683200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(people);
    await runner.query(projects);
    await runner.query(tasks);
    await runner.query(runs);
    await runner.query(github);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table github_pace, mirrored, handled_commands, deliveries, diffs, pull_requests, handoffs, run_events, run_turns, run_steps,
        runs, task_dependencies, tasks, agents, repositories, installations, project_secrets, members, projects,
        api_tokens, users`);
  }
}

const people = `
create table users (
  id text primary key,
  github_id bigint unique,
  login text not null,
  name text not null default '',
  avatar_url text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index users_login on users (lower(login));

create table api_tokens (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  prefix text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_tokens_user on api_tokens (user_id);
`;

const projects = `
create table projects (
  id text primary key,
  name text not null,
  slug text not null unique,
  description text not null default '',
  budgets jsonb not null default '{}',
  share_private_context boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table members (
  project_id text not null references projects on delete cascade,
  user_id text not null references users on delete cascade,
  role text not null check (role in ('member', 'admin', 'owner')),
  created_at timestamptz not null default now(),
  primary key (project_id, user_id)
);
create index members_user on members (user_id);

create table project_secrets (
  project_id text not null references projects on delete cascade,
  kind text not null check (kind in ('git_token', 'model_token')),
  key_id text not null,
  ciphertext bytea not null,
  updated_at timestamptz not null default now(),
  primary key (project_id, kind)
);

-- One row per account that installed the App; the id is GitHub's. A project is found again by its account.
create table installations (
  account_id bigint primary key,
  installation_id bigint not null,
  account_login text not null,
  account_type text not null check (account_type in ('User', 'Organization')),
  project_id text unique references projects on delete set null,
  status text not null check (status in ('active', 'suspended', 'deleted', 'ignored')),
  updated_at timestamptz not null default now()
);
create index installations_installation on installations (installation_id);

create table repositories (
  id text primary key,
  project_id text not null references projects on delete cascade,
  name text not null,
  url text not null,
  default_branch text not null default 'main',
  is_primary boolean not null default false,
  is_docs_repo boolean not null default false,
  is_private boolean not null default true,
  -- The project's own installation covers it.
  is_installed boolean not null default false,
  github_id bigint,
  connected_by text references users on delete set null,
  created_at timestamptz not null default now()
);
create unique index repositories_name on repositories (project_id, lower(name));
create unique index repositories_url on repositories (project_id, lower(url));
create unique index repositories_primary on repositories (project_id) where is_primary;
create unique index repositories_docs on repositories (project_id) where is_docs_repo;
create index repositories_github on repositories (github_id);

create table agents (
  id text primary key,
  project_id text references projects on delete cascade,
  creator_id text references users on delete cascade,
  name text not null,
  description text not null default '',
  team text not null default '',
  model text not null default '',
  system_prompt text not null default '',
  created_at timestamptz not null default now(),
  check ((project_id is null) <> (creator_id is null))
);
create unique index agents_project_name on agents (project_id, lower(name)) where project_id is not null;
create unique index agents_creator_name on agents (creator_id, lower(name)) where creator_id is not null;
`;

const tasks = `
create table tasks (
  id text primary key,
  project_id text not null references projects on delete cascade,
  title text not null,
  description text not null default '',
  status text not null
    check (status in ('backlog', 'ready', 'in_progress', 'in_review', 'done', 'waiting_on_subtasks')),
  owner text references agents on delete set null,
  repository_id text references repositories on delete set null,
  parent_id text references tasks on delete cascade,
  branch_name text,
  issue_repository_id text references repositories on delete set null,
  issue_number integer,
  issue_url text,
  failure jsonb,
  created_by text references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index tasks_project on tasks (project_id, created_at desc, id desc);
create index tasks_project_status on tasks (project_id, status, created_at desc, id desc);
create index tasks_owner on tasks (owner);
create index tasks_parent on tasks (parent_id);
create unique index tasks_issue on tasks (issue_repository_id, issue_number);

create table task_dependencies (
  task_id text not null references tasks on delete cascade,
  depends_on_id text not null references tasks on delete cascade,
  primary key (task_id, depends_on_id)
);
create index task_dependencies_on on task_dependencies (depends_on_id);
`;

const runs = `
create table runs (
  id text primary key,
  task_id text not null references tasks on delete cascade,
  project_id text not null references projects on delete cascade,
  agent_id text references agents on delete set null,
  started_by text references users on delete set null,
  kind text not null check (kind in ('start', 'retry', 'revise', 'continue')),
  status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  instructions text not null default '',
  failure jsonb,
  steps integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_usd numeric,
  -- Who works on it: each taking over raises the fence, and only its holder may write.
  fence integer not null default 0,
  lease_until timestamptz,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index runs_task on runs (task_id, created_at);
create index runs_project_day on runs (project_id, created_at);
create unique index runs_live_task on runs (task_id) where status in ('queued', 'running');
create unique index runs_busy_agent on runs (agent_id, project_id) where status = 'running';
create index runs_waiting on runs (created_at) where status in ('queued', 'running');

-- The journal: what a run has settled, so that whoever continues it does not do it again.
create table run_steps (
  run_id text not null references runs on delete cascade,
  name text not null,
  data jsonb not null,
  at timestamptz not null default now(),
  primary key (run_id, name)
);

-- The conversation with the model, turn by turn, and the workspace as it was after the turn (null: unchanged).
create table run_turns (
  run_id text not null references runs on delete cascade,
  turn integer not null,
  messages jsonb not null,
  workspace bytea,
  at timestamptz not null default now(),
  primary key (run_id, turn)
);

create table run_events (
  id bigint generated always as identity primary key,
  run_id text not null references runs on delete cascade,
  at timestamptz not null default now(),
  type text not null,
  text text not null,
  data jsonb not null default '{}'
);
create index run_events_run on run_events (run_id, id);

create table handoffs (
  id text primary key,
  task_id text not null references tasks on delete cascade,
  run_id text not null unique references runs on delete cascade,
  summary text not null,
  next_steps jsonb not null default '[]',
  created_at timestamptz not null default now()
);
create index handoffs_task on handoffs (task_id, created_at);

create table pull_requests (
  task_id text not null references tasks on delete cascade,
  repository_id text not null references repositories on delete cascade,
  number integer not null,
  url text not null,
  status text not null check (status in ('draft', 'open', 'merged', 'closed')),
  head_branch text not null,
  head_sha text not null,
  additions integer not null default 0,
  -- False once the task left done again: what was settled before no longer counts for its lifecycle.
  counts boolean not null default true,
  created_at timestamptz not null default now(),
  merged_at timestamptz,
  primary key (repository_id, number)
);
create index pull_requests_task on pull_requests (task_id, created_at);

create table diffs (
  task_id text primary key references tasks on delete cascade,
  branch_name text not null,
  base_branch text not null,
  head_sha text not null,
  files jsonb not null,
  truncated boolean not null default false,
  at timestamptz not null default now()
);
`;

const github = `
create table deliveries (
  guid text primary key,
  event text not null,
  signature text not null,
  -- text, not jsonb: a signed body may hold \\u0000, which jsonb refuses.
  payload text not null,
  received_at timestamptz not null default now(),
  handled_at timestamptz
);

-- What a command of a comment did, so that the same comment under another delivery does nothing again.
create table handled_commands (
  key text primary key,
  at timestamptz not null default now()
);

-- Issues and pull requests that show a task, and where our one comment there is.
create table mirrored (
  task_id text not null references tasks on delete cascade,
  repository_id text not null references repositories on delete cascade,
  number integer not null,
  comment_id bigint,
  -- What the comment showed last, without its progress, and when; and the newest refusal in it.
  shown text,
  shown_at timestamptz,
  notice text not null default '',
  primary key (repository_id, number)
);
create index mirrored_task on mirrored (task_id);

-- When an installation may write next, and until when GitHub wants to hear nothing; for all workers together.
create table github_pace (
  installation_id bigint primary key,
  next_write_at timestamptz not null default now(),
  parked_until timestamptz not null default now()
);
`;
