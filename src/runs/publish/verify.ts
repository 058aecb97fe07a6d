import { randomUUID } from 'node:crypto';
import type { Checkout } from '../../git/engine.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';
import type { RepositorySettings } from '../settings/repository-settings.ts';
import { filesBetween } from '../workspace/workspace.ts';

/** What a check of the repository came to. */
export interface CheckResult {
  /** Whose check it is; unset in results that were stored when a run checked its own repository only. */
  repositoryId?: string;
  command: string;
  passed: boolean;
  seconds: number;
  /** The end of what it said; empty when it passed. */
  output: string;
}

/** The longest a command may take that the tools allow. */
const commandSeconds = 600;
const toldChars = 6000;

/**
 * Runs the repository's own checks in the sandbox, stopping at the first that fails. What they leave in the workspace is
 * taken back, so that it never becomes part of the change.
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
  // A home that the agent has not seen: else it could configure the checks away, and no diff would show it.
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
    // Of the setup only its failing is told.
    if (!passed || i >= setup.length)
      results.push({ command, passed, seconds, output: passed ? '' : text.slice(-toldChars) });
    if (!passed) break;
  }
  const left = await filesBetween(checkout, await checkout.snapshot(), before);
  if (left.length > 0) await host.restore(left);
  return results;
}

export const failed = (results: CheckResult[]) => results.find((r) => !r.passed);

/** What the model is told of a failing check. */
export function checkText({ command, output }: CheckResult): string {
  return `The checks failed. Mend what this one says and call finish again:\n$ ${command}\n${output}`;
}
