import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The comments of people on lines of a change, what became of them, and the runs that changed nothing. */
export class ReviewComments1768953600000 implements MigrationInterface {
  name = 'ReviewComments1768953600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table review_comments (
        id text primary key,
        task_id text not null references tasks on delete cascade,
        repository_id text not null references repositories on delete cascade,
        -- The pull request, and GitHub's numbers of the comment and of the first one in its thread. Null while a comment
        -- of the dashboard is not on GitHub.
        number integer,
        github_id bigint,
        thread_id bigint,
        path text not null,
        -- Null for a comment on a whole file.
        line integer,
        side text not null check (side in ('old', 'new')),
        text text not null,
        author text not null,
        at timestamptz not null,
        -- 1 before the first revision of the task, and one more after each.
        round integer not null,
        -- GitHub no longer shows the line in the diff.
        is_outdated boolean not null default false,
        -- The last request that it was part of.
        revision_id text references revisions on delete set null,
        -- What the agent wants to answer, until its run succeeds.
        drafted_answer text,
        drafted_by text references runs on delete set null,
        answer text,
        addressed_at timestamptz,
        created_at timestamptz not null default now(),
        unique (repository_id, github_id)
      );
      create index review_comments_task on review_comments (task_id, at, id);
      create index review_comments_revision on review_comments (revision_id);
      create index review_comments_drafted_by on review_comments (drafted_by);
      -- What a person wrote about the whole in the dashboard, the review that shows it on GitHub, and when that was settled.
      alter table revisions add said text, add github_review_id bigint, add review_posted_at timestamptz;
      alter table runs add changed_nothing boolean not null default false;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table review_comments;
      alter table revisions drop column said, drop column github_review_id, drop column review_posted_at;
      alter table runs drop column changed_nothing;`);
  }
}
