import { Preview, type Route, route } from '../../http/route.ts';
import { onAgent, onChangeableAgent } from '../access.ts';
import { Agent, EvolveAgent, FiguresQuery } from '../schemas.ts';
import { readComparison } from './comparison.ts';
import { evolveAgent, previewVersion } from './evolve.ts';
import { Comparison, PromptPreview, Suggestions } from './schemas.ts';
import { readSuggestions } from './suggestions.ts';

const tag = 'agents';

export const learningRoutes: Route[] = [
  route({
    operationId: 'listAgentSuggestions',
    method: 'get',
    path: '/agents/:id/suggestions',
    summary: 'List suggestions from the failures, reviews and failing checks of an agent',
    tag,
    access: onAgent,
    query: FiguresQuery,
    reply: [200, Suggestions],
    handle: (app, { agent, user, query }) => readSuggestions(app, agent, user.id, query.version),
  }),
  route({
    operationId: 'evolveAgent',
    method: 'post',
    path: '/agents/:id/evolve',
    summary: 'Create a new version of an agent',
    tag,
    access: onChangeableAgent,
    audit: { action: 'agent.evolve', object: ({ agent }) => agent },
    body: EvolveAgent,
    reply: [201, Agent],
    previews: { description: 'With `preview`: the new system prompt, which is not stored', shape: PromptPreview },
    errors: {
      409: 'It is not the newest version, or somebody changed it at the same time',
      502: 'The model failed or wrote no usable system prompt',
    },
    costs: 'model',
    waits: 'before it writes',
    handle: async (app, { agent, user, body }) =>
      body.preview
        ? new Preview(await previewVersion(app, agent, user.id, body))
        : evolveAgent(app, agent, user.id, body),
  }),
  route({
    operationId: 'compareAgentVersions',
    method: 'get',
    path: '/agents/:id/comparison',
    summary: 'Compare a version of an agent with the one before it, by the tasks from the time when both were in use',
    tag,
    access: onAgent,
    reply: [200, Comparison],
    handle: (app, { agent, user }) => readComparison(app.db.manager, agent, user.id),
  }),
];
