import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Environment secrets belong to repositories. Those that exist belong to none until an admin assigns them. */
export class SecretsOfRepositories1767052800000 implements MigrationInterface {
  name = 'SecretsOfRepositories1767052800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table environment_secrets add hosts jsonb not null default '[]';
      -- The keys below name the project, so that a secret can only belong to repositories of its own project.
      create unique index repositories_of_project on repositories (project_id, id);
      create table environment_secret_repositories (
        project_id text not null,
        name text not null,
        repository_id text not null,
        primary key (project_id, name, repository_id),
        foreign key (project_id, name) references environment_secrets (project_id, name) on delete cascade,
        foreign key (project_id, repository_id) references repositories (project_id, id) on delete cascade
      );
      create index environment_secret_repositories_repository on environment_secret_repositories (project_id, repository_id);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table environment_secret_repositories;
      drop index repositories_of_project;
      alter table environment_secrets drop column hosts;`);
  }
}
