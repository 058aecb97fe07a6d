import type { CheckResult } from '../../conversation/ending.ts';
import { compareTries } from '../../domain/proof/flaky.ts';
import {
  type Attempt,
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
import type { ResultsOfRun } from '../../domain/proof/tests/test-results.ts';
import { RunFailed } from '../../domain/run.ts';
import { SetupNeedsApproval } from '../../environment/change/read-manifests.ts';
import { openCleanSandbox } from '../../environment/clean-sandbox.ts';
import { GitFailed } from '../../git/engine.ts';
import { stepOf } from '../../runs/journal.ts';
import { traced } from '../../tracing/traced.ts';
import { lackOf } from '../retry.ts';
import type { Work } from '../work.ts';
import type { Reverts } from '../workspace/revert-pulls.ts';
import { countOnce } from './compare-tries.ts';
import { judging, unlessTooSlow } from './contents.ts';
import { missesChange, prepareWatch, sightingOn, type Watch, watchedVariables } from './coverage.ts';
import { missingTests } from './earlier-tests.ts';
import { readTestedChange, type TestedChange } from './tested-change.ts';
import { readUndoneTests } from './undone-tests.ts';

/** How the checks ended once, with the check that failed, and with the single tests where their output names them. */
export type Tried = Attempt & {
  failing?: { command: string; output: string };
  tests?: ResultsOfRun | undefined;
  /** How long they took. */
  seconds?: number;
};

/** What trying the checks of a repository needs. */
export type Checking = Pick<Work, 'environment' | 'settings' | 'signal' | 'treeWithApprovedSetup'>;

/** Characters kept from the end of the output of a failing check. */
const outputChars = 6000;

/** What the shell reports of a command that SIGKILL or SIGTERM ended, as when memory runs out. */
const killed = new Set([137, 143]);

/** How the checks ended in each of several places, and what they reached in the last. */
export interface TriedTogether {
  tried: Tried[];
  sighting?: Sighting | undefined;
}

/**
 * Runs the checks of a repository on each of these trees in a fresh sandbox, for at most `seconds`. They begin at the
 * same time, so that no test can tell the trees apart by the clock. With `watch`, the checks of all say what they reach.
 */
export async function attemptChecks(
  work: Checking,
  trees: string[],
  seconds: number,
  watch?: Watch,
): Promise<TriedTogether> {
  const { environment, treeWithApprovedSetup } = work;
  const open = (tree: string) => openCleanSandbox(environment, tree, tree === treeWithApprovedSetup);
  const places = await Promise.allSettled(trees.map(open));
  try {
    const attempts = places.map((place) => attemptAt(work, place, { seconds, watch }));
    const ended = await Promise.allSettled(attempts);
    const tried = ended.map((each) => {
      if (each.status === 'rejected') throw each.reason;
      return each.value;
    });
    return { tried, sighting: await sightingAt(places.at(-1), tried.at(-1), watch) };
  } finally {
    await Promise.all(places.map((place) => (place.status === 'fulfilled' ? place.value.close() : undefined)));
  }
}

type Fresh = Awaited<ReturnType<typeof openCleanSandbox>>;
type Opened = PromiseSettledResult<Fresh>;

async function attemptAt(
  work: Checking,
  place: Opened,
  { seconds, watch }: { seconds: number; watch: Watch | undefined },
): Promise<Tried> {
  try {
    if (place.status === 'rejected') throw place.reason;
    const { failed, machine, signal } = place.value;
    if (failed !== undefined) return unfinished(`set-up failed: ${failed.command}`);
    if (watch !== undefined) await prepareWatch(machine, watch, signal);
    return await runAll(work, place.value, { seconds, before: watch === undefined ? '' : `${watchedVariables}\n` });
  } catch (error) {
    // The change itself needed no approval, or has it. Nobody has seen set-up of its mixture with the base, and that is
    // not worth a question.
    if (error instanceof SetupNeedsApproval) return unfinished(error.message);
    if (!isOwn(work, error)) throw error;
    return unfinished(error.failure.message);
  }
}

async function runAll(
  { settings }: Checking,
  { machine, signal }: Fresh,
  { seconds, before }: { seconds: number; before: string },
): Promise<Tried> {
  const began = performance.now();
  const end = began + seconds * 1000;
  let said = '';
  const heard = (more: string) => {
    said += more;
  };
  const took = () => ({ seconds: Math.round((performance.now() - began) / 100) / 10 });
  const tests = () =>
    unlessTooSlow(judging.call('resultsIn', said.slice(0, maxSaid), said.length < maxSaid), undefined);
  for (const command of settings.checks) {
    const left = (end - performance.now()) / 1000;
    if (left <= 0) return unfinished(`they take longer than ${seconds} s`);
    const { exitCode, how, output } = await machine.run(before + command, { seconds: left, signal, heard });
    signal.throwIfAborted();
    if (exitCode === undefined && performance.now() >= end) return unfinished(`they take longer than ${seconds} s`);
    if (exitCode === undefined || killed.has(exitCode)) return unfinished(`${command} was killed (${how})`);
    if (exitCode !== 0) {
      const text = `[${how}]\n${output.slice(-outputChars)}`;
      return { outcome: 'failed', failing: { command, output: text }, ...took(), tests: await tests() };
    }
  }
  return { outcome: 'passed', ...took(), tests: await tests() };
}

/** Characters of the output in which results of single tests are looked for. A machine reports hardly more of a command. */
const maxSaid = 250_000;

/** Returns what the checks reached in a place where they passed. Without an answer, nothing is said about that. */
async function sightingAt(
  place: Opened | undefined,
  tried: Tried | undefined,
  watch: Watch | undefined,
): Promise<Sighting | undefined> {
  if (watch === undefined || place?.status !== 'fulfilled' || tried?.outcome !== 'passed') return undefined;
  return sightingOn(place.value.machine, place.value.signal).catch(() => undefined);
}

const unfinished = (why: string): Tried => ({ outcome: 'unfinished', why: why.slice(0, 500) });

/**
 * Returns whether an error only ends this attempt: the fresh sandbox exceeded a limit, a service did not start, or the
 * time of the run is up. Then the change is still proposed. All other errors end the run, or leave it to another worker.
 */
function isOwn(work: Checking, error: unknown): error is RunFailed {
  if (work.signal.aborted || !(error instanceof RunFailed)) return false;
  const { signal } = work.environment.context;
  return !signal.aborted || (signal.reason instanceof RunFailed && signal.reason.failure.category === 'timeout');
}

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
 * Proves a change by its tests: the checks should fail on the base's code with the tests of the change, pass once more
 * on the change itself, and pass on the code of the change with the tests of the base. The first two begin at the same
 * time. Each runs in a sandbox of its own, and takes at most six times as long as the checks did. Never fails a run: if
 * something prevents the proof, the proof says so.
 */
export function proveChange(work: Work, tree: string, checks: CheckResult[]): Promise<Proved> {
  return traced('prove', {}, async (describe) => {
    const proved = await tryToProve(work, tree, checks);
    describe({ 'deckhand.proof.status': proved.proof.status });
    return proved;
  });
}

async function tryToProve(work: Work, tree: string, checks: CheckResult[]): Promise<Proved> {
  const hindrance = whyNot(work);
  if (hindrance !== undefined) return { proof: notRun(hindrance) };
  try {
    if (work.reverts !== undefined) return { proof: await proveUndo(work, work.reverts, tree, checks) };
    const change = await readTestedChange(work, tree);
    const tried = await tryAll(work, tree, change, checks);
    await countTries(work, tree, tried);
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
    if (testsChanged.length + testsRemoved.length === 0 || oldTestsOnChange === tree) return;
    await attempt({ work, seconds, change: tree }, [oldTestsOnChange], 1);
  } catch (error) {
    if (!preventsProof(work, error)) throw error;
  }
}

/** Proves that what a task undoes is gone: the tests from before it pass again, those that it had changed. */
async function proveUndo(work: Work, reverts: Reverts, tree: string, checks: CheckResult[]): Promise<Proof> {
  const undone = await readUndoneTests(work, reverts, tree);
  const proving = { work, seconds: secondsFor(checks), change: tree };
  // The checks have just passed on the change itself.
  const tried = undone.treeWithTests === tree ? alreadyPassed : await tryTwice(proving, undone.treeWithTests, 'passed');
  const proof = judgeUndo({ ...undone, tried, failing: tried.at(-1)?.tests?.failed ?? [] });
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
  newTestsOnBase: Tried[];
  newTestsOnChange: Tried[];
  oldTestsOnChange: Tried[];
  /** What the new tests reached on the change. */
  sighting?: Sighting | undefined;
}

/** Counts, once in a run, what tries on the same files say: the checks had passed on the change before. */
async function countTries(work: Work, tree: string, tried: Tries): Promise<void> {
  const { newTestsOnBase, newTestsOnChange, oldTestsOnChange } = tried;
  const { checks } = work.settings;
  const again = newTestsOnChange === alreadyPassed ? [] : newTestsOnChange;
  const series = [newTestsOnBase, again.length === 0 ? [] : [...alreadyPassed, ...again], oldTestsOnChange];
  const pairs = series.flatMap((each) => each.slice(1).map((second, i) => [each[i] as Tried, second] as const));
  await countOnce(
    work,
    `compared ${tree}`,
    pairs.flatMap(([first, second]) => compareTries(checks, first, second)),
  );
}

/** Tests that use all processors take three times as long when three trees are tried at once, and longer beside other runs. */
function secondsFor(checks: CheckResult[]): number {
  return Math.max(leastSeconds, 6 * checks.reduce((sum, each) => sum + each.seconds, 0));
}

const alreadyPassed: Tried[] = [{ outcome: 'passed' }];

/** Runs all kinds of checks, and those with an unexpected result once more. */
async function tryAll(work: Work, tree: string, change: TestedChange, checks: CheckResult[]): Promise<Tries> {
  const { testsChanged, testsRemoved, newTestsOnBase, oldTestsOnChange } = change;
  if (testsChanged.length + testsRemoved.length === 0)
    return { newTestsOnBase: [], newTestsOnChange: [], oldTestsOnChange: [] };
  const proving = { work, seconds: secondsFor(checks), change: tree };
  // The checks have just passed on the change itself.
  const earlier = oldTestsOnChange === tree ? alreadyPassed : firstTry(proving, oldTestsOnChange);
  const [newTests, oldTests] = await together(
    newTestsOnBase === tree
      ? { newTestsOnBase: alreadyPassed, newTestsOnChange: alreadyPassed }
      : tryNewTests({ ...proving, earlier }, newTestsOnBase, change.watch),
    secondOfEarlier(proving, change, earlier),
  );
  return { ...newTests, oldTestsOnChange: oldTests };
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
): Promise<Omit<Tries, 'oldTestsOnChange'>> {
  const { change } = proving;
  const { tried, sighting } = await attempt(proving, [base, change], 1, watch);
  const [onBase, onChange] = tried as [Tried, Tried];
  if (watch !== undefined && isAnother(proving, [onChange], expectedOnChange)) {
    // The checks may fail because they are watched, so what they say without it counts.
    const { tried } = await attempt(proving, [base, change], 2);
    const [againOnBase, againOnChange] = tried as [Tried, Tried];
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
