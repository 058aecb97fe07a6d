import type { CheckResult } from '../../conversation/ending.ts';
import { compareTries } from '../../domain/proof/flaky.ts';
import {
  besidesUndo,
  expectedOnBase,
  expectedOnChange,
  judgeProof,
  judgeUndo,
  needsAnother,
  notRun,
  type Observed,
  type Proof,
} from '../../domain/proof/proof.ts';
import type { Sighting } from '../../domain/proof/reach.ts';
import { RunFailed } from '../../domain/run.ts';
import { GitFailed } from '../../git/engine.ts';
import { stepOf } from '../../runs/journal.ts';
import { traced } from '../../tracing/traced.ts';
import { lackOf } from '../retry.ts';
import type { Work } from '../work.ts';
import type { Reverts } from '../workspace/revert-pulls.ts';
import { countOnce } from './compare-tries.ts';
import { missesChange, type Watch } from './coverage.ts';
import { missingTests } from './earlier-tests.ts';
import { attemptChecks, checkSeconds, type Tried, type TriedTogether } from './run-checks.ts';
import { readTestedChange, type TestedChange } from './tested-change.ts';
import { baseWithoutUndone, changedBesides, readUndoneTests } from './undone-tests.ts';

/** The proof of a change, and the output of the earlier tests where they fail with it. */
export interface Proved {
  proof: Proof;
  /** The check that failed with the earlier tests, with the end of its output. */
  failing?: { command: string; output: string } | undefined;
  /** The single tests of before that fail with it, where their output names them and people may see it. */
  failingTests?: string[] | undefined;
}

/** The least time for the checks of a proof, because a short check takes several times as long on a busy machine. */
const leastSeconds = 120;

/**
 * Proves a change by its tests: the checks should fail on the base's code with the tests of the change, pass on the change
 * itself, and pass on the code of the change with the tests of the base. The first two begin at the same time. Each runs in
 * a sandbox of its own. `checks` are the results of the checks that have passed on the change before; then each try takes at
 * most six times as long as they did. Without them, each try may take as long as checks may, and the proof names a check that
 * fails. Never fails a run: if something prevents the proof, the proof says so.
 */
export function proveChange(work: Work, tree: string, checks?: CheckResult[]): Promise<Proved> {
  return traced('prove', {}, async (describe) => {
    const proved = await tryToProve(work, tree, checks);
    describe({ 'deckhand.proof.status': proved.proof.status });
    return proved;
  });
}

async function tryToProve(work: Work, tree: string, checks: CheckResult[] | undefined): Promise<Proved> {
  const hindrance = whyNot(work);
  if (hindrance !== undefined) return { proof: notRun(hindrance) };
  try {
    if (work.reverts !== undefined) return { proof: await proveUndo(work, work.reverts, tree, checks) };
    const change = await readTestedChange(work, tree);
    const tried = await tryAll(work, tree, change, checks);
    await countTries(work, tree, tried);
    if (checks === undefined) {
      await noteChecks(work, tree, tried);
      const broken = brokenChecks(tried);
      if (broken !== undefined) return { proof: notRun(broken) };
    }
    const doubts = [...change.doubts, ...(await missed(work, tree, change, tried.sighting))];
    const proof = judgeProof({ ...change, ...tried, ...changedTests(work, change, tried), doubts });
    await work.journal.note('proof', `${proof.status}${proof.reason === null ? '' : `: ${proof.reason}`}`);
    const failing = proof.status === 'weakened' ? tried.oldTestsOnChange.at(-1)?.failing : undefined;
    return { proof, failing, failingTests: namesOfFailing(work, tried) };
  } catch (error) {
    if (!preventsProof(work, error)) throw error;
    return { proof: notRun(error.message) };
  }
}

/** Returns whether an error only prevents the proof: patterns of `tests` that take too long, or a base that git cannot read. */
function preventsProof(work: Work, error: unknown): error is Error {
  if (work.signal.aborted || work.environment.context.signal.aborted) return false;
  return error instanceof RunFailed || (error instanceof GitFailed && lackOf(error) === undefined);
}

/**
 * Tries the tests of the base on the code of a change while its checks run. A proof that follows finds the result in the
 * journal, so it takes the time of two tries instead of three. `seconds` is the time limit. Never fails a run.
 */
export async function tryEarlierTests(work: Work, tree: string, seconds: number): Promise<void> {
  if (whyNot(work) !== undefined || work.reverts !== undefined) return;
  try {
    const { testsChanged, testsRemoved, oldTestsOnChange } = await readTestedChange(work, tree);
    if (testsChanged.length + testsRemoved.length === 0) return;
    await attempt({ work, seconds, change: tree }, [oldTestsOnChange], 1);
  } catch (error) {
    if (!preventsProof(work, error)) throw error;
  }
}

/**
 * Proves that what a task undoes is gone: the tests from before it pass again, those that it had changed. If somebody has changed
 * more than that, all other tests are as the base branch has them, and neither other programs nor what decides how tests run may
 * be changed.
 */
