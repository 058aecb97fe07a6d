import { z } from 'zod';

export const Onboarding = z
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
