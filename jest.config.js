import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Without it, each process that a test starts would compile the program again, and remove the types of its modules.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), `deckhand-compile-cache-${process.getuid?.()}`);
enableCompileCache(process.env.NODE_COMPILE_CACHE);

/**
 * A file whose name ends with `.long.test.ts` takes long for what it adds: faults at every place, hostile input in every
 * form, other machines. It runs when it is named, and with THOROUGH=1.
 */
const isPart = process.argv.slice(2).some((argument) => !argument.startsWith('-'));
const leftOut = process.env.THOROUGH === '1' || isPart ? [] : ['\\.long\\.test\\.ts$'];

export default {
  // Test files run as the service does, on Node's own module loader; see decision 33.
  testEnvironment: '<rootDir>/test/support/jest/environment.mjs',
  testRunner: '<rootDir>/test/support/jest/runner.mjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: leftOut,
  watchman: false,
  transform: {},
  // One PostgreSQL for the whole run; every file copies its own database from a migrated template.
  globalSetup: '<rootDir>/test/support/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.mjs',
  // Generous, because a busy machine may be many times slower. A test waits for conditions, each with a limit of its own.
  testTimeout: 600_000,
  // Tests wait for other processes as much as they compute, so three keep two cores busy.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/support/jest/longest-first.mjs',
  // Prints the time of every file, not only of slow ones.
  slowTestThreshold: 0,
  // A large process takes longer to collect garbage and to start others: a fork of 700 MB takes 45 ms, of 250 MB 18 ms.
  workerIdleMemoryLimit: '400MB',
  // The kernel takes longer than Jest's 0.5 s to free a large process on a busy machine. One that hangs is still reported.
  workerGracefulExitTimeout: 15_000,
  // Two validate what the tests sent to GitHub and to model servers; see docs/emulator.md. The last prints processor times.
  reporters: [
    'default',
    ...['github-truth', 'model-truth', 'processor-times'].map((name) => `<rootDir>/test/support/jest/${name}.mjs`),
  ],
};
