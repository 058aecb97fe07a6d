import { z } from 'zod';
import { measures } from '../../domain/learning/comparison.ts';
import { Preview, type Route, route } from '../../http/route.ts';
import { onAgent, onChangeableAgent } from '../operations.ts';
import { Agent, EvolveAgent, FiguresQuery, rollout } from '../schemas.ts';
import { readComparison } from './comparison.ts';
import { evolveAgent, previewVersion } from './evolve.ts';
import { readSuggestions } from './suggestions.ts';

const PromptPreview = z
  .object({
    systemPrompt: z.string(),
    diff: z.string().meta({
      description: 'what differs from the current prompt, as a unified diff; empty when nothing does',
      example:
        '--- version 1\n+++ version 2\n@@ -1,1 +1,2 @@\n You are a careful developer.\n+Run the tests before you finish.\n',
    }),
  })
  .meta({ id: 'PromptPreview' });

const Quote = z.object({
  source: z
    .enum(['failure', 'review', 'checks'])
    .meta({ description: 'where it comes from: a failed run, a review by a person, or checks on GitHub' }),
  runId: z.string(),
  taskId: z.string(),
  text: z.string().meta({ example: 'expected 3 tests to pass, but 1 failed' }),
  url: z.string().meta({ description: 'the run in the dashboard' }),
});

const Suggestions = z.object({
  suggestions: z.array(
    z
      .object({
        area: z.string(),
        suggestion: z.string(),
        priority: z.enum(['low', 'medium', 'high']),
        evidence: z.array(z.string()).meta({ description: 'ids of the runs' }),
        quotes: z.array(Quote).meta({ description: 'what runs, people and checks said, word for word' }),
      })
      .meta({ id: 'Suggestion' }),
  ),
  wording: z
    .literal(true)
    .optional()
    .meta({ description: 'present while a model words the suggestions; read them again in a few seconds' }),
});

const Estimate = z
  .object({ value: z.number(), low: z.number(), high: z.number() })
  .meta({ id: 'Estimate', description: 'a value with its interval' })
  .nullable();

const ComparedVersion = z.object({
  id: z.string(),
  version: z.int(),
  tasks: z.int().meta({ description: 'the finished tasks that count' }),
});

const Comparison = z
  .object({
    earlier: ComparedVersion,
    later: ComparedVersion,
    rollout,
    measures: z.array(
      z.object({
        measure: z.enum(measures).meta({
          description: 'per task: `success` is a rate, `cost` in US dollars, `time` in minutes, `revisions` a number',
        }),
        earlier: Estimate,
        later: Estimate,
        difference: Estimate,
        verdict: z
          .enum(['better', 'worse', 'chance', 'too_few'])
          .meta({ description: 'how the later version compares; `chance` when chance can explain the difference' }),
      }),
    ),
    sentence: z.string(),
  })
  .meta({ id: 'Comparison' });

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
