import type { Attempt } from '../../domain/proof/proof.ts';
import { RunFailed } from '../../domain/run.ts';
import { SetupNeedsApproval } from '../../environment/change/set-up-change.ts';
import { openFresh } from '../../environment/fresh.ts';
import type { Work } from '../work.ts';

/** How the checks ended once, with the check that failed. */
export type Tried = Attempt & { failing?: { command: string; output: string } };

/** Characters kept from the end of the output of a failing check. */
const outputChars = 6000;

/** What the shell reports of a command that SIGKILL or SIGTERM ended, as when memory runs out. */
const killed = new Set([137, 143]);

/** Runs the checks of a repository on a tree in a fresh sandbox, for at most `seconds`. */
export async function attemptChecks(work: Work, tree: string, seconds: number): Promise<Tried> {
  try {
    const fresh = await openFresh(work.environment, tree, work.isSetupApproved);
    try {
      if (fresh.failed !== undefined) return unfinished(`set-up failed: ${fresh.failed.command}`);
      return await runAll(work, fresh, seconds);
    } finally {
      await fresh.close();
    }
  } catch (error) {
    // The change itself needed no approval, or has it. A mixture of it with the base is not worth a question.
    if (error instanceof SetupNeedsApproval) return unfinished(error.message);
    if (!isOwn(work, error)) throw error;
    return unfinished(error.failure.message);
  }
}

type Fresh = Awaited<ReturnType<typeof openFresh>>;

async function runAll({ settings }: Work, { machine, signal }: Fresh, seconds: number): Promise<Tried> {
  const end = performance.now() + seconds * 1000;
  for (const command of settings.checks) {
    const left = (end - performance.now()) / 1000;
    if (left <= 0) return unfinished(`they take longer than ${seconds} s`);
    const { exitCode, how, output } = await machine.run(command, { seconds: left, signal });
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
