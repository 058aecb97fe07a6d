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

/** Why a run failed, as the task shows it. `retryable`: the same again may well work. */
export interface Failure {
  category: FailureCategory;
  message: string;
  retryable: boolean;
}

const retryable = new Set<FailureCategory>([
  'rate_limit',
  'timeout',
  'model',
  'internal',
  'checks',
  'conflict',
  'no_changes',
]);

/** What a person can do about a failure; shown beside it. */
export const remedies: Record<FailureCategory, string> = {
  auth: 'Check the installation, the git token or the model key, then retry.',
  rate_limit: 'Wait until the limit is over, then retry.',
  budget: 'Raise the budget in the project settings or make the task smaller, then retry.',
  timeout: 'Retry; if it happens again raise MAX_RUN_MINUTES or make the task smaller.',
  sandbox:
    'If the message names a limit, make the task smaller or raise the limit. Otherwise ask the operator to run `npm run doctor`.',
  model: 'Retry; if it happens again choose another model for the agent.',
  checks: 'Look at the draft pull request, then retry with a hint about the failing checks.',
  gave_up: 'Answer what the agent asks in the description, then retry.',
  no_changes: 'Say more exactly what should change, then retry.',
  conflict: 'Retry to merge the base branch in.',
  push_rejected:
    'Look at the named files; change the task, or `protected` and `allowed` in .deckhand.yml on the base branch, then retry.',
  repository: 'Check that the repository exists and can be reached, then retry.',
  internal: 'Retry; if it happens again tell the operator, the log has the details.',
};

/** `isPassing`: what failed may well work later, whatever its category says. */
export function failure(category: FailureCategory, message: string, isPassing = false): Failure {
  return { category, message: storableText(message).slice(0, 2000), retryable: isPassing || retryable.has(category) };
}

/** Ends a run as failed. Thrown by whatever part of a run sees the reason first. */
export class RunFailed extends Error {
  readonly failure: Failure;

  constructor(category: FailureCategory, message: string) {
    super(message);
    this.name = 'RunFailed';
    this.failure = failure(category, message);
  }
}
