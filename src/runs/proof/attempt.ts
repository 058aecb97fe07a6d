import type { Attempt } from '../../domain/proof/proof.ts';
import type { Sighting } from '../../domain/proof/reach.ts';
import { RunFailed } from '../../domain/run.ts';
import { SetupNeedsApproval } from '../../environment/change/set-up-change.ts';
import { openFresh } from '../../environment/fresh.ts';
import type { Work } from '../work.ts';
import { prepareWatch, sightingOn, type Watch, watchedVariables } from './coverage.ts';

/** How the checks ended once, with the check that failed. */
export type Tried = Attempt & { failing?: { command: string; output: string } };

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
  work: Work,
  trees: string[],
  seconds: number,
  watch?: Watch,
): Promise<TriedTogether> {
  const places = await Promise.allSettled(trees.map((tree) => openFresh(work.environment, tree, work.isSetupApproved)));
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

type Fresh = Awaited<ReturnType<typeof openFresh>>;
type Opened = PromiseSettledResult<Fresh>;

async function attemptAt(
  work: Work,
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
    // The change itself needed no approval, or has it. A mixture of it with the base is not worth a question.
    if (error instanceof SetupNeedsApproval) return unfinished(error.message);
    if (!isOwn(work, error)) throw error;
    return unfinished(error.failure.message);
  }
}

async function runAll(
  { settings }: Work,
  { machine, signal }: Fresh,
  { seconds, before }: { seconds: number; before: string },
): Promise<Tried> {
  const end = performance.now() + seconds * 1000;
  for (const command of settings.checks) {
    const left = (end - performance.now()) / 1000;
    if (left <= 0) return unfinished(`they take longer than ${seconds} s`);
    const { exitCode, how, output } = await machine.run(before + command, { seconds: left, signal });
    signal.throwIfAborted();
    if (exitCode === undefined && performance.now() >= end) return unfinished(`they take longer than ${seconds} s`);
    if (exitCode === undefined || killed.has(exitCode)) return unfinished(`${command} was killed (${how})`);
    if (exitCode !== 0) {
      const text = `[${how}]\n${output.slice(-outputChars)}`;
      return { outcome: 'failed', failing: { command, output: text } };
    }
  }
  return { outcome: 'passed' };
}

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
function isOwn(work: Work, error: unknown): error is RunFailed {
  if (work.signal.aborted || !(error instanceof RunFailed)) return false;
  const { signal } = work.environment.room;
  return !signal.aborted || (signal.reason instanceof RunFailed && signal.reason.failure.category === 'timeout');
}
