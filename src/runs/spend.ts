import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { Database } from '../db/database.ts';
import type { RunRow } from '../db/tables/run.ts';
import { inProject } from '../http/access/access.ts';
import { type Route, route, wholeNumber } from '../http/route.ts';
import { limitsOf, type Paid, payForCall } from '../projects/budgets.ts';
import { addUsage } from './store.ts';

const maxDays = 366;
const groupings = ['day', 'agent', 'person', 'model', 'sprint', 'repository'] as const;
type Grouping = (typeof groupings)[number];
/** Groups beyond those that cost most are left out. People who comment on GitHub can be any number. */
const maxGroups = 1000;

const SpendQuery = z.strictObject({
  days: wholeNumber(1, maxDays)
    .default(30)
    .meta({
      override: { type: 'integer', minimum: 1, maximum: maxDays, default: 30 },
      description: 'how many days, the last of which is today (UTC)',
    }),
  by: z
    .enum(groupings, `must be one of ${groupings.join(', ')}`)
    .default('day')
    .meta({ description: 'what `groups` are' }),
});

const used = {
  costUsd: z.number().meta({ description: 'without the cost of models whose prices are not configured' }),
  inputTokens: z.int(),
  cachedInputTokens: z.int(),
  outputTokens: z.int(),
};

const agentId = z
  .string()
  .nullable()
  .meta({ description: 'the newest version of the agent; null for an agent that was deleted' });

const Spend = z
  .object({
    days: z
      .array(
        z.object({
          day: z.string().meta({ override: { type: 'string', format: 'date' } }),
          ...used,
          agents: z.array(z.object({ agentId, costUsd: z.number() })),
        }),
      )
      .meta({
        description:
          'each day, oldest first. A run counts on the days on which it used its tokens, and so do plans and answers to questions',
      }),
    agents: z
      .array(z.object({ agentId, name: z.string().nullable(), ...used }))
      .meta({ description: 'the agents that used anything, those that cost most first' }),
    by: z.enum(groupings),
    groups: z
      .array(
        z.object({
          id: z.string().nullable().meta({
            description:
              'of the day, the newest version of the agent, the person, the sprint or the repository; the name of a model',
          }),
          name: z.string().nullable(),
          ...used,
        }),
      )
      .meta({
        description: `what was used by each \`by\`: days oldest first, all others by cost, at most ${maxGroups}. A group without an id is for none: calls without an agent or a person, or from before this was recorded. A group without a name was deleted, or is a day`,
      }),
    total: z.object(used),
    budget: z.object({
      dayCostUsd: z.number().meta({ description: 'what the project may cost on a day' }),
      setBy: z.enum(['service', 'project']),
    }),
  })
  .meta({
    id: 'Spend',
    example: {
      days: [
        {
          day: '2026-01-15',
          costUsd: 1.25,
          inputTokens: 400_000,
          cachedInputTokens: 350_000,
          outputTokens: 20_000,
          agents: [{ agentId: 'agent_01kbt3v5s8e4c9x2q7w6z1y0ab', costUsd: 1.25 }],
        },
      ],
      agents: [
        {
          agentId: 'agent_01kbt3v5s8e4c9x2q7w6z1y0ab',
          name: 'Developer',
          costUsd: 1.25,
          inputTokens: 400_000,
          cachedInputTokens: 350_000,
          outputTokens: 20_000,
        },
      ],
      by: 'day',
      groups: [
        {
          id: '2026-01-15',
          name: null,
          costUsd: 1.25,
          inputTokens: 400_000,
          cachedInputTokens: 350_000,
          outputTokens: 20_000,
        },
      ],
      total: { costUsd: 1.25, inputTokens: 400_000, cachedInputTokens: 350_000, outputTokens: 20_000 },
      budget: { dayCostUsd: 50, setBy: 'service' },
    },
  });

/** What one agent in a project has used on a day (UTC). */
export interface SpendOfDay {
  /** YYYY-MM-DD. */
  day: string;
  /** Identifies the agent across its versions; empty where no agent was at work. */
  lineId: string;
  /** The newest version of the agent; null for an agent that was deleted. */
  agentId: string | null;
  name: string | null;
  costUsd: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
}

/** Returns what a project has used in the given number of days, of which today (UTC) is the last, oldest first. */
async function listSpend(
  em: EntityManager,
  projectId: string,
  days: number,
): Promise<{ today: string; rows: SpendOfDay[] }> {
  const [{ today }]: [{ today: string }] = await em.query(
    `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today`,
  );
  const rows: SpendOfDay[] = await em.query(
    `with spent as (
       select day, line_id, sum(cost_usd) as cost, sum(input_tokens) as input, sum(cached_input_tokens) as cached,
         sum(output_tokens) as output
       from spend_days where project_id = $1 and day > $2::date - $3::int and day <= $2::date group by day, line_id),
     newest as (
       select distinct on (line_id) line_id, id, name from agents
       where line_id in (select line_id from spent) order by line_id, version desc)
     select to_char(s.day, 'YYYY-MM-DD') as day, s.line_id as "lineId", a.id as "agentId", a.name,
       s.cost::float8 as "costUsd", s.input::float8 as "inputTokens", s.cached::float8 as "cachedInputTokens",
       s.output::float8 as "outputTokens"
     from spent s left join newest a on a.line_id = s.line_id order by s.day, s.line_id`,
    [projectId, today, days],
  );
  return { today, rows };
}

