import { storableText } from './text/storable.ts';

export const runStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type RunStatus = (typeof runStatuses)[number];

export const runKinds = ['start', 'retry', 'revise', 'continue'] as const;
export type RunKind = (typeof runKinds)[number];

export const failureCategories = [
  'auth',
  'rate_limit',
  'budget',
  'timeout',
  'sandbox',
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

/** Why a run failed, as its task shows it. `retryable`: the same run may succeed when it is tried again. */
export interface Failure {
  category: FailureCategory;
  message: string;
  retryable: boolean;
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

/** Characters of a failure's message; a task and its status comment show all of them. */
const maxMessage = 2000;

/** `isPassing`: the cause goes away with time, so a retry may succeed whatever the category is. */
export function failure(category: FailureCategory, message: string, isPassing = false): Failure {
  const retryable = isPassing || retryableCategories.has(category);
  return { category, message: storableText(message).slice(0, maxMessage), retryable };
}

/** Thrown by the part of a run that finds the reason to fail; the run then ends as failed with it. */
export class RunFailed extends Error {
  readonly failure: Failure;

  constructor(category: FailureCategory, message: string) {
    super(message);
    this.name = 'RunFailed';
    this.failure = failure(category, message);
  }
}
