import type { CheckResult } from '../../conversation/ending.ts';
import { openCleanSandbox } from '../../environment/clean-sandbox.ts';
import type { CommandResult } from '../../environment/setup-context.ts';
import type { CommandEnd } from '../../sandbox/sandbox.ts';
import { traced } from '../../tracing/traced.ts';
import type { Work } from '../work.ts';

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
