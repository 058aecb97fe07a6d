import { z } from 'zod';
import { onAgent, onChangeableAgent } from '../agents/operations.ts';
import { maxPromptChars } from '../agents/schemas.ts';
import { pairedVerdicts } from '../domain/lab/paired.ts';
import { Refused } from '../domain/machine.ts';
import { accessTo } from '../http/access/access.ts';
import { IdText, longText, pageQuery, type Route, route, Timestamp, titleText, wholeNumber } from '../http/route.ts';
import { cancelTrial } from './trial-advance.ts';
import { estimateTrial } from './trial-estimate.ts';
import { startTrial, usualItems } from './trial-start.ts';
import { findTrial, listTrials, type Trial, trialResults, trialSource, trialStatuses } from './trial-store.ts';
import { showTrials, type TrialView } from './trial-view.ts';

const tag = 'agents';

const maxItems = 100;
const maxBudgetUsd = 10_000;

const interval = z.array(z.number()).length(2).nullable().meta({
  description: 'the share that it solves, with a certainty of 95 % (Clopper and Pearson); null before the first result',
});

const armFields = {
  agentId: z.string(),
  name: z.string().meta({ description: 'of the agent, as it is called now' }),
  version: z.int(),
  isCurrent: z.boolean().meta({ description: 'whether the agent still has the prompt that was tried' }),
  model: z.string(),
  promptHash: z.string().meta({ description: 'SHA-256 of the system prompt that was tried, in hexadecimal' }),
  solved: z.int(),
  of: z.int().meta({ description: 'the items that count; those that ended with an error do not' }),
  interval,
  costUsd: z.number().nullable().meta({ description: 'null when the price of the model is unknown' }),
  minutes: z.number(),
  items: z.array(
    z.object({
      itemId: z.string(),
      title: z.string(),
      result: z.enum(trialResults).nullable().meta({
        description: 'null while the run is live; `error`: something else than the agent prevented the run',
      }),
      reason: z.string().nullable().meta({ description: 'why it was not solved' }),
      runId: z.string(),
      taskId: z.string(),
      costUsd: z.number().nullable(),
    }),
  ),
};

const TrialReply = z
  .object({
    id: z.string(),
    projectId: z.string(),
    repositoryId: z.string(),
    status: z.enum(trialStatuses),
    reason: z.string().nullable().meta({ description: 'why it ended', example: 'The difference is clear.' }),
    ...armFields,
    planned: z.int().meta({ description: 'how many items it tries at most' }),
    budget: z.object({ costUsd: z.number() }),
    seed: z.string().meta({ description: 'from which the order of the items follows' }),
    against: z
      .object({
        ...armFields,
        pairs: z.int().meta({ description: 'the items that both have tried' }),
        wins: z.int().meta({ description: 'the items that only the tried agent solved' }),
        losses: z.int().meta({ description: 'the items that only this one solved' }),
        difference: z
          .number()
          .meta({ description: 'by how much the tried agent solves a larger share of these items' }),
        pValue: z.number().meta({ description: 'of the exact test of McNemar, in both directions' }),
        verdict: z.enum(pairedVerdicts).meta({
          description:
            'of the tried agent. Of two that are equal, one is called `worse` in at most 5 % of trials and `better` in at most 5 %, although each item is looked at',
        }),
        clearAfter: z.int().nullable().meta({ description: 'after how many pairs the difference was clear' }),
      })
      .optional(),
    startedBy: z.string().nullable(),
    createdAt: Timestamp,
    finishedAt: Timestamp.nullable(),
  })
  .meta({ id: 'AgentTrial' });

const costUsd = z
  .number({ error: 'must be a number of US dollars' })
  .positive('must be more than 0')
  .max(maxBudgetUsd, `must be at most ${maxBudgetUsd}`);

const itemsText = `must be a whole number from 1 to ${maxItems}`;

const StartTrial = z.strictObject({
  repositoryId: IdText,
  items: z
    .int(itemsText)
    .min(1, itemsText)
    .max(maxItems, itemsText)
    .default(usualItems)
    .meta({ description: 'how many items to try; fewer if the benchmark has fewer' }),
  against: IdText.optional().meta({ description: 'another agent or version, which tries the same items' }),
  model: titleText().optional().meta({ description: "instead of the agent's own" }),
  systemPrompt: longText(maxPromptChars)
    .min(1, 'must not be empty')
    .optional()
    .meta({ description: 'a prompt that the agent does not have yet; without `against` it is compared with its own' }),
  budget: z.strictObject({ costUsd }),
});

