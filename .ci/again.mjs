import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** If more files than this fail, a busy machine is not the cause. */
const most = 3;

/**
 * Reads Jest's report, runs the failed test files a second time, and fails if one of them fails again. Names the files
 * in either case: a file that passes only the second time has a fault of its own.
 */
const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
if (failed.length === 0 || failed.length > most) {
  console.log(`${failed.length} test files failed; a second run covers at most ${most}.`);
  process.exit(1);
}
console.log(`Second try of: ${failed.join(', ')}`);
const { status } = spawnSync('npm', ['test', '--', '--runTestsByPath', ...failed], { stdio: 'inherit' });
console.log(`${status === 0 ? 'PASSED ONLY THE SECOND TIME' : 'FAILED TWICE'}: ${failed.join(', ')}`);
process.exit(status ?? 1);
