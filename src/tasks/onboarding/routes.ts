import type { App } from '../../app.ts';
import { inProject } from '../../http/access/access.ts';
import { type Route, route } from '../../http/route.ts';
import { Onboarding } from './schemas.ts';
import { findParts } from './store.ts';

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
    tag: 'projects',
    access: inProject('member'),
    reply: [200, Onboarding],
    handle: (app, { projectId }) => readOnboarding(app, projectId),
  }),
];
