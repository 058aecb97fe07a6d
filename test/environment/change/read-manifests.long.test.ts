import { fetchesOf } from '../../../src/environment/change/package-managers.ts';
import { readManifests } from '../../../src/environment/change/read-manifests.ts';
import type { Checkout } from '../../../src/git/engine.ts';
import { longestBlock } from '../../support/machine/processor-time.ts';

/** A tree with many files, of which some have these contents. */
function treeOf(count: number, contents: Record<string, string>) {
  const files = new Map<string, { mode: string; oid: string }>();
  for (let i = 0; i < count; i++) files.set(`packages/${i % 997}/src/${i}.ts`, { mode: '100644', oid: 'code' });
  for (const [path, content] of Object.entries(contents)) files.set(path, { mode: '100644', oid: content });
  return files;
}
/** The id of a file is its content. */
const checkout = {
  readBlobs: async (oids: string[]) => new Map(oids.map((oid) => [oid, Buffer.from(oid)])),
} as unknown as Checkout;

test('a fetch gets the configuration of the base and the patches of the change', async () => {
  const base = treeOf(0, { '.npmrc': 'of the base', 'a.patch': '--- a/x\n', 'package.json': '{}' });
  const change = treeOf(0, { '.npmrc': 'of the base', 'b.patch': '--- a/y\n', 'package.json': '{"version":"2.0.0"}' });
  const fetches = ['npm ci', 'pnpm install', 'pnpm install'].flatMap(fetchesOf);
  const { others } = await readManifests(checkout, { base, change }, fetches);
  expect([...others]).toEqual([
    ['npm', [['.npmrc', 'of the base']]],
    [
      'pnpm',
      [
        ['.npmrc', 'of the base'],
        ['b.patch', '--- a/y\n'],
      ],
    ],
  ]);
});

test('many fetches in a large repository hold the event loop for no longer than a moment', async () => {
  const [base, change] = [treeOf(150_000, {}), treeOf(150_000, { 'a/package.json': '{}' })];
  const fetches = Array(60).fill('npm ci').flatMap(fetchesOf);
  const most = await longestBlock(() => readManifests(checkout, { base, change }, fetches));
  // Looking through all files for each fetch took 2 s.
  expect(most).toBeLessThan(200);
});

test('more fetches than anybody needs are not checked', async () => {
  const trees = { base: treeOf(0, {}), change: treeOf(0, { 'package.json': '{}' }) };
  const refused = readManifests(checkout, trees, Array(61).fill('npm ci').flatMap(fetchesOf));
  await expect(refused).rejects.toMatchObject({
    reasons: [expect.stringMatching(/^set-up: it has more than 60 commands that fetch packages/)],
  });
});
