import type { Run } from '../../api.ts';
import { elapsedOf, formatCost, formatMs, plural } from '../../display/formats.ts';

/**
 * Says how many runs of a task have ended, how long they worked, without what they waited, and what they cost; undefined
 * before the first one.
 */
export function effortText(all: Run[]): string | undefined {
  const runs = all.filter(({ finishedAt }) => finishedAt !== null);
  if (runs.length === 0) return undefined;
  const ms = runs.reduce((sum, run) => (run.startedAt === null ? sum : sum + elapsedOf(run, 0)), 0);
  const costs = runs.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  const cost = costs.length === 0 ? null : costs.reduce((sum, each) => sum + each, 0);
  return [plural(runs.length, 'run'), formatMs(ms), formatCost(cost)].join(' · ');
}
