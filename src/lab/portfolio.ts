import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import { type Portfolio, portfolioOf, type TriedAgent } from '../domain/lab/portfolio.ts';
import { type Route, route } from '../http/route.ts';
import { onRepository } from '../repositories/routes.ts';

const Entry = z
  .object({
    agentId: z.string(),
    name: z.string(),
    version: z.int(),
    model: z.string(),
    solved: z.int(),
    of: z.int().meta({ description: 'the items that it tried; errors do not count' }),
    interval: z.array(z.number()).length(2).meta({ description: 'the share that it solves, with a certainty of 95 %' }),
    costPerSolved: z
      .number()
      .nullable()
      .meta({ description: 'in US dollars; null when nothing was solved, and when the price of the model is unknown' }),
    minutesPerSolved: z.number().nullable(),
    isEfficient: z.boolean().meta({
      description: 'no other one solves at least as much at most as expensively, and is better in one of both',
    }),
    comparedWithBest: z.enum(['best', 'worse', 'not worse', 'unknown']).meta({
      description: '`worse` at an error of 5 %; `unknown`: it tried so few items that they could not show it',
    }),
  })
  .meta({ id: 'PortfolioEntry' });

const PortfolioReply = z
  .object({
    agents: z.array(Entry).meta({ description: 'each agent with each model that was tried, the best first' }),
    cheapest: Entry.nullable().meta({
      description: 'the cheapest per solved item of those that are not significantly worse than the best',
    }),
  })
  .meta({ id: 'Portfolio' });

export const portfolioRoutes: Route[] = [
  route({
    operationId: 'getPortfolio',
    method: 'get',
    path: '/repositories/:id/portfolio',
    summary: 'Compare the agents and models that were tried on a repository: how much they solve, and at what cost',
    guide:
      'Which agent with which model solves how much of the benchmark of a repository, at what cost per solved item, and which is the cheapest that is not worse than the best. From trials of agents.',
    tag: 'repositories',
    access: onRepository('viewer'),
    reply: [200, PortfolioReply],
    handle: (app, { repository }) => readPortfolio(app.db.manager, repository.id),
  }),
];

interface TriedRow {
  agentId: string;
  name: string;
  version: number;
  model: string;
  itemId: string;
  solved: boolean;
  costUsd: number | null;
  minutes: number;
}

/** Tries of so many trials are looked at, the latest ones. */
const maxTrials = 50;

async function readPortfolio(em: EntityManager, repositoryId: string) {
  const rows = await listTries(em, repositoryId);
  const groups = Map.groupBy(rows, ({ agentId, model }) => `${agentId} ${model}`);
  const portfolio: Portfolio = portfolioOf([...groups.values()].map(triedOf));
  const named = (entry: Portfolio['agents'][number]) => {
    const { name = '', version = 1 } = rows.find(({ agentId }) => agentId === entry.agentId) ?? {};
    return { ...entry, name, version };
  };
  const share = ({ solved, of }: { solved: number; of: number }) => solved / of;
  return {
    agents: portfolio.agents
      .map(named)
      .sort((a, b) => share(b) - share(a) || (a.costPerSolved ?? 0) - (b.costPerSolved ?? 0)),
    cheapest: portfolio.cheapest === null ? null : named(portfolio.cheapest),
  };
}

/** `rows` have one try for each item. */
function triedOf(rows: TriedRow[]): TriedAgent {
  const [first] = rows as [TriedRow, ...TriedRow[]];
  const isKnown = rows.some(({ costUsd }) => costUsd !== null);
  return {
    agentId: first.agentId,
    model: first.model,
    items: new Map(rows.map(({ itemId, solved }) => [itemId, solved])),
    costUsd: isKnown ? rows.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0) : null,
    minutes: rows.reduce((sum, { minutes }) => sum + minutes, 0),
  };
}

/**
 * Returns what trials on a repository found out about the agents that are in use, the latest first. A try belongs to the newest
 * version of its agent that has the prompt which was tried, so it counts no more once the prompt is another one. Of the tries
 * of an agent with a model, only the latest of each item counts, and only those are looked up.
 */
export async function listTries(em: EntityManager, repositoryId: string): Promise<TriedRow[]> {
  return em.query(
    `with in_use as materialized (
       select v.id, v.name, v.version, v.line_id, encode(sha256(convert_to(v.system_prompt, 'UTF8')), 'hex') as hash
       from agents v
       where v.line_id in (
           select a.line_id from agent_trials t join agent_trial_arms m on m.trial_id = t.id
           join agents a on a.id = m.agent_id where t.repository_id = $1)
         and (v.is_newest or exists (
           select from agents n where n.previous_version_id = v.id and n.is_newest and n.rollout < 100))),
     latest as materialized (
       select id, created_at from agent_trials where repository_id = $1 order by created_at desc limit ${maxTrials}),
     tries as materialized (
       select distinct on (u.id, m.model, i.item_id) u.id as agent_id, u.name, u.version, m.model, i.item_id, x.run_id, x.result
       from latest t join agent_trial_arms m on m.trial_id = t.id
       join agents a on a.id = m.agent_id
       join in_use u on u.line_id = a.line_id and u.hash = m.prompt_hash and not exists (
         select from in_use newer where newer.line_id = u.line_id and newer.hash = u.hash and newer.version > u.version)
       join agent_trial_runs x on x.trial_id = m.trial_id and x.arm = m.arm and x.result in ('solved', 'unsolved')
       join agent_trial_items i on i.trial_id = x.trial_id and i.place = x.place
       order by u.id, m.model, i.item_id, t.created_at desc, x.run_id desc)
     select n.agent_id as "agentId", n.name, n.version, n.model, n.item_id as "itemId",
       n.result = 'solved' as solved /* not null */, r.cost_usd::float8 as "costUsd",
       coalesce(greatest(0, extract(epoch from r.finished_at - r.started_at) - r.waited_seconds) / 60, 0)::float8 as minutes
     from tries n join runs r on r.id = n.run_id
     order by r.created_at desc, r.id desc`,
    [repositoryId],
  );
}
