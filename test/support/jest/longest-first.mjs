import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const Sequencer = require('@jest/test-sequencer').default;

/** The files that take longest, by measurement, longest first. Some of them are small, and start several services. */
const longest = [
  'client/account',
  'github/commands',
  'e2e/start',
  'agents/chat-rights',
  'sql/queries',
  'audit/every-write',
  'web/board',
  'web/start',
  'worker/radar/radar',
  'environment/validation',
  'demo/visitor',
  'http/hostile',
  'http/every-route',
  'e2e/healthy',
  'e2e/faults/in-the-middle',
  'mcp/conformance',
  'http/mcp/limits',
  'sandbox/limits',
  'github/mirror/same-head',
  'e2e/whole-way',
  'e2e/github/real-answers',
  'http/request-flood',
  'tasks/large-board',
  'e2e/hostile/submodule-addresses',
  'threads/apart',
  'llm/streams',
  'runs/long-turns',
  'projects/rotation',
  'github/follow/lost-pushes',
  'git/patient',
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
