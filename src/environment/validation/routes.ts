import { z } from 'zod';
import { type Route, route } from '../../http/route.ts';
import { onRepository } from '../../repositories/routes.ts';
import { validateRepository } from './validate.ts';

const Validation = z
  .object({
    valid: z.boolean(),
    message: z.string().meta({ description: 'what was found, and everything that a run would fail or stop at' }),
    branches: z.array(z.string()).optional(),
    error: z.string().optional(),
    canPush: z.boolean(),
  })
  .meta({ id: 'RepositoryValidation' });

export const validationRoutes: Route[] = [
  route({
    operationId: 'validateRepository',
    method: 'post',
    path: '/repositories/:id/validate',
    summary: 'Check the connection, default branch, right to push, settings file and environment of a repository',
    tag: 'repositories',
    access: onRepository('member'),
    audit: { action: 'repository.validate', object: ({ repository }) => repository },
    reply: [200, Validation],
    // The validation writes nothing.
    waits: 'between writes',
    handle: (app, { repository }) => validateRepository(app, repository),
  }),
];
