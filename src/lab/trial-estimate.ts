import type { EntityManager } from 'typeorm';
import { limitInIndexOrder } from '../agents/learning/evidence.ts';
import type { AgentView } from '../agents/store.ts';
import type { App } from '../app.ts';
import { leastSamples, type Range, rangeOfSum, sumOfRanges } from '../domain/lab/estimate.ts';
import { oneLine } from '../domain/text/sanitize.ts';
import { findParts, type TrialRequest } from './trial-start.ts';
import type { TrialArm } from './trial-store.ts';

/** What a trial will probably cost, in four of five cases. */
export interface TrialEstimate {
  /** How many items it would try. */
  items: number;
  costUsd: Range | null;
  minutes: Range | null;
  /** How many earlier runs it is based on. */
  runs: number;
  /** Why nothing is known. */
  reason: string | null;
}

/**
 * Estimates what a trial costs, from earlier runs of its agents with the same models.
 * @throws AppError like `startTrial`
 */
export async function estimateTrial(
  app: App,
  agent: AgentView,
  userId: string,
  asked: TrialRequest,
): Promise<TrialEstimate> {
  const { repository, arms, items: usable } = await findParts(app, agent, userId, asked);
  const items = Math.min(asked.items, usable.length);
  const all: Earlier[][] = [];
  const usualModel = app.config.OPENAI_MODEL;
  for (const arm of arms) all.push(await listEarlier(app.db.manager, { ...arm, usualModel }, repository.projectId));
  const runs = all.reduce((sum, earlier) => sum + earlier.length, 0);
  const none = { items, costUsd: null, minutes: null, runs };
  if (items === 0) return { ...none, reason: `${repository.name} has no benchmark with usable items.` };
  const lacking = arms.find((_, i) => (all[i]?.length ?? 0) < leastSamples);
  if (lacking !== undefined) {
    const name = await nameOf(app.db.manager, lacking.agentId);
    const reason = `${name} has fewer than ${leastSamples} earlier runs with the model ${lacking.model} in this project. Without them no cost can be estimated.`;
    return { ...none, reason };
  }
  const rangeOf = (amountOf: (run: Earlier) => number | null) => {
    const ranges = all.map((earlier) => {
      const known = earlier.map(amountOf).filter((value) => value !== null);
      return rangeOfSum(known, items);
    });
    return ranges.every((range) => range !== undefined) ? sumOfRanges(ranges) : null;
  };
  const costUsd = rangeOf((run) => run.costUsd);
  const reason = costUsd === null ? 'The price of the model is not configured.' : null;
  return { items, costUsd, minutes: rangeOf((run) => run.minutes), runs, reason };
}

async function nameOf(em: EntityManager, agentId: string): Promise<string> {
  const rows: { name: string }[] = await em.query('select name from agents where id = $1', [agentId]);
  return oneLine(rows[0]?.name ?? 'The agent', 100);
}

interface Earlier {
  costUsd: number | null;
  minutes: number;
}

/** At most this many runs are looked at, the latest, which are among so many of the latest of each version. */
const [maxRuns, maxOfVersion] = [100, 300];

/**
 * Returns what the latest runs of an agent cost and how long they took, of those that began a task or belonged to a trial. Runs of a
 * trial record their model. The others count only if the agent still has the model that it had then.
 */
export async function listEarlier(
  em: EntityManager,
  { agentId, model, usualModel }: Pick<TrialArm, 'agentId' | 'model'> & { usualModel: string },
  projectId: string,
): Promise<Earlier[]> {
  return em.query(
    `select r.cost_usd::float8 as "costUsd",
       coalesce(greatest(0, extract(epoch from r.finished_at - r.started_at) - r.waited_seconds) / 60, 0)::float8 as minutes
     from agents own join agents a on a.line_id = own.line_id cross join lateral (
       select * from runs r
       where r.agent_id = a.id and r.project_id = $2 and r.kind in ('start', 'trial') and r.status in ('succeeded', 'failed')
         and r.started_at is not null
       order by r.created_at desc ${limitInIndexOrder(maxOfVersion)}) r
     -- The limit lets PostgreSQL look each run up, instead of reading those of all trials.
     left join lateral (
       select m.model from agent_trial_runs x join agent_trial_arms m on m.trial_id = x.trial_id and m.arm = x.arm
       where x.run_id = r.id limit 1) m on true
     where own.id = $1 and coalesce(m.model, nullif(a.model, ''), $4) = $3
     order by r.created_at desc limit ${maxRuns}`,
    [agentId, projectId, model, usualModel],
  );
}
