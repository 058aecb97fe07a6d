import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** More failed files than this are not an accident of a busy machine. */
const most = 3;

/**
 * Runs the test files that failed once more, given Jest's report, and fails if one of them fails again. Names them in
 * either case: a file that passes only the second time has a fault of its own.
 */
const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
if (failed.length === 0 || failed.length > most) {
  console.log(`${failed.length} test files failed; only 1 to ${most} of them run a second time.`);
  process.exit(1);
}
console.log(`Second try of: ${failed.join(', ')}`);
const { status } = spawnSync('npm', ['test', '--', '--runTestsByPath', ...failed], { stdio: 'inherit' });
console.log(`${status === 0 ? 'PASSED ONLY THE SECOND TIME' : 'FAILED TWICE'}: ${failed.join(', ')}`);
process.exit(status ?? 1);
