import type { SpendOfDay } from './store.ts';

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
