import type { Spend } from '../api.ts';

type Used = Pick<Spend['total'], 'inputTokens' | 'outputTokens'>;

export const tokensOf = ({ inputTokens, outputTokens }: Used): number => inputTokens + outputTokens;

const agentName = ({ name }: Pick<Spend['agents'][number], 'name'>): string => name ?? 'Deleted agent';

/** What a group without an id is called: calls that are for none, and what was spent before this was recorded. */
const nones: Record<Spend['by'], string> = {
  day: '',
  agent: 'No agent, or deleted',
  person: 'Runs that nobody started',
  model: 'Not recorded',
  sprint: 'No sprint',
  repository: 'No repository',
};

export function groupName(by: Spend['by'], { id, name }: Spend['groups'][number]): string {
  if (id === null) return nones[by];
  return name ?? `Deleted ${by}`;
}

/** Returns the page of a group; undefined for those without one. */
export function groupPath(
  projectId: string,
  by: Spend['by'],
  { id, name }: Spend['groups'][number],
): string | undefined {
  if (id === null || name === null) return undefined;
  if (by === 'agent') return `/projects/${projectId}/agents/${id}`;
  return by === 'sprint' ? `/sprints/${id}` : undefined;
}

/** Returns whether an agent has used tokens of models without a price, as far as that can be seen. */
export function hasUnpriced({ agents }: Spend): boolean {
  return agents.some((agent) => agent.costUsd === 0 && tokensOf(agent) > 0);
}

/** Maximum number of agents with a colour of their own in the chart. */
const maxSeries = 5;

/** A day of the chart: its cost by series, of which `other` is the last. */
export interface ChartDay {
  day: string;
  costs: number[];
}

/**
 * Returns the colours of agents as numbers below `maxSeries`. Each agent has its own by its place among all agents, the oldest
 * first, unless an older one in the same chart has it. What the agents have cost does not matter, so it can change.
 */
function colorsOf(shown: string[], all: string[]): Map<string, number> {
  const oldestFirst = [...new Set([...all, ...shown])].sort();
  const colors = new Map<string, number>();
  for (const id of [...shown].sort()) {
    let color = oldestFirst.indexOf(id) % maxSeries;
    while ([...colors.values()].includes(color)) color = (color + 1) % maxSeries;
    colors.set(id, color);
  }
  return colors;
}

/** The colour of the agents that have none of their own. */
const restColor = maxSeries;

interface Series {
  name: string;
  /** From 0 to `maxSeries`. */
  color: number;
}

/**
 * Returns the series of the chart, the most expensive agents first, and the cost of each on each day. `agentIds` are those of all
 * agents; they begin with the time when the agent was created.
 */
export function chartOf({ days, agents }: Spend, agentIds: string[]): { series: Series[]; days: ChartDay[] } {
  const shown = agents.filter(({ costUsd, agentId }) => costUsd > 0 && agentId !== null).slice(0, maxSeries);
  const isRest = agents.some((agent) => agent.costUsd > 0 && !shown.includes(agent));
  const costOn = (day: Spend['days'][number], agentId: string | null) =>
    day.agents.reduce((sum, each) => (each.agentId === agentId ? sum + each.costUsd : sum), 0);
  const colors = colorsOf(
    shown.flatMap(({ agentId }) => agentId ?? []),
    agentIds,
  );
  const own = shown.map((agent) => ({
    name: agentName(agent),
    color: colors.get(agent.agentId ?? '') ?? restColor,
  }));
  return {
    series: isRest ? [...own, { name: 'Other agents', color: restColor }] : own,
    days: days.map((day) => {
      const costs = shown.map(({ agentId }) => costOn(day, agentId));
      const rest = day.costUsd - costs.reduce((sum, cost) => sum + cost, 0);
      return { day: day.day, costs: isRest ? [...costs, Math.max(0, rest)] : costs };
    }),
  };
}

/** What a project has cost in the last days; `spend` is undefined if it could not be loaded. */
export interface ProjectSpend {
  id: string;
  name: string;
  days: number;
  spend: Spend | undefined;
}

/** Puts the most expensive projects first, and those whose spend is unknown last. */
export function compareProjects(a: ProjectSpend, b: ProjectSpend): number {
  const costOf = ({ spend }: ProjectSpend) => spend?.total.costUsd ?? -1;
  return costOf(b) - costOf(a) || a.name.localeCompare(b.name);
}

export function sumOfProjects(projects: readonly ProjectSpend[]): { today: number; total: number } {
  const sumOf = (cost: (spend: Spend) => number) =>
    projects.reduce((sum, { spend }) => (spend === undefined ? sum : sum + cost(spend)), 0);
  return { today: sumOf(({ days }) => days.at(-1)?.costUsd ?? 0), total: sumOf(({ total }) => total.costUsd) };
}
