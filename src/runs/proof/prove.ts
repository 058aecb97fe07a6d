import {
  expectedOnBase,
  expectedOnChange,
  judgeProof,
  needsAnother,
  notRun,
  type Proof,
} from '../../domain/proof/proof.ts';
import { RunFailed } from '../../domain/run.ts';
import { GitFailed } from '../../git/engine.ts';
import { lackOf } from '../failures.ts';
import { stepOf } from '../lease/journal.ts';
import type { CheckResult } from '../publish/verify.ts';
import type { Work } from '../work.ts';
import { attemptChecks, type Tried } from './attempt.ts';
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
 * Proves a change by its tests: the checks should fail on the base's code with the tests of the change, and pass on the
 * code of the change with the tests of the base. Both run at the same time, each in a sandbox of its own, and take at
 * most twice as long as the checks did. Never fails a run: if something prevents the proof, the proof says so.
 */
export async function proveChange(work: Work, tree: string, checks: CheckResult[]): Promise<Proved> {
  const hindrance = whyNot(work);
  if (hindrance !== undefined) return { proof: notRun(hindrance) };
  try {
    const change = await readTestedChange(work, tree);
    const tried = await tryBoth(work, tree, change, checks);
    const proof = judgeProof({ ...change, ...tried });
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

type Both = Record<'newTestsOnBase' | 'oldTestsOnChange', Tried[]>;

/** Runs both kinds of checks, and those with an unexpected result once more. */
async function tryBoth(work: Work, tree: string, change: TestedChange, checks: CheckResult[]): Promise<Both> {
  const { testsChanged, testsRemoved, newTestsOnBase, oldTestsOnChange } = change;
  if (testsChanged.length + testsRemoved.length === 0) return { newTestsOnBase: [], oldTestsOnChange: [] };
  const seconds = Math.max(leastSeconds, 2 * checks.reduce((sum, each) => sum + each.seconds, 0));
  const repeated = async (mixed: string, expected: 'passed' | 'failed') => {
    // The checks have just passed on the change itself.
    if (mixed === tree) return [{ outcome: 'passed' as const }];
    const attempts = [await attempt(work, mixed, 1, seconds)];
    const isOver = work.environment.room.signal.aborted;
    if (!isOver && needsAnother(attempts, expected)) attempts.push(await attempt(work, mixed, 2, seconds));
    return attempts;
  };
  // Waits for both even if one throws, so that no sandbox outlives this.
  const [onBase, onChange] = await Promise.allSettled([
    repeated(newTestsOnBase, expectedOnBase),
    repeated(oldTestsOnChange, expectedOnChange),
  ]);
  if (onBase.status === 'rejected') throw onBase.reason;
  if (onChange.status === 'rejected') throw onChange.reason;
  return { newTestsOnBase: onBase.value, oldTestsOnChange: onChange.value };
}

/** Runs the checks on one tree, unless an earlier worker did so already. */
function attempt(work: Work, tree: string, number: number, seconds: number): Promise<Tried> {
  const step = stepOf(`proof ${tree} ${number}`, work.task, work.repository);
  return work.journal.once(step, () => attemptChecks(work, tree, seconds));
}
