import { samples } from '../../bench/corpus/main.ts';
import { detectSetup } from '../../src/environment/detect.ts';
import { usualChecks } from '../../src/environment/draft/usual-checks.ts';
import type { Checkout } from '../../src/git/engine.ts';

// What `npm run bench -- corpus` expects of a trial, as far as the names and texts of files decide it.

test('the corpus has 27 repositories', () => {
  expect(new Set(samples.map(({ name }) => name)).size).toBe(27);
});

test.each(samples.map((sample) => [sample.name, sample] as const))('detected in %s', async (_name, {
  files,
  expected,
}) => {
  const manifest = JSON.parse(String(files['package.json'] ?? '{}'));
  const { commands, folders } = await detectSetup(Object.keys(files), manifest);
  expect(commands.map(({ command }) => command)).toEqual(expected.setup);
  const readFile = async (_commit: string, path: string) => Buffer.from(files[path] ?? '');
  const checkout = { readFile } as unknown as Checkout;
  const paths = new Map(Object.entries(files));
  const { checks: found, unchecked } = await usualChecks(checkout, 'commit', { paths, folders, isDetected: true });
  expect(unchecked).toEqual(expected.unchecked ?? []);
  // A hint says why the usual check does not pass.
  if (expected.hint === undefined) expect(found.flat()).toEqual(expect.arrayContaining(expected.checks));
  else expect(found).not.toEqual([]);
});
