import type { Attempt } from './proof.ts';
import { digestOf, type ResultsOfRun } from './tests/test-results.ts';

/** How the checks ended on some files: the first that failed, and what single tests did where the output names them. */
export type EndOfChecks = Attempt & {
  failing?: { command: string } | undefined;
  tests?: ResultsOfRun | undefined;
};

/** What two tries of a check on the same files say. */
export interface ComparedCheck {
  command: string;
  differs: boolean;
  /** The single tests that passed once and failed once. */
  tests: string[];
}

/** The most single tests that are named. */
const maxTests = 20;

/**
 * Compares two tries of the checks on the same files. Checks after one that failed did not run, and nothing is said about
 * a try that did not finish.
 */
export function compareTries(commands: string[], first: EndOfChecks, second: EndOfChecks): ComparedCheck[] {
  const [a, b] = [outcomesOf(commands, first), outcomesOf(commands, second)];
  return commands.flatMap((command) => {
    const [one, other] = [a.get(command), b.get(command)];
    if (one === undefined || other === undefined) return [];
    const differs = one !== other;
    return [{ command, differs, tests: differs ? differingTests(first.tests, second.tests) : [] }];
  });
}

function outcomesOf(commands: string[], { outcome, failing }: EndOfChecks): Map<string, 'passed' | 'failed'> {
  if (outcome === 'unfinished') return new Map();
  const failed = outcome === 'failed' ? commands.indexOf(failing?.command ?? '') : commands.length;
  const passed = commands.slice(0, Math.max(0, failed)).map((command) => [command, 'passed'] as const);
  return new Map(failing === undefined || failed < 0 ? passed : [...passed, [failing.command, 'failed'] as const]);
}

function differingTests(a: ResultsOfRun | undefined, b: ResultsOfRun | undefined): string[] {
  if (a === undefined || b === undefined) return [];
  const failedOnly = (failed: string[], passed: string[]) => {
    const known = new Set(passed);
    return failed.filter((name) => known.has(digestOf(name)));
  };
  return [...new Set([...failedOnly(a.failed, b.passed), ...failedOnly(b.failed, a.passed)])].slice(0, maxTests);
}
