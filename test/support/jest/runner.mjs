import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const circus = require('jest-circus/runner');
const runWithCircus = circus.default ?? circus;
const eventHandlers = Symbol.for('EVENT_HANDLERS');

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
    // A query makes the file itself new, for a watching Jest. The modules that it imports stay loaded.
    unstable_importModule: (path) => import(`${pathToFileURL(path)}?${performance.now()}`),
  });
  return runWithCircus(globalConfig, config, environment, runtime, testPath, sendMessageToJest);
}
