import { detectSetup } from '../../src/environment/detect.ts';
import { usualChecks } from '../../src/environment/draft.ts';
import { cacheFilesIn } from '../../src/environment/plan-setup.ts';
import { longestBlock } from '../support/machine/processor-time.ts';

/** Paths as git's output contains them: JavaScript joins texts when they are first read, which takes longer. */
const paths = (pathOf: (i: number) => string) =>
  Array.from({ length: 500_000 }, (_, i) => Buffer.from(pathOf(i)).toString('latin1'));

// A repository may have 500,000 files with 64 million characters in their paths.
test('detecting set-up and usual checks in the largest repository does not hold up the event loop', async () => {
  const wide = paths((i) => `${i}/go.mod`);
  const deep = paths((i) => `${'a/'.repeat(60)}${i}`);
  const files = new Map(deep.map((path) => [path, { oid: '' }]));
  const checkout = { readFile: async () => undefined } as never;
  const took = {
    detect: await longestBlock(() => detectSetup(wide)),
    cache: await longestBlock(() => cacheFilesIn(files, undefined)),
    usual: await longestBlock(() => usualChecks(checkout, 'x', files)),
  };
  expect(Object.entries(took).filter(([, ms]) => ms > 150)).toEqual([]);
});
