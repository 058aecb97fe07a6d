import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const Sequencer = require('@jest/test-sequencer').default;

/** The files that take longest, by measurement, longest first. Some of them are small, and start several services. */
const longest = [
  'sandbox/limits',
  'e2e/start',
  'github/commands',
  'e2e/github/real-answers',
  'environment/validation',
  'audit/every-write',
  'web/start',
  'e2e/faults/full-disk',
  'e2e/whole-way',
  'agents/chat-rights',
  'e2e/healthy',
  'e2e/faults/in-the-middle',
  'e2e/hostile/submodule-addresses',
  'sql/queries',
  'threads/apart',
  'http/every-route',
  'llm/streams',
  'http/hostile',
  'runs/long-turns',
  'repositories/repositories',
  'github/app/installations',
  'git/patient',
  'github/follow/many-merges',
  'demo/emulator',
];

/**
 * Starts the longest test files first. Jest does so only when it remembers an earlier run. On a fresh clone it would start
 * large files first, and at the end wait for a small one that takes a minute.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (tests.filter(({ duration }) => typeof duration === 'number').length > tests.length / 2) return sorted;
    const place = ({ path }) => {
      const at = longest.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
      return at < 0 ? longest.length : at;
    };
    return sorted.sort((a, b) => place(a) - place(b));
  }
}