async function proveUndo(work: Work, reverts: Reverts, tree: string, checks?: CheckResult[]): Promise<Proof> {
  const base = await baseWithoutUndone(work, reverts);
  const rest = tree === base.tree ? undefined : await readTestedChange(work, tree, base.tree);
  const doubts = rest === undefined ? [] : [...rest.doubts, ...besidesUndo(await changedBesides(work, base, tree))];
  const undone = await readUndoneTests(work, reverts, rest?.oldTestsOnChange ?? tree);
  const proving = { work, seconds: secondsFor(work, checks), change: tree };
  // The checks have just passed on the change itself.
  const tried = undone.treeWithTests === tree ? alreadyPassed : await tryTwice(proving, undone.treeWithTests, 'passed');
  const failing = tried.at(-1)?.tests?.failed ?? [];
  const proof = judgeUndo({ ...undone, doubts, tried, failing });
  await work.journal.note('proof', `${proof.status}${proof.reason === null ? '' : `: ${proof.reason}`}`);
  return proof;
}

/** Returns which earlier tests fail with the change, and why some of them may check less than before. */
function changedTests(work: Work, { earlier }: TestedChange, tried: Tries): Pick<Observed, 'lost' | 'failing'> {
  const { oldTestsOnChange, newTestsOnChange } = tried;
  const before = oldTestsOnChange.at(-1)?.tests;
  const lost = [...earlier.lost, ...missingTests(before, newTestsOnChange.at(-1)?.tests, earlier.renamed)];
  const names = namesOfFailing(work, tried);
  return { lost, failing: names.length > 0 ? names : earlier.changed };
}

/** Returns the earlier tests that fail. Where people may not see the output, they may not see names from it either. */
function namesOfFailing({ environment }: Work, { oldTestsOnChange }: Tries): string[] {
  return environment.context.isOutputHidden ? [] : (oldTestsOnChange.at(-1)?.tests?.failed ?? []);
}

function whyNot({ settings, host }: Work): string | undefined {
  if (settings.checks.length === 0) return 'the repository has no checks in .deckhand.yml';
  return host.hasShell ? undefined : 'commands cannot run without a working sandbox';
}

interface Tries {
  /** The checks on the change before the proof. */
  before: Tried[];
  newTestsOnBase: Tried[];
  newTestsOnChange: Tried[];
  oldTestsOnChange: Tried[];
  /** What the new tests reached on the change. */
  sighting?: Sighting | undefined;
}

/** Counts, once in a run, what tries on the same files say. */
async function countTries(work: Work, tree: string, tried: Tries): Promise<void> {
  const { before, newTestsOnBase, newTestsOnChange, oldTestsOnChange } = tried;
  const { checks } = work.settings;
  const onChange = newTestsOnChange === newTestsOnBase ? [] : [...before, ...newTestsOnChange];
  const series = [newTestsOnBase, onChange, oldTestsOnChange];
  const pairs = series.flatMap((each) => each.slice(1).map((second, i) => [each[i] as Tried, second] as const));
  await countOnce(
    work,
    `compared ${tree}`,
    pairs.flatMap(([first, second]) => compareTries(checks, first, second)),
  );
}

/** Tests that use all processors take three times as long when three trees are tried at once, and longer beside other runs. */
function secondsFor({ settings }: Work, checks: CheckResult[] | undefined): number {
  if (checks === undefined) return checkSeconds * settings.checks.length;
  return Math.max(leastSeconds, 6 * checks.reduce((sum, each) => sum + each.seconds, 0));
}

const alreadyPassed: Tried[] = [{ outcome: 'passed' }];

/** Runs all kinds of checks, and those with an unexpected result once more. */
async function tryAll(
  work: Work,
  tree: string,
  change: TestedChange,
  checks: CheckResult[] | undefined,
): Promise<Tries> {
  const { testsChanged, testsRemoved, newTestsOnBase, oldTestsOnChange } = change;
  const before = checks === undefined ? [] : alreadyPassed;
  if (testsChanged.length + testsRemoved.length === 0)
    return { before, newTestsOnBase: [], newTestsOnChange: [], oldTestsOnChange: [] };
  const proving = { work, seconds: secondsFor(work, checks), change: tree };
  const earlier = firstTry(proving, oldTestsOnChange);
  const [newTests, oldTests] = await together(
    newTestsOnBase === tree
      ? onlyOnChange(checks === undefined ? tryTwice(proving, tree, expectedOnChange) : alreadyPassed)
      : tryNewTests({ ...proving, earlier }, newTestsOnBase, change.watch),
    secondOfEarlier(proving, change, earlier),
  );
  return { before, ...newTests, oldTestsOnChange: oldTests };
}

/** Where a change consists of tests alone, the base with these tests is the change itself. */
async function onlyOnChange(tried: Tried[] | Promise<Tried[]>): Promise<Omit<Tries, 'before' | 'oldTestsOnChange'>> {
  const newTestsOnChange = await tried;
  return { newTestsOnBase: newTestsOnChange, newTestsOnChange };
}

