import { Refused } from './machine.ts';
import { storableText } from './text/sanitize.ts';

export const runStatuses = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The statuses of a run that has not ended. A waiting run holds no worker, lease or slot of its agent. */
export const liveStatuses: readonly RunStatus[] = ['queued', 'running', 'waiting'];

export const runKinds = [
  'start',
  'retry',
  'revise',
  'continue',
  'rewind',
  'review',
  'fix',
  'prove',
  'harvest',
  'trial',
] as const;
export type RunKind = (typeof runKinds)[number];

/** How the runs of a kind differ from others. What each of them does is in worker/run-task.ts. */
interface KindTraits {
  /** They let the other runs of their project go first: they wait while one of those is queued. They do not occupy an agent. */
  isBehind: boolean;
  /** An agent works in the repository, with commands of its own. */
  hasAgentInside: boolean;
  /** They push what they have made. Others get credentials that only read. */
  pushes: boolean;
  /** What they have made is kept when they fail. */
  keepsUnfinished: boolean;
  /** They reach neither people nor other repositories, because they only try something. */
  isAlone: boolean;
}

const ofTask = { isBehind: false, hasAgentInside: true, pushes: true, keepsUnfinished: true, isAlone: false };
const readingOnly = { isBehind: false, hasAgentInside: false, pushes: false, keepsUnfinished: false, isAlone: false };

export const traitsOf: Record<RunKind, KindTraits> = {
  start: ofTask,
  retry: ofTask,
  revise: ofTask,
  continue: ofTask,
  rewind: ofTask,
  review: readingOnly,
  // The branch of somebody else gets no unfinished work.
  fix: { ...ofTask, keepsUnfinished: false },
  prove: { ...readingOnly, isBehind: true },
  harvest: { ...readingOnly, isBehind: true },
  trial: { isBehind: true, hasAgentInside: true, pushes: false, keepsUnfinished: false, isAlone: true },
};

/**
 * What people said to a benchmark, or changed about it, would count as the agent's own.
 * @throws Refused for a run that reaches no people
 */
export function assertSteerable({ kind }: { kind: RunKind }): void {
  if (traitsOf[kind].isAlone) throw new Refused('A benchmark runs without people. Cancel it where it was started.');
}

/** The kinds of runs that let the other runs of their project go first. */
export const kindsBehind = runKinds.filter((kind) => traitsOf[kind].isBehind);

/** The turn of an earlier run, numbered from 1, after which a rewound run goes on. */
export interface RewoundFrom {
  runId: string;
  turn: number;
}

export const failureCategories = [
  'auth',
  'rate_limit',
  'budget',
  'timeout',
  'sandbox',
  'setup',
  'model',
  'checks',
  'gave_up',
  'no_changes',
  'conflict',
  'push_rejected',
  'repository',
  'internal',
] as const;
export type FailureCategory = (typeof failureCategories)[number];

/** Why a run failed, as shown on its task. `retryable` means that another attempt may succeed. */
export interface Failure {
  category: FailureCategory;
  message: string;
  retryable: boolean;
  /**
   * Text that commands chose, such as the end of their output, if only members may see it. The API appends it to the
   * message; GitHub and models get the message alone.
   */
  output?: string | undefined;
}

const retryableCategories = new Set<FailureCategory>([
  'rate_limit',
  'timeout',
  'model',
  'internal',
  'checks',
  'conflict',
  'no_changes',
]);

/** Longer messages of failures are cut to this many characters. A task and its status comment show all that is kept. */
const maxMessage = 2000;

/** Builds a failure. `isTransient` means that the cause is temporary, so a retry may succeed in any category. */
export function failure(category: FailureCategory, message: string, isTransient = false): Failure {
  const retryable = isTransient || retryableCategories.has(category);
  return { category, message: storableText(message).slice(0, maxMessage), retryable };
}

/** What a failure says, and text that commands chose. */
export interface Said {
  message: string;
  output: string;
  /** Whether only members may see the output. */
  isOutputHidden: boolean;
}

/** Builds the failure of a run because of a command. Its output follows the message, unless only members may see it. */
export function commandFailed(category: FailureCategory, { message, output, isOutputHidden }: Said): RunFailed {
  if (!isOutputHidden) return new RunFailed(category, withOutput({ message, output }));
  const failed = new RunFailed(category, message);
  failed.failure.output = storableText(output).slice(0, maxMessage);
  return failed;
}

/** Returns the whole text of a failure, for members only. */
export function withOutput({ message, output = '' }: Pick<Failure, 'message' | 'output'>): string {
  return output === '' ? message : `${message}\n${output}`;
}

/** Thrown by any part of a run to end the run as failed with this failure. */
export class RunFailed extends Error {
  readonly failure: Failure;

