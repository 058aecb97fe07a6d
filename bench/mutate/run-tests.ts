import { spawn } from 'node:child_process';

export interface TestRun {
  outcome: 'passed' | 'failed' | 'timeout';
  ms: number;
  /** The first test that failed. */
  failed: string | undefined;
  output: string;
}

/** The end of the output is enough to see why tests failed. */
const keptCharacters = 20_000;

/** Runs test files in a folder in their order until the first of them fails, on the PostgreSQL at `postgresUrl`. */
export async function runTests(
  folder: string,
  tests: string[],
  { limitMs, postgresUrl, signal }: { limitMs: number; postgresUrl: string; signal: AbortSignal },
): Promise<TestRun> {
  const began = performance.now();
  const order = '--testSequencer=./test/support/jest/given-order.mjs';
  const flags = [order, '--bail', '--runInBand', '--forceExit', '--silent', '--runTestsByPath'];
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...flags, ...tests], {
    cwd: folder,
    env: { ...process.env, TEST_POSTGRES_URL: postgresUrl },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own, so that what the tests started ends with them.
    detached: true,
  });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output = (output + chunk).slice(-keptCharacters);
  });
  const endAll = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of the group have ended.
    }
  };
  signal.addEventListener('abort', endAll);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endAll();
  }, limitMs);
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve));
  clearTimeout(timer);
  signal.removeEventListener('abort', endAll);
  endAll();
  return {
    outcome: isLate ? 'timeout' : code === 0 ? 'passed' : 'failed',
    ms: performance.now() - began,
    failed: /^\s*● (.+)$/m.exec(output)?.[1],
    output,
  };
}
