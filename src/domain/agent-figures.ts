import type { FailureCategory } from './run.ts';

/** What is counted of an agent in the projects that the caller is in (decisions, section 6). */
export interface AgentFigures {
  totalTasks: number;
  completedTasks: number;
  failedTasks: number;
  /** From the first run's start to done; null without a task that is done. */
  averageSeconds: number | null;
  linesOfCodeWritten: number;
  prsCreated: number;
}

export function successRate({
  completedTasks,
  failedTasks,
}: Pick<AgentFigures, 'completedTasks' | 'failedTasks'>): number {
  const ended = completedTasks + failedTasks;
  return ended === 0 ? 0 : completedTasks / ended;
}

/** `1h 24m`; nothing is `0h 0m`. */
export function hoursAndMinutes(seconds: number | null): string {
  const minutes = Math.round((seconds ?? 0) / 60);
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy';

export function healthStatus(consecutiveFailures: number, hasLapsedRun: boolean): HealthStatus {
  if (consecutiveFailures >= 3 || hasLapsedRun) return 'unhealthy';
  return consecutiveFailures > 0 ? 'degraded' : 'healthy';
}

export const proficiencies = ['novice', 'beginner', 'intermediate', 'advanced', 'expert'] as const;
export type Proficiency = (typeof proficiencies)[number];

/** By merged tasks in a language; one lower under a success rate of 0.7. */
export function proficiency(mergedTasks: number, rate: number): Proficiency {
  const level = [1, 2, 5, 15, 40].filter((least) => mergedTasks >= least).length - 1;
  return proficiencies[Math.max(0, rate < 0.7 ? level - 1 : level)] ?? 'novice';
}

export type Priority = 'low' | 'medium' | 'high';

/** How urgent it is to do something about a failure that came so often. */
export function priority(times: number): Priority {
  if (times >= 5) return 'high';
  return times >= 2 ? 'medium' : 'low';
}

/** What would help an agent against failures of a category; those that are not its fault have none. */
export const improvements: Partial<Record<FailureCategory, { area: string; suggestion: string }>> = {
  budget: {
    area: 'focus',
    suggestion: 'Work in fewer steps: say in the system prompt which files matter, or give it smaller tasks.',
  },
  timeout: { area: 'speed', suggestion: 'Avoid long commands: name the quick checks in the system prompt.' },
  model: { area: 'tool use', suggestion: 'Choose a model that is better at calling tools.' },
  checks: { area: 'testing', suggestion: "Ask in the system prompt to run the repository's checks before finishing." },
  gave_up: {
    area: 'task description',
    suggestion: 'Give more context in the description; the agent asked for it when it gave up.',
  },
  no_changes: {
    area: 'initiative',
    suggestion: 'Ask in the system prompt to make the change instead of describing it.',
  },
  conflict: {
    area: 'freshness',
    suggestion: 'Merge pull requests sooner, or order tasks on the same files by dependencies.',
  },
  push_rejected: {
    area: 'boundaries',
    suggestion: 'Say in the system prompt which files are off limits (workflows, secrets, binaries).',
  },
};
