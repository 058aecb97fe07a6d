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
  // The time of this thread, because a busy machine delays the clock too.
  const began = process.threadCpuUsage();
  const found = await readCommands(`/agent start\n${part.repeat(64_000 / part.length)}`, marks);
  const { user, system } = process.threadCpuUsage(began);
  expect(found).toBeUndefined();
  expect((user + system) / 1000).toBeLessThan(200);
});

test("text over GitHub's limit is not parsed", async () => {
  expect(await readCommands(`/agent start\n${' '.repeat(65_536)}`, marks)).toBeUndefined();
});
