import type { Run } from '../../api.ts';
import { formatCost } from '../../display/cost.ts';
import { formatDuration } from '../../display/duration.ts';
import { plural } from '../../display/plural.ts';

/** Says how many runs of a task have ended, how long they took and what they cost; undefined before the first one. */
export function effortText(all: Run[]): string | undefined {
  const runs = all.filter(({ finishedAt }) => finishedAt !== null);
  if (runs.length === 0) return undefined;
  const ms = runs.reduce(
    (sum, { startedAt, finishedAt }) =>
      startedAt === null || finishedAt === null
        ? sum
        : sum + Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)),
    0,
  );
  const costs = runs.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  const cost = costs.length === 0 ? null : costs.reduce((sum, each) => sum + each, 0);
  const duration = formatDuration(new Date(0).toISOString(), new Date(ms).toISOString());
  return [plural(runs.length, 'run'), duration, formatCost(cost)].join(' · ');
}
