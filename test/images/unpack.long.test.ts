import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../src/sandbox/neutral-path.ts';
import { file, folder, link, makeImage, smallSystem } from './stand-ins/made-image.ts';
import { imagePlace, type PlaceOptions } from './stand-ins/place.ts';
import type { Entry } from './stand-ins/tar.ts';

const place = await imagePlace('layers of images');
const { kept, entriesKept, openImages, serve, take, ifPossible } = place;
afterEach(() => removeTree(kept));

const system = smallSystem();

/** Takes an image that consists of these layers on top of a small system. */
async function takeLayers(layers: Entry[][], options: PlaceOptions = {}) {
  const registry = await serve({ 'app:1': makeImage([system, ...layers]) });
  return take(await openImages(options), `${registry.host}/app:1`);
}

ifPossible('later layers change and remove what earlier ones made', async () => {
  const { root } = await takeLayers([
    [folder('d'), file('d/a'), file('d/b'), folder('e'), file('e/a'), file('f', 'old')],
    [file('d/.wh.a', ''), file('e/.wh..wh..opq', ''), file('e/c'), file('f', 'new')],
  ]);
  expect([readdirSync(join(root, 'd')), readdirSync(join(root, 'e'))]).toEqual([['b'], ['c']]);
  expect(readFileSync(join(root, 'f'), 'utf8')).toBe('new');
});

ifPossible('nothing in an image is setuid, unreadable or writable for others', async () => {
  const { root } = await takeLayers([
    [file('su', '', 0o6755), file('secret', '', 0), folder('closed', 0o700), file('closed/tool', '', 0o700)],
    [folder('open', 0o1777), { name: 'device', kind: '3', mode: 0o666 }],
  ]);
  const mode = (name: string) => (statSync(join(root, name)).mode & 0o7777).toString(8);
  expect(['su', 'secret', 'closed', 'closed/tool', 'open'].map(mode)).toEqual(['755', '644', '755', '755', '1755']);
  const device = statSync(join(root, 'device'), { throwIfNoEntry: false });
  expect(device === undefined || device.isFile()).toBe(true);
});

ifPossible('links and names that lead out of the root change nothing there', async () => {
  const outside = join(place.folder, 'outside');
  mkdirSync(outside, { recursive: true });
  writeFileSync(join(outside, 'precious'), 'untouched');
  const before = readdirSync(outside);
  const up = '../'.repeat(20);
  const attempt = await takeLayers([
    [link('a', outside), link('b', `${up}${outside.slice(1)}`), link('c', 'a'), folder('e')],
    [file('a/one'), file('b/two'), file('c/three'), file('a/.wh.precious', ''), file('b/.wh..wh..opq', '')],
    [file(`${up}${outside.slice(1)}/four`), file(`e/${up}${outside.slice(1)}/five`), file(`${outside}/six`)],
    [{ name: 'hard', kind: '1', target: `${up}etc/passwd` }],
  ]).catch((error: Error) => error);
  expect(readdirSync(outside)).toEqual(before);
  expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('untouched');
  if (!(attempt instanceof Error)) return;
  expect(attempt.message).toMatch(/cannot be unpacked/);
  expect(entriesKept()).toEqual([]);
});

const shell = system[0] as Entry;
ifPossible.each<[string, Entry[][]]>([
  ['has none', [[file('etc/hostname')]]],
  ['has one that cannot be executed', [[{ ...shell, mode: 0o644 }]]],
  ['has one outside of its root', [[folder('bin'), link('bin/sh', '../../../../../bin/dash')]]],
  ['has one in a circle of links', [[folder('bin'), link('bin/sh', 'a'), link('bin/a', '/bin/sh')]]],
  ['has a folder there', [[folder('bin/sh')]]],
])('an image without a shell is refused: it %s', async (_, layers) => {
  const registry = await serve({ 'app:1': makeImage(layers) });
  const taking = take(await openImages(), `${registry.host}/app:1`);
  await expect(taking).rejects.toThrow('app:1 has no shell (/bin/sh), which commands need');
  expect(entriesKept()).toEqual([]);
});

ifPossible('a shell may be a link from the root', async () => {
  const busybox = { ...shell, name: 'usr/lib/busybox' };
  const links = [link('bin', 'usr/bin'), folder('usr/bin'), link('usr/bin/sh', '/usr/lib/../lib/busybox')];
  const registry = await serve({ 'app:1': makeImage([[folder('usr/lib'), busybox, ...links]]) });
  await expect(take(await openImages(), `${registry.host}/app:1`)).resolves.toBeDefined();
});

const zeros = (mb: number) => Buffer.alloc(mb * 2 ** 20);
const many = (count: number) => Array.from({ length: count }, (_, i) => file(`n/${i}`, ''));
ifPossible.each<[string, () => Entry[][], PlaceOptions, RegExp]>([
  [
    'too large',
    () => [[{ name: 'a', content: zeros(6) }]],
    { megabytes: 8 },
    /larger than 8 MB unpacked \(MAX_IMAGE_MB\)$/,
  ],
  [
    'too large in all',
    () => [1, 2, 3].map((n) => [{ name: `${n}`, content: zeros(2) }]),
    { megabytes: 8 },
    /larger than 8 MB/,
  ],
  ['of too many files', () => [many(600)], { megabytes: 9 }, /more than 576 files \(64 for each MB of MAX_IMAGE_MB\)$/],
])('an image %s is refused before it is unpacked', async (_, layers, options, why) => {
  await expect(takeLayers(layers(), options)).rejects.toThrow(why);
  expect(entriesKept()).toEqual([]);
});
