import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { inProject } from '../http/access/access.ts';
import { type Route, route } from '../http/route.ts';

const Onboarding = z
  .object({
    hasGitAccess: z
      .boolean()
      .meta({ description: 'the GitHub App reaches the repositories of the project, or the project has a git token' }),
    repositoryId: z
      .string()
      .nullable()
      .meta({ description: 'the primary repository, otherwise the oldest; null before one is connected' }),
    isEnvironmentTried: z
      .boolean()
      .meta({ description: 'a trial of the environment of one of the repositories was successful' }),
    hasModel: z.boolean().meta({ description: 'both a model and a key for it are configured' }),
    hasDoneTask: z.boolean(),
  })
  .meta({ id: 'Onboarding', description: 'what a new project still needs, computed from what exists' });

/** What exists in a project of the things that its first task needs. */
export interface ProjectParts {
  hasGitAccess: boolean;
  repositoryId: string | null;
  isEnvironmentTried: boolean;
  hasModelToken: boolean;
  hasAgentWithModel: boolean;
  hasDoneTask: boolean;
}

async function findParts(em: EntityManager, projectId: string): Promise<ProjectParts> {
  // A project without an installation of its own may use the App through another account. GitHub's number of a
  // repository is known once it was read there with the App or a token.
  const [parts]: [ProjectParts] = await em.query(
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
       exists (select 1 from tasks where project_id = $1 and status = 'done' and not hidden) as "hasDoneTask"`,
    [projectId],
  );
  return parts;
}

/** Returns which steps towards its first finished task a project has completed, computed from what exists. */
async function readOnboarding({ config, db }: App, projectId: string) {
  const { hasModelToken, hasAgentWithModel, ...parts } = await findParts(db.manager, projectId);
  const hasKey = hasModelToken || config.OPENAI_API_KEY !== undefined;
  return { ...parts, hasModel: hasKey && (hasAgentWithModel || config.OPENAI_MODEL !== '') };
}

export const onboardingRoutes: Route[] = [
  route({
    operationId: 'getOnboarding',
    method: 'get',
    path: '/projects/:projectId/onboarding',
    summary: 'Get which steps towards its first finished task a project has completed',
    guide: null,
    tag: 'projects',
    access: inProject('viewer'),
    reply: [200, Onboarding],
    handle: (app, { projectId }) => readOnboarding(app, projectId),
  }),
];
