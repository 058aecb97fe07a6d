import { type Failure, failure } from '../../domain/run.ts';
import type { ModelFailed } from '../../llm/model.ts';

/** Thrown inside a run whose model asks it to wait. */
export class ModelAway extends Error {
  readonly retryAfterMs: number | undefined;
  /** What the run fails with when it may not wait any longer. */
  readonly failure: Failure;

  constructor({ fault, message, retryAfterMs }: ModelFailed) {
    super(message);
    this.name = 'ModelAway';
    this.retryAfterMs = retryAfterMs;
    this.failure = failure(fault === 'rate_limit' ? 'rate_limit' : 'model', message);
  }
}
