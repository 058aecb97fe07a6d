import type { Attempt } from '../proof/proof.ts';
import { digestOf, type ResultsOfRun } from '../proof/tests/test-results.ts';

/** How the checks ended once, with the single tests where their output names them. */
export type LabAttempt = Attempt & { seconds?: number | undefined; tests?: ResultsOfRun | undefined };

/** Two tries of the checks in each of the places that decide about a change. */
export interface LabTries {
  /** The base as it was. */
  base: LabAttempt[];
  /** The base with the tests of the change. */
  testsOnBase: LabAttempt[];
  change: LabAttempt[];
}

/** Why a change was rejected after it was tried. The page groups changes by these sentences. */
export const rejectedBecause = {
  flaky: 'Its checks do not always end the same way.',
  unfinished: 'Its checks do not finish in time.',
  baseFails: 'The checks fail on the commit before it.',
  changeFails: 'The checks fail with it.',
  passesBefore: 'Its tests pass without it.',
  setupFails: 'Set-up fails on the commit before it.',
  setupWithout:
    'Set-up fails on the commit before it, which gets no secrets and no network of set-up for its own code.',
} as const;

export interface Verdict {
  /** Why it is rejected; null if it is usable. */
  reason: string | null;
  /** The single tests that fail before the change and pass with it. */
  singleTests: string[];
  /** How long the checks took with the change. */
  seconds: number;
}

/** The most single tests that are named. */
const maxNamed = 200;

/**
 * Decides whether a change is usable as a task: the checks pass on its base, fail on the base with its tests, and pass with
 * it, each time that they were tried. What differs between two tries is flaky. Changes that were not tried to the end are
 * judged by what was tried.
 */
export function judgeTries({ base, testsOnBase, change }: LabTries): Verdict {
  const seconds = Math.max(0, ...change.map((each) => each.seconds ?? 0));
  const rejected = (reason: string): Verdict => ({ reason, singleTests: [], seconds });
  const all = [base, testsOnBase, change];
  if (all.some(differ)) return rejected(rejectedBecause.flaky);
  if (all.some((tries) => tries.some(({ outcome }) => outcome === 'unfinished')))
    return rejected(rejectedBecause.unfinished);
  if (has(change, 'failed')) return rejected(rejectedBecause.changeFails);
  if (has(testsOnBase, 'passed')) return rejected(rejectedBecause.passesBefore);
  if (has(base, 'failed')) return rejected(rejectedBecause.baseFails);
  return { reason: null, singleTests: failToPass(testsOnBase, change), seconds };
}

const has = (tries: LabAttempt[], outcome: Attempt['outcome']) => tries.some((each) => each.outcome === outcome);

/** Whether two tries on the same files ended differently: as a whole, or in a single test. */
function differ(tries: LabAttempt[]): boolean {
  const [first, ...others] = tries;
  return others.some((other) => first?.outcome !== other.outcome || failedIn(first) !== failedIn(other));
}

/** Names of tests that contain an address or a time differ in each try, so only whole output is compared. */
function failedIn({ tests }: LabAttempt): string {
  return tests?.isWhole ? [...tests.failed].sort().join('\n') : '';
}

/** Returns the single tests that failed before the change in each try, and pass with it. */
function failToPass(before: LabAttempt[], after: LabAttempt[]): string[] {
  const passed = after.map(({ tests }) => new Set(tests?.passed));
  const [first] = before;
  return (first?.tests?.failed ?? [])
    .filter((name) => passed.every((digests) => digests.has(digestOf(name))))
    .slice(0, maxNamed);
}
