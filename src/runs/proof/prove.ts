import {
  expectedOnBase,
  expectedOnChange,
  judgeProof,
  needsAnother,
  notRun,
  type Proof,
} from '../../domain/proof/proof.ts';
import type { Sighting } from '../../domain/proof/reach.ts';
import { RunFailed } from '../../domain/run.ts';
import { GitFailed } from '../../git/engine.ts';
import type { CheckResult } from '../agent/ending/ending.ts';
import { lackOf } from '../failures.ts';
import { stepOf } from '../lease/journal.ts';
import type { Work } from '../work.ts';
import { attemptChecks, type Tried, type TriedTogether } from './attempt.ts';
import { missesChange, type Watch } from './coverage.ts';
import { readTestedChange, type TestedChange } from './tested-change.ts';

/** The proof of a change, and the output of the earlier tests where they fail with it. */
export interface Proved {
  proof: Proof;
  /** The check that failed with the earlier tests, with the end of its output. */
  failing?: { command: string; output: string } | undefined;
}

/** The least time for the checks of a proof, because a short check takes several times as long on a busy machine. */
const leastSeconds = 15;

/**
 * Proves a change by its tests: the checks should fail on the base's code with the tests of the change, pass once more
 * on the change itself, and pass on the code of the change with the tests of the base. The first two begin at the same
 * time. Each runs in a sandbox of its own, and takes at most twice as long as the checks did. Never fails a run: if
 * something prevents the proof, the proof says so.
 */
export async function proveChange(work: Work, tree: string, checks: CheckResult[]): Promise<Proved> {
  const hindrance = whyNot(work);
  if (hindrance !== undefined) return { proof: notRun(hindrance) };
  try {
    const change = await readTestedChange(work, tree);
    const tried = await tryAll(work, tree, change, checks);
    const doubts = [...change.doubts, ...(await missed(work, tree, change, tried.sighting))];
    const proof = judgeProof({ ...change, ...tried, doubts });
    await work.journal.note('proof', `${proof.status}${proof.reason === null ? '' : `: ${proof.reason}`}`);
    return { proof, failing: proof.status === 'weakened' ? tried.oldTestsOnChange.at(-1)?.failing : undefined };
  } catch (error) {
    // The patterns of `tests` take too long to match, or git cannot read the base.
    const isOwn = error instanceof RunFailed || (error instanceof GitFailed && lackOf(error) === undefined);
    if (work.signal.aborted || work.environment.room.signal.aborted || !isOwn) throw error;
    return { proof: notRun(error.message) };
  }
}

function whyNot({ settings, host }: Work): string | undefined {
  if (settings.checks.length === 0) return 'the repository has no checks in .deckhand.yml';
  return host.hasShell ? undefined : 'commands cannot run without a working sandbox';
}

interface Tries {
  newTestsOnBase: Tried[];
  newTestsOnChange: Tried[];
  oldTestsOnChange: Tried[];
  /** What the new tests reached on the change. */
  sighting?: Sighting | undefined;
}

const alreadyPassed: Tried[] = [{ outcome: 'passed' }];

/** Runs all kinds of checks, and those with an unexpected result once more. */
async function tryAll(work: Work, tree: string, change: TestedChange, checks: CheckResult[]): Promise<Tries> {
  const { testsChanged, testsRemoved, newTestsOnBase, oldTestsOnChange } = change;
  if (testsChanged.length + testsRemoved.length === 0)
    return { newTestsOnBase: [], newTestsOnChange: [], oldTestsOnChange: [] };
  const seconds = Math.max(leastSeconds, 2 * checks.reduce((sum, each) => sum + each.seconds, 0));
  const trial = { work, seconds, change: tree };
  // The checks have just passed on the change itself.
  const newTests =
    newTestsOnBase === tree
      ? { newTestsOnBase: alreadyPassed, newTestsOnChange: alreadyPassed }
      : await tryNewTests(trial, newTestsOnBase, change.watch);
  const again = oldTestsOnChange === tree ? alreadyPassed : await tryTwice(trial, oldTestsOnChange, expectedOnChange);
  return { ...newTests, oldTestsOnChange: again };
}

interface Trial {
  work: Work;
  seconds: number;
  /** The tree of the change. */
  change: string;
}

/** Runs the checks with the new tests on the base's code and on the change, and watches what they reach. */
async function tryNewTests(
  trial: Trial,
  base: string,
  watch: Watch | undefined,
): Promise<Omit<Tries, 'oldTestsOnChange'>> {
  const { change } = trial;
  const { tried, sighting } = await attempt(trial, [base, change], 1, watch);
  const [onBase, onChange] = tried as [Tried, Tried];
  if (watch !== undefined && isAnother(trial, [onChange], expectedOnChange)) {
    // The checks may fail because they are watched, so what they say without it counts.
    const { tried } = await attempt(trial, [base, change], 2);
    const [againOnBase, againOnChange] = tried as [Tried, Tried];
    return { newTestsOnBase: [onBase, againOnBase], newTestsOnChange: [againOnChange] };
  }
  return {
    newTestsOnBase: [onBase, ...(await once(trial, base, [onBase], expectedOnBase))],
    newTestsOnChange: [onChange, ...(await once(trial, change, [onChange], expectedOnChange))],
    sighting,
  };
}

async function tryTwice(trial: Trial, tree: string, expected: 'passed' | 'failed'): Promise<Tried[]> {
  const { tried } = await attempt(trial, [tree], 1);
  return [...tried, ...(await once(trial, tree, tried, expected))];
}

/** Runs the checks on a tree once more if they did not end as expected. */
async function once(trial: Trial, tree: string, tried: Tried[], expected: 'passed' | 'failed'): Promise<Tried[]> {
  return isAnother(trial, tried, expected) ? (await attempt(trial, [tree], 2)).tried : [];
}

function isAnother({ work }: Trial, tried: Tried[], expected: 'passed' | 'failed'): boolean {
  return !work.environment.room.signal.aborted && needsAnother(tried, expected);
}

/** Runs the checks on some trees at the same time, unless an earlier worker did so already. */
function attempt({ work, seconds }: Trial, trees: string[], number: number, watch?: Watch): Promise<TriedTogether> {
  const step = stepOf(`proof ${trees.join(' and ')} ${number}`, work.task, work.repository);
  return work.journal.once(step, () => attemptChecks(work, trees, seconds, watch));
}

/** Says if the new tests reach no changed line. */
async function missed(
  { checkout }: Work,
  tree: string,
  { watch }: TestedChange,
  sighting: Sighting | undefined,
): Promise<string[]> {
  if (watch === undefined || sighting === undefined) return [];
  return (await missesChange(checkout, tree, watch, sighting)) ? ['the new tests do not run any changed line'] : [];
}
