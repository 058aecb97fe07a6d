import type { MigrationInterface, QueryRunner } from 'typeorm';

const kinds = `'start', 'retry', 'revise', 'continue', 'rewind', 'review', 'fix', 'prove', 'harvest'`;

/** What webhooks are told of. A trial has dozens of hidden tasks, of which nobody wants to hear. */
const webhooksOf = (tasks: string, runs: string) => `
      drop trigger tasks_webhooks on tasks;
      create trigger tasks_webhooks after insert or update of status, failure, status_since on tasks
        for each row ${tasks} execute function note_webhooks_of_task();
      drop trigger runs_webhooks on runs;
      create trigger runs_webhooks after update of status, wait_id on runs
        for each row ${runs} execute function note_webhooks_of_run();`;

/** Trials of agents on the benchmark of a repository. */
export class AgentTrials1771027200000 implements MigrationInterface {
  name = 'AgentTrials1771027200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table runs drop constraint runs_kind_check, add constraint runs_kind_check check (kind in (${kinds}, 'trial'));

      -- The agent that starts where nobody names one and no .deckhand.yml does; null for the Developer.
      alter table projects add column default_agent_id text references agents on delete set null;
      create index projects_default_agent on projects (default_agent_id) where default_agent_id is not null;

      create table agent_trials (
        id text primary key,
        project_id text not null references projects on delete cascade,
        repository_id text not null references repositories on delete cascade,
        -- The version of the agent for which it was started.
        agent_id text not null references agents on delete cascade,
        started_by text references users on delete set null,
        status text not null check (status in ('running', 'done', 'cancelled', 'failed')),
        -- Why it ended, as a sentence.
        reason text,
        -- From which the order of the items follows.
        seed text not null,
        budget_usd numeric not null,
        created_at timestamptz not null default now(),
        finished_at timestamptz,
        check ((status = 'running') = (finished_at is null))
      );
      create unique index agent_trials_running on agent_trials (repository_id) where status = 'running';
      create index agent_trials_agent on agent_trials (agent_id, created_at);
      create index agent_trials_repository on agent_trials (repository_id, created_at);

      -- What a trial compares: 0 is tried, and 1 is the other one, if there is one. The text of the prompt is kept, so that the
      -- prompt can change during the trial.
      create table agent_trial_arms (
        trial_id text not null references agent_trials on delete cascade,
        arm integer not null check (arm in (0, 1)),
        agent_id text not null references agents on delete cascade,
        version integer not null,
        model text not null,
        system_prompt text not null,
        -- SHA-256 of that prompt.
        prompt_hash text not null,
        primary key (trial_id, arm)
      );
      create index agent_trial_arms_agent on agent_trial_arms (agent_id);

      -- The items of a trial in their order, as they were when it began. The benchmark may be harvested again meanwhile.
      create table agent_trial_items (
        trial_id text not null references agent_trials on delete cascade,
        place integer not null,
        item_id text not null,
        title text not null,
        text text not null,
        base_sha text not null,
        solution_sha text not null,
        tests jsonb not null,
        primary key (trial_id, place)
      );

      -- The runs of a trial. The result is null while the run is live.
      create table agent_trial_runs (
        run_id text primary key references runs on delete cascade,
        trial_id text not null,
        place integer not null,
        arm integer not null,
        result text check (result in ('solved', 'unsolved', 'error')),
        -- Why it was not solved.
        reason text,
        foreign key (trial_id, place) references agent_trial_items on delete cascade,
        foreign key (trial_id, arm) references agent_trial_arms on delete cascade,
        unique (trial_id, place, arm)
      );

      ${webhooksOf('when (not new.hidden)', `when (new.kind not in ('prove', 'harvest', 'trial'))`)}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table projects drop column default_agent_id;
      ${webhooksOf('', '')}
      drop table agent_trial_runs, agent_trial_items, agent_trial_arms, agent_trials;
      delete from tasks where hidden and id in (select task_id from runs where kind = 'trial');
      delete from runs where kind = 'trial';
      alter table runs drop constraint runs_kind_check, add constraint runs_kind_check check (kind in (${kinds}));`);
  }
}
