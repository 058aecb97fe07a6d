import { readCommands } from '../../src/github/commands/read-commands.ts';

const marks = { prefix: '/agent', slug: undefined };

test('the commands of a comment are read', async () => {
  expect(await readCommands('Please.\n\n/agent start Reviewer', marks)).toEqual([
    { verb: 'start', argument: 'Reviewer', line: 2 },
  ]);
});

// Measured with the parser alone: 212 s, and "Maximum call stack size exceeded".
test.each([
  '1. ',
  '> ',
  '[a](',
])('reading a comment of 64 kB of %j is aborted and delays nothing else', async (part) => {
  let slowest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    slowest = Math.max(slowest, performance.now() - last);
    last = performance.now();
  }, 10);
  const found = await readCommands(`/agent start\n${part.repeat(64_000 / part.length)}`, marks);
  clearInterval(timer);
  expect(found).toBeUndefined();
  expect(slowest).toBeLessThan(200);
});

test("text over GitHub's limit is not parsed", async () => {
  expect(await readCommands(`/agent start\n${' '.repeat(65_536)}`, marks)).toBeUndefined();
});