interface SpendGroup extends Used {
  id: string | null;
  name: string | null;
}

/** Returns what a project has used in the given number of days, of which `today` is the last, for each agent, person and so on. */
async function listGroups(
  em: EntityManager,
  projectId: string,
  { by, today, days }: { by: Exclude<Grouping, 'day'>; today: string; days: number },
): Promise<SpendGroup[]> {
  return em.query(
    `with spent as (
       select case $4::text when 'agent' then line_id when 'person' then user_id when 'model' then model
           when 'sprint' then sprint_id else repository_id end as key,
         sum(cost_usd) as cost, sum(input_tokens) as input, sum(cached_input_tokens) as cached, sum(output_tokens) as output
       from spend_days where project_id = $1 and day > $2::date - $3::int and day <= $2::date
       group by key order by cost desc, input desc, key limit $5)
     select case $4 when 'agent' then a.id else nullif(s.key, '') end as id,
       case $4 when 'agent' then a.name when 'person' then u.login when 'model' then nullif(s.key, '')
         when 'sprint' then p.name else r.name end as name,
       s.cost::float8 as "costUsd", s.input::float8 as "inputTokens", s.cached::float8 as "cachedInputTokens",
       s.output::float8 as "outputTokens"
     from spent s
     left join lateral (
       select id, name from agents where $4 = 'agent' and line_id = s.key order by version desc limit 1) a on true
     left join users u on $4 = 'person' and u.id = s.key
     left join sprints p on $4 = 'sprint' and p.id = s.key and p.project_id = $1
     left join repositories r on $4 = 'repository' and r.id = s.key and r.project_id = $1
     order by s.cost desc, s.input desc, s.key`,
    [projectId, today, days, by, maxGroups],
  );
}

/**
 * Pays for an answer of the model to a run. When the run was deleted after a cancel, with its task or its project, the
 * answer still counts for the limits: for those of the project, or otherwise for those of the person who created it.
 */
export async function payForAnswer(
  db: Database,
  run: Pick<RunRow, 'id' | 'projectId' | 'taskId' | 'agentId' | 'startedBy'>,
  creatorId: string | null,
  usage: Paid,
): Promise<void> {
  const worker = { ...run, userId: run.startedBy };
  await payForCall(db, worker, creatorId, usage, (em) => addUsage(em, run.id, usage));
}

type Used = Pick<SpendOfDay, 'costUsd' | 'inputTokens' | 'cachedInputTokens' | 'outputTokens'>;

const dayMs = 86_400_000;

/** Sums up what a project has used in the given number of days, of which `today` is the last, by day and by agent. */
export function sumUp(rows: SpendOfDay[], today: string, days: number) {
  const byDay = Map.groupBy(rows, ({ day }) => day);
  const byLine = Map.groupBy(rows, ({ lineId }) => lineId);
  return {
    days: lastDays(today, days).map((day) => {
      const ofDay = byDay.get(day) ?? [];
      return { day, ...total(ofDay), agents: ofDay.map(({ agentId, costUsd }) => ({ agentId, costUsd })) };
    }),
    agents: [...byLine.values()]
      .map((ofLine) => ({
        agentId: ofLine[0]?.agentId ?? null,
        name: ofLine[0]?.name ?? null,
        ...total(ofLine),
      }))
      .sort((a, b) => b.costUsd - a.costUsd || b.inputTokens - a.inputTokens),
    total: total(rows),
  };
}

function lastDays(today: string, count: number): string[] {
  const last = Date.parse(today);
  return Array.from({ length: count }, (_, i) => new Date(last - (count - 1 - i) * dayMs).toISOString().slice(0, 10));
}

function total(rows: Used[]): Used {
  const sum = (of: (row: Used) => number) => rows.reduce((before, row) => before + of(row), 0);
  return {
    costUsd: inMicrodollars(sum((row) => row.costUsd)),
    inputTokens: sum((row) => row.inputTokens),
    cachedInputTokens: sum((row) => row.cachedInputTokens),
    outputTokens: sum((row) => row.outputTokens),
  };
}

/** Rounds a sum of doubles, so that 0.1 + 0.2 is shown as 0.3. */
function inMicrodollars(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

export const spendRoutes: Route[] = [
  route({
    operationId: 'getSpend',
    method: 'get',
    path: '/projects/:projectId/spend',
    summary:
      'Get what a project has used: runs, reviews, trials, chats and planning, by day and by agent, or by person, model, sprint or repository, and its budget of a day',
    tag: 'projects',
    access: inProject('viewer'),
    query: SpendQuery,
    reply: [200, Spend],
    handle: async (app, { projectId, query }) => {
      const { today, rows } = await listSpend(app.db.manager, projectId, query.days);
      const { dayCostUsd } = await limitsOf(app, projectId);
      const setBy = dayCostUsd.setBy === 'service' ? ('service' as const) : ('project' as const);
      const sums = sumUp(rows, today, query.days);
      const { by, days } = query;
      const groups =
        by === 'day'
          ? sums.days.map(({ day, agents: _, ...used }) => ({ id: day, name: null, ...used }))
          : await listGroups(app.db.manager, projectId, { by, today, days });
      return { ...sums, by, groups, budget: { dayCostUsd: dayCostUsd.value, setBy } };
    },
  }),
];
