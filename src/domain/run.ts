import { storableText } from './text/storable.ts';

export const runStatuses = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The statuses of a run that has not ended. A waiting run holds no worker, lease or slot of its agent. */
export const liveStatuses: readonly RunStatus[] = ['queued', 'running', 'waiting'];

export const runKinds = ['start', 'retry', 'revise', 'continue', 'rewind'] as const;
export type RunKind = (typeof runKinds)[number];

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

/** Thrown when a write finds that the run was taken over, was cancelled or has ended. */
export class LeaseLost extends Error {
  constructor(runId: string) {
    super(`run ${runId} is no longer held by this worker`);
    this.name = 'LeaseLost';
  }
}
