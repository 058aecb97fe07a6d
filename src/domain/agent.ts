import type { FailureCategory } from './run.ts';

/**
 * The roles of a project's members, weakest first. Each role includes the rights of the roles before it. Viewers read what
 * members read, and change nothing but their own membership.
 */
export const roles = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

export function hasRole(actual: Role, required: Role): boolean {
  return roles.indexOf(actual) >= roles.indexOf(required);
}

/**
 * How much of what its person may do a token allows, least first. Each scope includes those before it: `read` changes nothing,
 * `write` also does what members do, `admin` allows everything.
 */
export const scopes = ['read', 'write', 'admin'] as const;
export type Scope = (typeof scopes)[number];

export function includesScope(actual: Scope, required: Scope): boolean {
  return scopes.indexOf(actual) >= scopes.indexOf(required);
}

/** The keys of the built-in agents. The service finds them by these, so people may rename them. */
export const builtInAgents = ['developer', 'architect', 'reviewer', 'qa', 'writer'] as const;
export type BuiltInAgent = (typeof builtInAgents)[number];

/** An agent that every new project starts with. */
interface ShippedAgent {
  builtIn: BuiltInAgent;
  name: string;
  description: string;
  systemPrompt: string;
}

export const shippedTeam = 'core';
/** The agent for `/agent start` when the comment does not name one. */
export const defaultAgentKey: BuiltInAgent = 'developer';

const craft =
  'Read before you write. Make the smallest change that completes the whole task, in the style of the surrounding code. ' +
  'Run the tests when you can. Change nothing that the task does not ask for.';

export const shippedAgents: readonly ShippedAgent[] = [
  {
    builtIn: 'developer',
    name: 'Developer',
    description: 'Implements features and fixes bugs, with tests.',
    systemPrompt: `You are a careful software developer. ${craft} Add or change tests so that they would have caught the problem.`,
  },
  {
    builtIn: 'architect',
    name: 'Software Architect',
    description: 'Plans and splits work, and keeps the design simple.',
    systemPrompt: `You are a software architect. Weigh the alternatives, name the trade-offs, and keep modules few and their boundaries clear. ${craft}`,
  },
  {
    builtIn: 'reviewer',
    name: 'Reviewer',
    description: 'Finds mistakes, risks and unnecessary code in changes, and fixes them.',
    systemPrompt: `You are a code reviewer. Look for wrong behaviour first, then for missing tests, then for unnecessary code. ${craft}`,
  },
  {
    builtIn: 'qa',
    name: 'QA Engineer',
    description: 'Finds untested behaviour and writes tests for it.',
    systemPrompt: `You are a quality engineer. Find behaviour that no test covers, write tests that fail when it breaks, and fix the bugs they reveal. ${craft}`,
  },
  {
    builtIn: 'writer',
    name: 'Technical Writer',
    description: 'Writes documentation and corrects it where it differs from the code.',
    systemPrompt: `You are a technical writer. Check every statement against the code, write short sentences, and show commands that work. ${craft}`,
  },
];

/** The figures of an agent over the projects of the caller. */
export interface AgentFigures {
  totalTasks: number;
  completedTasks: number;
  failedTasks: number;
  /** From the start of a task's first run until the task was done; null while no task is done. */
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

/** Formats a duration, for example `1h 24m`. Formats null as `0h 0m`. */
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

/** Returns the level for a number of merged tasks in a language. A success rate below 0.7 lowers the level by one. */
export function proficiency(mergedTasks: number, rate: number): Proficiency {
  const level = [2, 5, 15, 40].filter((least) => mergedTasks >= least).length;
  return proficiencies[Math.max(0, rate < 0.7 ? level - 1 : level)] ?? 'novice';
}

export type Priority = 'low' | 'medium' | 'high';

/** Returns how urgent it is to act on a failure that occurred this many times. */
export function priority(times: number): Priority {
  if (times >= 5) return 'high';
  return times >= 2 ? 'medium' : 'low';
}

/** What would help an agent after a failure of each category. Categories that are not its fault are left out. */
export const improvements: Partial<Record<FailureCategory, { area: string; suggestion: string }>> = {
  budget: {
    area: 'focus',
    suggestion:
      'Name the relevant files in the system prompt, or give the agent smaller tasks, so that it needs fewer steps.',
  },
  timeout: {
    area: 'speed',
    suggestion: 'Name quick checks in the system prompt, so that the agent avoids long commands.',
  },
  model: { area: 'tool use', suggestion: 'Choose a model that is better at calling tools.' },
  checks: {
    area: 'testing',
    suggestion: "Tell the agent in the system prompt to run the repository's checks before it finishes.",
  },
  gave_up: {
    area: 'task description',
    suggestion: 'Give more context in task descriptions. The agent gave up because it did not know enough.',
  },
  no_changes: {
    area: 'initiative',
    suggestion: 'Tell the agent in the system prompt to make the change instead of describing it.',
  },
  conflict: {
    area: 'freshness',
    suggestion: 'Merge pull requests sooner, or add dependencies between tasks that change the same files.',
  },
  push_rejected: {
    area: 'boundaries',
    suggestion:
      'In the system prompt, name the files that the agent must not change, such as workflows, secrets and binaries.',
  },
};
