import { readFileSync } from 'node:fs';
import { createRequire, flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { writeRecords } from './github-recorder.mjs';
import { writeModelRecords } from './model-recorder.mjs';

const require = createRequire(import.meta.url);
const circus = require('jest-circus/runner');
const runWithCircus = circus.default ?? circus;
const eventHandlers = Symbol.for('EVENT_HANDLERS');

/** How often this process has loaded each test file. */
const loaded = new Map();

/**
 * Runs a test file as Node runs the service: in the ordinary context, with Node's own module loader. Jest's loader would
 * load all of our dependencies again for every file, which takes longer than most of the tests.
 */
export default async function run(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  Object.assign(runtime, {
    // Called for circus itself, which keeps the tests of one file. A new copy starts without those of the last file.
    requireInternalModule: (path) => {
      delete require.cache[path];
      delete globalThis[eventHandlers];
      return require(path);
    },
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(addressOf(path)),
  });
  const before = processorSeconds();
  const result = await runWithCircus(globalConfig, config, environment, runtime, testPath, sendMessageToJest);
  writeRecords(testPath);
  writeModelRecords(testPath);
  // Jest may end this process without letting Node write its cache.
  flushCompileCache();
  const after = processorSeconds();
  return { ...result, processorSeconds: { own: after.own - before.own, programs: after.programs - before.programs } };
}

/** Linux counts a hundred of these in a second. */
const ticks = 100;

/** Returns the processor time of this process, and that of the programs it has started that have ended. */
function processorSeconds() {
  const { user, system } = process.cpuUsage();
  // The second field, a name in parentheses, may contain spaces. The 16th and 17th are about children (man 5 proc).
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return { own: (user + system) / 1e6, programs: (Number(fields[13]) + Number(fields[14])) / ticks };
}

/**
 * Returns a new address for a file that a watching Jest loads again; the modules that it imports stay loaded. The first
 * address is the same in every process, because the compile cache keeps an entry for each.
 */
function addressOf(path) {
  const times = loaded.get(path) ?? 0;
  loaded.set(path, times + 1);
  return `${pathToFileURL(path)}${times === 0 ? '' : `?${times}`}`;
}
