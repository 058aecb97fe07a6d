import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../src/sandbox/neutral-path.ts';
import { file, makeImage, smallSystem } from './stand-ins/made-image.ts';
import { imagePlace } from './stand-ins/place.ts';

const { kept, entriesKept, openImages, serve, take, ifPossible } = await imagePlace('kept images');
afterEach(() => removeTree(kept));

const system = smallSystem();

/** Returns the folder of a taken image with its description. */
const entryOf = ({ root }: { root: string }) => join(root, '..');

const damages: Record<string, (root: string) => void> = {
  'a file that looks unchanged': (root) => {
    const { atime, mtime } = statSync(join(root, 'version'));
    writeFileSync(join(root, 'version'), 'two');
    utimesSync(join(root, 'version'), atime, mtime);
  },
  'a further file': (root) => writeFileSync(join(root, 'more'), ''),
  'a missing file': (root) => rmSync(join(root, 'version')),
  'other permissions': (root) => chmodSync(join(root, 'version'), 0o755),
  'no description': (root) => rmSync(join(root, '../image.json')),
  'a broken description': (root) => writeFileSync(join(root, '../image.json'), '{'),
};
ifPossible('a kept image that somebody has damaged is pulled again', async () => {
  const registry = await serve({ 'app:1': makeImage([system, [file('version', 'one')]]) });
  const images = await openImages();
  const taken = await take(images, `${registry.host}/app:1`);
  taken.release();
  for (const [name, damage] of Object.entries(damages)) {
    damage(taken.root);
    const notes: string[] = [];
    const again = await take(images, `${registry.host}/app:1`, { notes });
    again.release();
    expect([name, notes.length, readFileSync(join(again.root, 'version'), 'utf8')]).toEqual([name, 3, 'one']);
    expect(statSync(join(again.root, 'version')).mode & 0o777).toBe(0o644);
  }
});

ifPossible('more than the limit is kept only while runs use it', async () => {
  const [one, two] = [makeImage([system]), makeImage([system, [file('a')]])];
  const registry = await serve({ 'app:1': one, 'app:2': two });
  const images = await openImages({ keptBytes: 0 });
  const used = await take(images, `${registry.host}/app:1`);
  const short = await take(images, `${registry.host}/app:2`);
  expect(entriesKept().length).toBe(2);
  short.release();
  while (entriesKept().length > 1) await new Promise((resolve) => setImmediate(resolve));
  expect(existsSync(used.root)).toBe(true);
  used.release();
  while (entriesKept().length > 0) await new Promise((resolve) => setImmediate(resolve));
});

ifPossible('a damaged image stays for the runs that already use it', async () => {
  const registry = await serve({ 'app:1': makeImage([system, [file('version', 'one')]]) });
  const images = await openImages();
  const used = await take(images, `${registry.host}/app:1`);
  writeFileSync(join(used.root, 'version'), 'six');
  const { root } = await take(images, `${registry.host}/app:1`);
  expect(readFileSync(join(root, 'version'), 'utf8')).toBe('one');
  await images.trim(Number.POSITIVE_INFINITY);
  expect(entriesKept().length).toBe(2);
  used.release();
  while (entriesKept().length > 1) await images.trim(Number.POSITIVE_INFINITY);
  expect(readFileSync(join(root, 'version'), 'utf8')).toBe('one');
});

ifPossible('the least recently used images are removed, but none that a run uses', async () => {
  const registry = await serve({});
  const images = await openImages();
  const takeNew = async (name: string) => {
    registry.images[`app:${name}`] = makeImage([system, [file(name, name.repeat(1_000_000))]]);
    return take(images, `${registry.host}/app:${name}`);
  };
  const [a, b, c] = [await takeNew('a'), await takeNew('b'), await takeNew('c')];
  const all = await images.trim(Number.POSITIVE_INFINITY);
  expect(all).toBeGreaterThan(3_000_000);
  expect(await images.trim(0)).toBe(all);
  for (const image of [a, b, c]) image.release();
  const isReleased = (image: { root: string }) =>
    !readdirSync(entryOf(image)).some((name) => name.startsWith('in-use'));
  while (![a, b, c].every(isReleased)) await new Promise((resolve) => setImmediate(resolve));
  for (const [i, image] of [b, c, a].entries()) utimesSync(join(entryOf(image), 'image.json'), i, i);
  expect(await images.trim(all - 1)).toBeLessThan(all);
  expect([a, b, c].map(({ root }) => existsSync(root))).toEqual([true, false, true]);
  // A worker that was killed has left a mark.
  const mark = join(entryOf(c), 'in-use-0123456789abcdef');
  writeFileSync(mark, '');
  await images.trim(0);
  expect([a, c].map(({ root }) => existsSync(root))).toEqual([false, true]);
  utimesSync(mark, 1, 1);
  expect(await images.trim(0)).toBe(0);
  expect(entriesKept()).toEqual([]);
});
