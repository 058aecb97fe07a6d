/** How often a policy errs, per turn, from 0 to 1. */
export interface Rates {
  /** A valid call that fails: a wrong path, an edit of text that is not there, a mistyped command. */
  error: number;
  /** The same, in the turn after an error. */
  errorAfterError: number;
  /** Text without a call. */
  narration: number;
  /** A tool or arguments that do not exist. */
  invalidCall: number;
  /** Arguments that are not JSON. */
  brokenJson: number;
  /** The last call again, word for word. */
  repetition: number;
  /** An answer that ends at the limit of its length. */
  overlong: number;
  /** A fault of the server: 500, 429, a reset connection, or an answer that ends early. */
  serverFault: number;
}

const none: Rates = {
  error: 0,
  errorAfterError: 0,
  narration: 0,
  invalidCall: 0,
  brokenJson: 0,
  repetition: 0,
  overlong: 0,
  serverFault: 0,
};

/** The policies by name. */
export const oracles: Record<string, Rates> = {
  /** Makes no mistake. Whatever fails is a mistake of the evaluation or of the service. */
  perfect: none,
  /**
   * Errs as models do: about a tenth of the calls fail, and far more after a failure. SWE-agent (arXiv 2405.15793,
   * section 5.1) reports that 90.5 % of edits succeed in the end, and 57.2 % after a first failure.
   */
  noisy: {
    error: 0.1,
    errorAfterError: 0.43,
    narration: 0.005,
    invalidCall: 0.01,
    brokenJson: 0.02,
    repetition: 0.01,
    overlong: 0.005,
    serverFault: 0.02,
  },
  /** Errs about twice as often. */
  clumsy: {
    error: 0.2,
    errorAfterError: 0.6,
    narration: 0.02,
    invalidCall: 0.03,
    brokenJson: 0.05,
    repetition: 0.03,
    overlong: 0.02,
    serverFault: 0.05,
  },
};