const range = z
  .object({ low: z.number(), high: z.number() })
  .nullable()
  .meta({ description: 'in four of five cases; null where nothing is known' });

const Estimate = z
  .object({
    items: z.int().meta({ description: 'how many items it would try' }),
    costUsd: range,
    minutes: range,
    runs: z.int().meta({ description: 'how many earlier runs it is based on' }),
    reason: z.string().nullable().meta({ description: 'why nothing is known' }),
  })
  .meta({ id: 'TrialEstimate' });

const EstimateQuery = z.strictObject({
  repositoryId: IdText,
  items: wholeNumber(1, maxItems)
    .default(usualItems)
    .meta({ override: { type: 'integer', minimum: 1, maximum: maxItems, default: usualItems } }),
  against: IdText.optional(),
  model: titleText().optional(),
});

const onTrial = accessTo<Trial, 'trial'>({
  kind: 'Trial',
  as: 'trial',
  ...trialSource,
  id: 't.id',
  project: 't.project_id',
  param: 'trialId',
});

async function show(app: Parameters<typeof estimateTrial>[0], trial: Trial): Promise<TrialView> {
  const now = (await findTrial(app.db.manager, trial.id)) ?? trial;
  const [view] = await showTrials(app.db.manager, [now]);
  return view as TrialView;
}

export const trialRoutes: Route[] = [
  route({
    operationId: 'startTrial',
    method: 'post',
    path: '/agents/:id/trials',
    summary: 'Try an agent on the benchmark of a repository, alone or compared with another one',
    guide:
      'Let an agent try earlier changes of a repository again, whose hidden tests then say whether it solved them. Nothing is pushed. It costs money, at most `budget`; estimateTrial says how much. getTrial has the results.',
    tag,
    access: onChangeableAgent,
    audit: { action: 'agent.try', object: ({ agent }) => agent },
    body: StartTrial,
    reply: [202, TrialReply],
    errors: {
      409: 'The repository has no usable benchmark, or a trial on it is running',
      503: 'No model or git credential is configured',
    },
    costs: 'start',
    waits: 'before it writes',
    handle: (app, { agent, user, body: { budget, ...asked } }) =>
      startTrial(app, agent, user.id, { ...asked, budgetUsd: budget.costUsd }),
  }),
  route({
    operationId: 'estimateTrial',
    method: 'get',
    path: '/agents/:id/trials/estimate',
    summary: 'Estimate what a trial of an agent costs, from its earlier runs',
    tag,
    access: onChangeableAgent,
    query: EstimateQuery,
    reply: [200, Estimate],
    handle: (app, { agent, user, query }) => estimateTrial(app, agent, user.id, query),
  }),
  route({
    operationId: 'listTrials',
    method: 'get',
    path: '/agents/:id/trials',
    summary: 'List the trials of an agent, in all of its versions, the latest first',
    tag,
    access: onAgent,
    query: z.strictObject(pageQuery),
    paged: true,
    reply: [200, z.array(TrialReply)],
    handle: async (app, { agent, user, query: { limit, offset } }) => {
      const page = { limit: limit + 1, offset };
      return showTrials(app.db.manager, await listTrials(app.db.manager, { userId: user.id, ...agent }, page));
    },
  }),
  route({
    operationId: 'getTrial',
    method: 'get',
    path: '/trials/:trialId',
    summary: 'Get a trial of an agent with its results',
    tag,
    access: onTrial('viewer'),
    reply: [200, TrialReply],
    handle: (app, { trial }) => show(app, trial),
  }),
  route({
    operationId: 'cancelTrial',
    method: 'post',
    path: '/trials/:trialId/cancel',
    summary: 'Cancel a trial of an agent. What it has found out stays',
    tag,
    access: onTrial('admin'),
    audit: { action: 'agent.cancel_trial', object: ({ trial }) => ({ id: trial.agentId, projectId: trial.projectId }) },
    reply: [200, TrialReply],
    errors: { 409: 'The trial has ended' },
    // The runs are cancelled in transactions of their own.
    waits: 'between writes',
    handle: async (app, { trial, keyed }) => {
      if (!(await cancelTrial(app, trial.id)) && !keyed?.isAgain)
        throw new Refused('The trial has ended, so there is nothing to cancel.');
      return show(app, trial);
    },
  }),
];
