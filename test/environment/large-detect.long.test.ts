import { detectSetup } from '../../src/environment/detect.ts';
import { usualChecks } from '../../src/environment/draft/usual-checks.ts';
import { hasBesides } from '../../src/environment/files/choose-files.ts';
import { cacheFilesIn } from '../../src/environment/plan-setup.ts';
import { longestBlock } from '../support/machine/processor-time.ts';

/** Paths as git's output contains them: JavaScript joins texts when they are first read, which takes longer. */
const paths = (pathOf: (i: number) => string) =>
  Array.from({ length: 500_000 }, (_, i) => Buffer.from(pathOf(i)).toString('latin1'));

// A repository may have 500,000 files with 64 million characters in their paths.
test('detecting set-up and usual checks in the largest repository does not hold up the event loop', async () => {
  const wide = paths((i) => `${i}/go.mod`);
  const deep = paths((i) => `${'a/'.repeat(60)}${i}`);
  const files = new Map(deep.map((path) => [path, { oid: '', mode: '100644' }]));
  const folders = ['packages/a', 'packages/b', 'a/a'];
  const searched = { paths: files, folders, isDetected: true };
  const checkout = { readFile: async () => undefined } as never;
  const took = {
    detect: await longestBlock(() => detectSetup(wide)),
    cache: await longestBlock(() => cacheFilesIn(files, undefined)),
    usual: await longestBlock(() => usualChecks(checkout, 'x', searched)),
    besides: await longestBlock(() => hasBesides(checkout, 'x', files)),
  };
  expect(Object.entries(took).filter(([, ms]) => ms > 150)).toEqual([]);
});

test('Makefiles and .gitattributes of nothing but stars and colons do not hold up the event loop', async () => {
  const line = (part: string, times: number) => part.repeat(times);
  const texts: Record<string, string> = {
    '.gitattributes': `${line('*', 50_000)}\n${line('* ', 50_000)}\n${line('*a', 50_000)}b filter=lf\n`,
    Makefile: `${line('test ', 20_000)}\n${line(':', 50_000)}\n${line('a:\n', 20_000)}`,
    justfile: `${line('test ', 20_000)}\n${line(':\n', 50_000)}`,
    'Taskfile.yml': line(' ', 250_000),
  };
  const files = new Map(Object.keys(texts).map((path) => [path, { mode: '100644' }]));
  const checkout = { readFile: async (_: string, path: string) => Buffer.from(texts[path] ?? '') } as never;
  const searched = { paths: files, folders: [], isDetected: true };
  const took = {
    besides: await longestBlock(() => hasBesides(checkout, 'x', files)),
    usual: await longestBlock(() => usualChecks(checkout, 'x', searched)),
  };
  expect(Object.entries(took).filter(([, ms]) => ms > 150)).toEqual([]);
});