  constructor(category: FailureCategory, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RunFailed';
    this.failure = failure(category, message);
  }
}

/** The host does not take the contents of files in Git LFS, so nothing was pushed. */
export class UploadRefused extends RunFailed {
  constructor(message: string) {
    super('push_rejected', message);
  }
}

/** Thrown when a write finds that the run was taken over, was cancelled or has ended. */
export class LeaseLost extends Error {
  constructor(runId: string) {
    super(`run ${runId} is no longer held by this worker`);
    this.name = 'LeaseLost';
  }
}

/**
 * Who set a limit, and therefore who can raise it. `repository` means the repository's .deckhand.yml, `task` the budget of
 * the task.
 */
const limitSetters = ['service', 'project', 'repository', 'task'] as const;
export type LimitSetter = (typeof limitSetters)[number];

const noteOf: Record<LimitSetter, string> = {
  service: 'limit of the service',
  project: 'limit of the project',
  repository: 'limit in .deckhand.yml',
  task: 'limit of the task',
};

/**
 * Names who set a limit, as the end of a failure's message. Only the category and the message of a failure are stored,
 * so `remedyFor` recognizes the limit by this note.
 */
export function limitNote(setBy: LimitSetter, isDaily = false): string {
  return `(${isDaily ? 'daily ' : ''}${noteOf[setBy]})`;
}

const remedies: Record<Exclude<FailureCategory, 'budget' | 'timeout'>, string> = {
  auth: 'Check that the GitHub App is installed on the repository, or the git token, and the model key. Then retry.',
  rate_limit: 'Wait until the rate limit has reset, then retry.',
  sandbox:
    'If the message names a limit, make the task smaller or ask the operator to raise the limit. Otherwise ask the operator to run `npm run doctor`.',
  setup:
    'Read the end of the output. Correct `setup` or `services` in .deckhand.yml on the default branch, then retry; `/agent setup` tries it without an agent.',
  model: 'Retry. If it happens again, choose another model for the agent.',
  checks: 'Look at the failing checks, then retry with a hint about them.',
  gave_up: 'Retry with a hint that says what the agent was missing, or add it to the description of the task first.',
  no_changes: 'Retry with a hint that says more precisely what should change.',
  conflict: 'Retry. The next run merges the base branch again.',
  push_rejected:
    'Look at the files that the message names. Change the task, or `protected` and `allowed` in .deckhand.yml on the default branch, then retry.',
  repository: 'Fix what the message names, such as the address of the repository or its .deckhand.yml. Then retry.',
  internal: 'Retry. If it happens again, tell the operator; the log of the service has the details.',
};

const raiseBudget: Record<LimitSetter | 'unknown', string> = {
  service: 'Ask the operator to raise the limits of the service',
  project: 'Ask an admin of the project to raise its budget in the project settings',
  repository: 'Raise `budget` in .deckhand.yml on the default branch',
  task: 'Raise the budget of the task in the dashboard or with `/agent budget`',
  unknown: 'Ask an admin of the project to raise its budget, or the operator to raise the limits of the service',
};

const raiseMinutes: Record<LimitSetter | 'unknown', string> = {
  service: 'ask the operator to raise MAX_RUN_MINUTES',
  project: 'ask an admin of the project to raise its minutes per run in the project settings',
  repository: 'raise `budget.minutes` in .deckhand.yml on the default branch',
  task: 'raise the minutes of the task in the dashboard or with `/agent budget minutes`',
  unknown: 'ask the operator to raise MAX_RUN_MINUTES',
};

/**
 * Returns what people can do about a failure. The status comment, the digest and the dashboard show it beside the
 * failure.
 */
export function remedyFor({ category, message }: Pick<Failure, 'category' | 'message'>): string {
  const setBy = limitSetter(message) ?? 'unknown';
  if (category === 'timeout') return `Retry. If it happens again, ${raiseMinutes[setBy]}, or make the task smaller.`;
  if (category !== 'budget') return remedies[category];
  if (setBy !== 'unknown' && message.includes(limitNote(setBy, true)))
    return `Retry tomorrow (UTC). ${raiseBudget[setBy]} if a day should cost more.`;
  return `${raiseBudget[setBy]}, or make the task smaller. Then retry: the agent goes on where it stopped.`;
}

/** Returns whether a limit ended a run. Then its work was going well, so a retry goes on with its conversation. */
export function endedByLimit({ category, message }: Pick<Failure, 'category' | 'message'>): boolean {
  return category === 'budget' || (category === 'timeout' && limitSetter(message) !== undefined);
}

/** Returns who set the limit that a message mentions; undefined when it mentions none. */
export function limitSetter(message: string): LimitSetter | undefined {
  return limitSetters.find((setBy) => message.includes(`${noteOf[setBy]})`));
}
