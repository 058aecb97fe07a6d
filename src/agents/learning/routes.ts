import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { AgentRow } from '../../db/tables/project.ts';
import { pairedVerdicts } from '../../domain/lab/paired.ts';
import { type ComparedTask, compareVersions, measures } from '../../domain/learning/comparison.ts';
import { AppError } from '../../errors.ts';
import { Preview, type Route, route, Timestamp } from '../../http/route.ts';
import { onAgent, onChangeableAgent } from '../operations.ts';
import { Agent, EvolveAgent, FiguresQuery, rollout } from '../schemas.ts';
import { findAgent } from '../store.ts';
import { limitInIndexOrder } from './evidence.ts';
import { evolveAgent, previewVersion } from './evolve.ts';
import { readSuggestions } from './suggestions.ts';
import { readTrialOfVersions } from './trial-evidence.ts';

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
    trial: z
      .object({
        id: z.string(),
        repositoryId: z.string(),
        endedAt: Timestamp,
        of: z.int().meta({ description: 'the items that both versions have tried' }),
        earlier: z.object({ solved: z.int() }),
        later: z.object({ solved: z.int() }),
        difference: z
          .number()
          .meta({ description: 'by how much the later version solves a larger share of the items' }),
        pValue: z.number().meta({ description: 'of the exact test of McNemar, in both directions' }),
        verdict: z.enum(pairedVerdicts).meta({ description: 'of the later version' }),
      })
      .nullable()
      .meta({ description: 'the latest trial that compared the prompts of both versions; null without one' }),
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
    handle: (app, { agent, user, query }) => readSuggestions(app, agent, user, query.version),
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
      409: 'It is not the newest version, somebody changed it at the same time, or the trial was of another prompt or worse',
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

/** A comparison uses at most this many tasks of each version, the latest. */
const maxTasks = 300;

interface SampledTask extends ComparedTask {
  begunAt: Date;
}

/**
 * Returns the finished tasks that a version of an agent worked on alone, in a user's projects, and that began within a
 * period. A task is finished when it is done or its latest run failed. Subtasks count as part of their parent.
 */
export async function listFinishedTasks(
  em: EntityManager,
  userId: string,
  { agentId, from, until }: { agentId: string; from: Date; until: Date | null },
): Promise<SampledTask[]> {
  return em.query(
    `with own as (
       select r.task_id, max(r.created_at) as at
       from (select project_id from members where user_id = $1) m
       cross join lateral (
         select r.task_id, r.created_at from runs r
         where r.agent_id = $2 and r.project_id = m.project_id and r.created_at >= $3
         order by r.created_at desc ${limitInIndexOrder(4 * maxTasks)}) r
       group by r.task_id order by at desc limit ${maxTasks}),
     parts as (
       select task_id as root_id, task_id from own
       union all select s.parent_id, s.id from own join tasks s on s.parent_id = own.task_id),
     work as (
       select p.root_id, min(r.created_at) as begun, bool_and(r.agent_id is not distinct from $2) as is_alone,
         case when bool_and(r.cost_usd is not null) then sum(r.cost_usd)::float8 end as cost,
         coalesce(sum(greatest(0, extract(epoch from r.finished_at - r.started_at) - r.waited_seconds)) / 60, 0)::float8 as minutes,
         count(*) filter (where r.kind = 'revise' and r.task_id = p.root_id)::int as revisions,
         (array_agg(r.status order by r.created_at desc, r.id desc) filter (where r.task_id = p.root_id))[1] as latest
       from parts p join runs r on r.task_id = p.task_id group by p.root_id)
     select t.status = 'done' as "isDone", work.cost as "costUsd", work.minutes, work.revisions, work.begun as "begunAt"
     from work join tasks t on t.id = work.root_id and t.parent_id is null
     where work.is_alone and not t.hidden and work.begun >= $3 and ($4::timestamptz is null or work.begun <= $4)
       and (t.status = 'done' or work.latest = 'failed')
     order by work.begun desc`,
    [userId, agentId, from, until],
  );
}

/**
 * Compares a version of an agent with the one before it. Only tasks count that began while both versions took on tasks:
 * after the later one was created, and before the earlier one began its last task. So both had the same kind of work.
 * @throws AppError 404 for the first version
 */
async function readComparison(em: EntityManager, agent: AgentRow, userId: string) {
  const previous = agent.previousVersionId === null ? null : await findAgent(em, agent.previousVersionId);
  if (previous === null)
    throw new AppError(404, `Version ${agent.version} of ${agent.name} has no earlier version to compare it with.`);
  const from = agent.createdAt;
  const earlier = await listFinishedTasks(em, userId, { agentId: previous.id, from, until: null });
  const [last] = earlier;
  const until = last?.begunAt ?? from;
  const later = await listFinishedTasks(em, userId, { agentId: agent.id, from, until });
  return {
    earlier: { id: previous.id, version: previous.version, tasks: earlier.length },
    later: { id: agent.id, version: agent.version, tasks: later.length },
    rollout: agent.rollout,
    ...compareVersions({ version: previous.version, tasks: earlier }, { version: agent.version, tasks: later }),
    trial: (await readTrialOfVersions(em, userId, { earlier: previous, later: agent })) ?? null,
  };
}
