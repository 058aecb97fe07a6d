import { judgeTries, type LabAttempt, type LabTries, rejectedBecause, type Verdict } from '../../domain/lab/verdict.ts';
import type { RunFailed } from '../../domain/run.ts';
import { EarlierSetupFailed } from '../../environment/change/set-up-earlier.ts';
import type { Environment } from '../../environment/environment.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import type { Journal } from '../../runs/journal.ts';
import { attemptChecks } from '../proof/run-checks.ts';
import { type Candidate, withTestsOf } from './look-at-history.ts';

/** What the tries of a harvest share. */
export interface Trying {
  environment: Environment;
  settings: RepositorySettings;
  journal: Journal;
  /** Aborted when this worker has lost its lease. */
  signal: AbortSignal;
  /** How long checks that passed have taken so far, in seconds. */
  slowest: { seconds: number };
}

/** Each place is tried this often before anything is said about it. */
const tries = 2;
/**
 * What would be usable is tried more often. A test that fails half of the time looks usable in one of 16 changes after two
 * tries, in one of 64 after three and of 256 after four.
 */
const [moreTries, moreIfQuick, quickSeconds] = [1, 2, 10];
/** The time limit of the first checks. */
const firstSeconds = 600;
/** Later tries may take three times as long as the slowest that passed, but always a minute: the machine may be busier by then. */
const [patience, leastSeconds] = [3, 60];

/**
 * Tries a change: the checks on its base, on the base with its tests, and on the change, each twice and in a fresh sandbox.
 * Stops as soon as it cannot become usable. Each try is recorded by its tree, so a worker that takes over repeats none, and
 * a commit that is the base of the next one is tried once.
 */
export async function tryCandidate(trying: Trying, candidate: Candidate): Promise<Verdict> {
  const { checkout } = trying.environment.context;
  const base = await checkout.treeOf(candidate.baseSha);
  const testsOnBase = await withTestsOf(checkout, base, candidate);
  const change = await checkout.treeOf(candidate.solutionSha);
  if (testsOnBase === base) return judgeTries({ base: [], testsOnBase: [{ outcome: 'passed' }], change: [] });
  const done: LabTries = { base: [], testsOnBase: [], change: [] };
  // Nothing is known yet about how long the checks take.
  if (trying.slowest.seconds === 0) {
    done.base.push(...(await attempt(trying, [base], 1)));
    if (done.base[0]?.outcome !== 'passed') done.base.push(...(await attempt(trying, [base], 2)));
    if (done.base[0]?.outcome !== 'passed') return judgeTries(done);
  }
  const pair = async (number: number) => {
    // They begin at the same time, so that no test can tell them apart by the clock.
    const [onBase, onChange] = await attempt(trying, [testsOnBase, change], number);
    done.testsOnBase.push(onBase as LabAttempt);
    done.change.push(onChange as LabAttempt);
    return judgeTries(done).reason === null;
  };
  for (let number = 1; number <= tries; number++) if (!(await pair(number))) return judgeTries(done);
  while (done.base.length < tries) done.base.push(...(await attempt(trying, [base], done.base.length + 1)));
  const verdict = judgeTries(done);
  if (verdict.reason !== null) return verdict;
  const more = verdict.seconds <= quickSeconds ? moreIfQuick : moreTries;
  for (let number = tries + 1; number <= tries + more; number++) {
    if (!(await pair(number))) break;
    // A base that passes by chance would make the repair of a flaky test look usable.
    done.base.push(...(await attempt(trying, [base], number)));
  }
  return judgeTries(done);
}

/** Runs the checks on some trees at the same time, unless that was done and recorded. */
async function attempt(trying: Trying, trees: string[], number: number): Promise<LabAttempt[]> {
  const { journal, slowest } = trying;
  const step = (tree: string) => `tried ${tree} ${number}`;
  const known = new Map<string, LabAttempt>();
  for (const tree of trees) {
    const recorded = await journal.recall<LabAttempt>(step(tree));
    if (recorded !== undefined) known.set(tree, recorded);
  }
  const missing = trees.filter((tree) => !known.has(tree));
  const limit = slowest.seconds === 0 ? firstSeconds : Math.max(leastSeconds, Math.ceil(patience * slowest.seconds));
  const { tried } = missing.length === 0 ? { tried: [] } : await attemptChecks(trying, missing, limit);
  for (const [i, tree] of missing.entries()) {
    // What a command printed is not kept.
    const { failing: _, ...result } = tried[i] as (typeof tried)[number];
    known.set(tree, await journal.once(step(tree), async () => result));
  }
  const all = trees.map((tree) => known.get(tree) as LabAttempt);
  for (const { outcome, seconds = 0 } of all)
    if (outcome === 'passed') slowest.seconds = Math.max(slowest.seconds, seconds, 0.1);
  return all;
}

/** Returns the verdict about changes whose set-up fails on the base. */
export function withoutSetup(error: RunFailed): Verdict {
  const reason = error instanceof EarlierSetupFailed ? rejectedBecause.setupWithout : rejectedBecause.setupFails;
  return { reason, singleTests: [], seconds: 0 };
}
