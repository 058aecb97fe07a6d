import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stable keys of built-in agents, versions beside each other, and the suggestions that a model wrote. */
export class AgentsThatLearn1766102400000 implements MigrationInterface {
  name = 'AgentsThatLearn1766102400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table agents
        add column built_in text check (built_in in ('developer', 'architect', 'reviewer', 'qa', 'writer')),
        add column rollout integer not null default 100 check (rollout between 0 and 100);

      -- Recognizes built-in agents by the name or the description of any of their versions, because the newest version
      -- may have been renamed.
      with recursive line (id, newest) as (
        select id, id from agents where project_id is not null and is_newest
        union all
        select a.previous_version_id, l.newest from line l join agents a on a.id = l.id
        where a.previous_version_id is not null),
      shipped (built_in, name, description) as (values
        ('developer', 'Developer', 'Implements features and fixes bugs, with tests.'),
        ('architect', 'Software Architect', 'Plans and splits work, and keeps the design simple.'),
        ('reviewer', 'Reviewer', 'Finds mistakes, risks and unnecessary code in changes, and fixes them.'),
        ('qa', 'QA Engineer', 'Finds untested behaviour and writes tests for it.'),
        ('writer', 'Technical Writer', 'Writes documentation and corrects it where it differs from the code.')),
      matches as (
        select distinct on (l.newest) l.newest, a.project_id, s.built_in, a.name = s.name as is_named, a.version
        from line l join agents a on a.id = l.id
        join shipped s on s.name = a.name or s.description = a.description
        order by l.newest, a.name = s.name desc, a.version),
      chosen as (
        select distinct on (project_id, built_in) newest, built_in from matches
        order by project_id, built_in, is_named desc, version, newest)
      update agents a set built_in = chosen.built_in
      from chosen join line on line.newest = chosen.newest where a.id = line.id;
      create unique index agents_built_in on agents (project_id, built_in) where built_in is not null and is_newest;

      -- Versions form one line: each has at most one successor.
      create unique index agents_previous on agents (previous_version_id) where previous_version_id is not null;

      -- What a model wrote about the failures of an agent. The key is a hash of the evidence in its prompt.
      create table agent_suggestions (
        agent_id text not null references agents on delete cascade,
        evidence_key text not null,
        -- Null when the model gave no usable answer; it is asked again later.
        suggestions jsonb,
        made_at timestamptz not null default now(),
        primary key (agent_id, evidence_key)
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table agent_suggestions;
      drop index agents_previous;
      drop index agents_built_in;
      alter table agents drop column built_in, drop column rollout;`);
  }
}
