import { readCommands } from '../../src/github/commands/handle-commands.ts';
import { longestBlock } from '../support/machine/processor-time.ts';
import { testSome } from '../support/thorough.ts';

const marks = { prefix: '/agent', slug: undefined };

test('the commands of a comment are read', async () => {
  expect(await readCommands('Please.\n\n/agent start Reviewer', marks)).toEqual([
    { verb: 'start', argument: 'Reviewer', line: 2, text: 'Reviewer', isCut: false, comment: 'Reviewer\nPlease.' },
  ]);
});

// Measured with the parser alone: 212 s, "Maximum call stack size exceeded", and over a minute.
testSome(1, [['1. '], ['> '], ['*_']])(
  'reading a comment of 64 kB of %j is aborted and delays nothing else',
  async (part) => {
    let found: unknown;
    const block = await longestBlock(async () => {
      found = await readCommands(`/agent start\n${part.repeat(64_000 / part.length)}`, marks);
    });
    expect(found).toBeUndefined();
    expect(block).toBeLessThan(1000);
  },
);

test("text over GitHub's limit is not parsed", async () => {
  expect(await readCommands(`/agent start\n${' '.repeat(65_536)}`, marks)).toBeUndefined();
});
