import type { CheckResult } from '../../conversation/ending.ts';
import type { Attempt } from '../../domain/proof/proof.ts';
import type { Sighting } from '../../domain/proof/reach.ts';
import type { ResultsOfRun } from '../../domain/proof/tests/test-results.ts';
import { RunFailed } from '../../domain/run.ts';
import { SetupNeedsApproval } from '../../environment/change/read-manifests.ts';
import { openCleanSandbox } from '../../environment/clean-sandbox.ts';
import type { CommandResult } from '../../environment/setup-context.ts';
import type { CommandEnd } from '../../sandbox/sandbox.ts';
import { traced } from '../../tracing/traced.ts';
import type { Work } from '../work.ts';
import { judging, unlessTooSlow } from './contents.ts';
import { prepareWatch, sightingOn, type Watch, watchedVariables } from './coverage.ts';

/** Whether each check that the repository configures passed on the files to push. */
export function isChecked({ settings, evidence }: Pick<Work, 'settings' | 'evidence'>): boolean {
  return settings.checks.every((command) => evidence?.checks.some((each) => each.command === command && each.passed));
}

/** The time limit of one check. */
export const checkSeconds = 600;
/** Characters kept from the end of the output of a failing check. */
const outputChars = 6000;

/**
 * Runs the repository's checks on a tree and stops at the first that fails. They run in a sandbox that the agent has
 * never touched, on the environment as set-up left it, so nothing but the change decides about their result.
 * @throws SetupNeedsApproval
 */
export async function runChecks(work: Work, tree: string): Promise<CheckResult[]> {
  const { settings, host } = work;
  if (settings.checks.length === 0 || !host.hasShell) return [];
  return traced('checks', {}, async (describe) => {
    const results = await checksOn(work, tree);
    describe({ 'deckhand.checks.passed': firstFailure(results) === undefined });
    return results;
  });
}

async function checksOn(work: Work, tree: string): Promise<CheckResult[]> {
  const { settings, environment } = work;
  const fresh = await openCleanSandbox(environment, tree, tree === work.treeWithApprovedSetup);
  try {
    const about = { repositoryId: work.repository.id, tree };
    if (fresh.failed !== undefined) return [{ ...about, ...setupResult(fresh.failed) }];
    const results: CheckResult[] = [];
    for (const command of settings.checks) {
      const end = await fresh.machine.run(command, { seconds: checkSeconds, signal: fresh.signal });
      fresh.signal.throwIfAborted();
      const result = { ...about, ...checkResult(command, end) };
      results.push(result);
      const { passed, seconds } = result;
      await work.journal.note('check', `${command}: ${passed ? 'passed' : 'failed'}`, { ...about, passed, seconds });
      if (!passed) break;
    }
    return results;
  } finally {
    await fresh.close();
  }
}

type CheckOutcome = Omit<CheckResult, 'repositoryId' | 'tree'>;

function checkResult(command: string, { exitCode, how, seconds, output }: CommandEnd): CheckOutcome {
  const passed = exitCode === 0;
  const text = passed ? '' : `[${how}] after ${Math.round(seconds)} s\n${output.slice(-outputChars)}`;
  return { command, passed, seconds: Math.round(seconds), output: text };
}

/** Reports a failed set-up of the change as a failed check. */
function setupResult({ command, seconds, output }: CommandResult): CheckOutcome {
  return { command, passed: false, seconds: Math.round(seconds), output };
}

/** Returns the first check that failed. */
export const firstFailure = (results: CheckResult[]) => results.find((r) => !r.passed);

/** Tells the model which check fails. */
export function checkText({ command, output }: CheckResult): string {
  return `The checks failed. Fix the problem and call finish again:\n$ ${command}\n${output}`;
}

/** How the checks ended once, with the check that failed, and with the single tests where their output names them. */
export type Tried = Attempt & {
  failing?: { command: string; output: string };
  tests?: ResultsOfRun | undefined;
  /** How long they took. */
  seconds?: number;
  /** The results of those that ended, in order. */
  checks?: { command: string; passed: boolean; seconds: number }[];
};

/** What trying the checks of a repository needs. */
export type Checking = Pick<Work, 'environment' | 'settings' | 'signal' | 'treeWithApprovedSetup'>;

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
  const checks: Tried['checks'] = [];
  const took = () => ({ seconds: Math.round((performance.now() - began) / 100) / 10, checks });
  const tests = () =>
    unlessTooSlow(judging.call('resultsIn', said.slice(0, maxSaid), said.length < maxSaid), undefined);
  for (const command of settings.checks) {
    const left = (end - performance.now()) / 1000;
    if (left <= 0) return unfinished(`they take longer than ${seconds} s`);
    const {
      exitCode,
      how,
      output,
      seconds: duration,
    } = await machine.run(before + command, { seconds: left, signal, heard });
    signal.throwIfAborted();
    if (exitCode === undefined && performance.now() >= end) return unfinished(`they take longer than ${seconds} s`);
    if (exitCode === undefined || killed.has(exitCode)) return unfinished(`${command} was killed (${how})`);
    checks.push({ command, passed: exitCode === 0, seconds: Math.round(duration) });
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
