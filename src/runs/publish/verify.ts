import { randomUUID } from 'node:crypto';
import type { Checkout } from '../../git/engine.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';
import type { RepositorySettings } from '../../repositories/settings/repository-settings.ts';
import { filesBetween } from '../workspace/workspace.ts';

/** The result of one of the repository's check commands. */
export interface CheckResult {
  /** Missing in results from an older version, which checked only the task's own repository. */
  repositoryId?: string;
  command: string;
  passed: boolean;
  seconds: number;
  /** The end of the command's output; empty when it passed. */
  output: string;
}

/** The longest time limit that `run_command` accepts. */
const commandSeconds = 600;
/** Characters kept from the end of the output of a failing check. */
const outputChars = 6000;

/**
 * Runs the repository's checks in the sandbox and stops at the first that fails. Restores the files afterwards, so that
 * nothing left behind by a check becomes part of the change.
 */
export async function runChecks(
  { setup, checks }: RepositorySettings,
  host: ToolHost,
  checkout: Checkout,
  note: (type: string, text: string, data?: object) => Promise<void>,
): Promise<CheckResult[]> {
  if (checks.length === 0 || !host.hasShell) return [];
  const before = await checkout.snapshot();
  const results: CheckResult[] = [];
  // Uses a new home folder. In the agent's home folder, a configuration file could disable the checks, and no diff
  // would show it.
  const home = `/tmp/checks-${randomUUID()}`;
  const inside = (command: string) => `mkdir -p ${home} && export HOME=${home} TMPDIR=${home}\n${command}`;
  for (const [i, command] of [...setup, ...checks].entries()) {
    const began = performance.now();
    const { text, exitCode } = await host.call('run_command', {
      command: inside(command),
      timeoutSeconds: commandSeconds,
    });
    const passed = exitCode === 0;
    const seconds = Math.round((performance.now() - began) / 1000);
    await note('check', `${command}: ${passed ? 'passed' : 'failed'}`, { passed, seconds });
    // A set-up command is reported only when it fails.
    if (!passed || i >= setup.length)
      results.push({ command, passed, seconds, output: passed ? '' : text.slice(-outputChars) });
    if (!passed) break;
  }
  const left = await filesBetween(checkout, await checkout.snapshot(), before);
  if (left.length > 0) await host.restore(left);
  return results;
}

/** Returns the first check that failed. */
export const failed = (results: CheckResult[]) => results.find((r) => !r.passed);

/** Tells the model which check fails. */
export function checkText({ command, output }: CheckResult): string {
  return `The checks failed. Fix the problem and call finish again:\n$ ${command}\n${output}`;
}