/** Adds the results of the checks on the change itself to the log of the run, as `runChecks` does. */
async function noteChecks({ journal, repository }: Work, tree: string, { newTestsOnChange }: Tries): Promise<void> {
  const about = { repositoryId: repository.id, tree };
  for (const { command, passed, seconds } of newTestsOnChange.at(-1)?.checks ?? [])
    await journal.note('check', `${command}: ${passed ? 'passed' : 'failed'}`, { ...about, passed, seconds });
}

/** Returns why nothing can be proved where the checks never passed on the change itself. */
function brokenChecks({ newTestsOnChange }: Tries): string | undefined {
  const last = newTestsOnChange.at(-1);
  if (last === undefined || newTestsOnChange.some(({ outcome }) => outcome !== last.outcome)) return undefined;
  if (last.outcome === 'unfinished') return last.why;
  return last.outcome === 'failed' ? `the check "${last.failing?.command}" fails` : undefined;
}

/**
 * Runs the earlier tests once more if they did not pass. Where the change alters what they expect and loses nothing of
 * them, their failure is no surprise, and a person decides about it, so once is enough.
 */
async function secondOfEarlier(
  proving: Proving,
  { oldTestsOnChange, earlier, doubts, testsRemoved }: TestedChange,
  first: Tried[] | Promise<Tried[]>,
): Promise<Tried[]> {
  const tried = await first;
  const losesNothing = earlier.lost.length + doubts.length + testsRemoved.length === 0;
  const isAnnounced = losesNothing && earlier.changed.length > 0 && tried[0]?.outcome === 'failed';
  return isAnnounced ? tried : withSecond(proving, oldTestsOnChange, tried, expectedOnChange);
}

/** Waits until both have ended, also when one fails, so that nothing runs on behind the end of a run. @throws what one threw */
export async function together<A, B>(a: A | Promise<A>, b: B | Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return [await a, await b];
}

interface Proving {
  work: Work;
  seconds: number;
  /** The tree of the change. */
  change: string;
}

/**
 * Runs the checks with the new tests on the base's code and on the change, and watches what they reach. Where the earlier
 * tests fail with the change, it decides nothing that the new ones pass without it, so they are not tried again.
 */
async function tryNewTests(
  { earlier, ...proving }: Proving & { earlier: Tried[] | Promise<Tried[]> },
  base: string,
  watch: Watch | undefined,
): Promise<Omit<Tries, 'before' | 'oldTestsOnChange'>> {
  const { change } = proving;
  const { tried, sighting } = await attempt(proving, [base, change], 1, watch);
  const [onBase, onChange] = tried as [Tried, Tried];
  if (watch !== undefined && isAnother(proving, [onChange], expectedOnChange)) {
    // The checks may fail because they are watched, so what they say without it counts.
    const { tried: alone } = await attempt(proving, [change], 2);
    if (alone[0]?.outcome !== expectedOnChange)
      return { newTestsOnBase: [onBase], newTestsOnChange: [onChange, ...alone] };
    const { tried: both } = await attempt(proving, [base, change], 3);
    const [againOnBase, againOnChange] = both as [Tried, Tried];
    return { newTestsOnBase: [onBase, againOnBase], newTestsOnChange: [againOnChange] };
  }
  const hasFailed = (await earlier)[0]?.outcome === 'failed';
  return {
    newTestsOnBase: [onBase, ...(hasFailed ? [] : await again(proving, base, [onBase], expectedOnBase))],
    newTestsOnChange: [onChange, ...(await again(proving, change, [onChange], expectedOnChange))],
    sighting,
  };
}

function tryTwice(proving: Proving, tree: string, expected: 'passed' | 'failed'): Promise<Tried[]> {
  return withSecond(proving, tree, firstTry(proving, tree), expected);
}

async function firstTry(proving: Proving, tree: string): Promise<Tried[]> {
  return (await attempt(proving, [tree], 1)).tried;
}

async function withSecond(
  proving: Proving,
  tree: string,
  first: Tried[] | Promise<Tried[]>,
  expected: 'passed' | 'failed',
): Promise<Tried[]> {
  const tried = await first;
  return [...tried, ...(await again(proving, tree, tried, expected))];
}

/** Runs the checks on a tree once more if they did not end as expected. */
async function again(proving: Proving, tree: string, tried: Tried[], expected: 'passed' | 'failed'): Promise<Tried[]> {
  return isAnother(proving, tried, expected) ? (await attempt(proving, [tree], 2)).tried : [];
}

function isAnother({ work }: Proving, tried: Tried[], expected: 'passed' | 'failed'): boolean {
  return !work.environment.context.signal.aborted && needsAnother(tried, expected);
}

/** Runs the checks on some trees at the same time, unless an earlier worker did so already. */
function attempt({ work, seconds }: Proving, trees: string[], number: number, watch?: Watch): Promise<TriedTogether> {
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
