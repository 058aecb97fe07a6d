import type { EntityManager } from 'typeorm';

/** What exists in a project of the things that its first task needs. */
export interface ProjectParts {
  hasGitAccess: boolean;
  repositoryId: string | null;
  isEnvironmentTried: boolean;
  hasModelToken: boolean;
  hasAgentWithModel: boolean;
  hasDoneTask: boolean;
}

export async function findParts(em: EntityManager, projectId: string): Promise<ProjectParts> {
  // A project without an installation of its own may use the App through another account. GitHub's number of a
  // repository is known once it was read there with the App or a token.
  const [parts] = await em.query(
    `select
       exists (select 1 from installations where project_id = $1 and status = 'active')
         or exists (select 1 from project_secrets where project_id = $1 and kind = 'git_token')
         or (exists (select 1 from repositories where project_id = $1 and github_id is not null)
           and not exists (select 1 from installations where project_id = $1)) as "hasGitAccess",
       (select id from repositories where project_id = $1 order by is_primary desc, created_at, id limit 1)
         as "repositoryId",
       exists (select 1 from environment_trials e join repositories r on r.id = e.repository_id
         where r.project_id = $1 and e.status = 'ready') as "isEnvironmentTried",
       exists (select 1 from project_secrets where project_id = $1 and kind = 'model_token') as "hasModelToken",
       exists (select 1 from agents where project_id = $1 and is_newest and model <> '') as "hasAgentWithModel",
       exists (select 1 from tasks where project_id = $1 and status = 'done') as "hasDoneTask"`,
    [projectId],
  );
  return parts;
}
