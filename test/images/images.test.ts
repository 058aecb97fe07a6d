import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../src/sandbox/remove-tree.ts';
import { folder, link, type MadeImage, makeImage, smallSystem } from './stand-ins/made-image.ts';
import { openPlace, type PlaceOptions } from './stand-ins/place.ts';
import { startRegistry } from './stand-ins/registry.ts';
import type { Entry } from './stand-ins/tar.ts';

const place = openPlace();
const { kept, entriesKept, take } = place;
const closing: (() => void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await removeTree(kept);
});
afterAll(() => place.close());

const openHere = (options: PlaceOptions = {}) => place.openImages(options);
const { state } = await openHere();
if (!state.works) console.warn(`images are not tested: ${state.says}`);
const ifPossible = state.works ? test : test.skip;

const system = smallSystem();
const file = (name: string, content = name, mode = 0o644): Entry => ({ name, content, mode });

async function registryWith(images: Record<string, MadeImage>) {
  const registry = await startRegistry(images);
  closing.push(registry.close);
  return registry;
}

/** Takes an image that consists of these layers on top of a small system. */
async function takeLayers(layers: Entry[][], options: PlaceOptions = {}) {
  const registry = await registryWith({ 'app:1': makeImage([system, ...layers]) });
  return take(await openHere(options), `${registry.host}/app:1`);
}

test('without a sandbox, images are refused with the reason', async () => {
  const images = await openHere({ hasSandbox: false });
  expect(images.state).toMatchObject({ works: false, says: expect.stringContaining('there is no sandbox') });
  await expect(take(images, 'registry.example.org/app')).rejects.toThrow(
    'registry.example.org/app" cannot be used: there is no',
  );
});

ifPossible('an image is pulled once, kept by digest, and pulled again when its tag has moved', async () => {
  const first = makeImage([system, [file('version', 'one')]], { env: ['PATH=/opt/bin:/bin', 'A=b=c', '=', 'no'] });
  const registry = await registryWith({ 'app:1': first });
  const images = await openHere();
  const notes: string[] = [];
  const one = await take(images, `${registry.host}/app:1`, { notes });
  expect(one).toMatchObject({ digest: first.digest, env: { PATH: '/opt/bin:/bin', A: 'b=c' } });
  expect(readFileSync(join(one.root, 'version'), 'utf8')).toBe('one');
  expect(notes).toEqual([
    expect.stringMatching(/^pulling 127\.0\.0\.1:\d+\/app:1 \(sha256:.*\): 2 layers, \d+ MB$/),
    expect.stringMatching(/^unpacking \d+ MB$/),
    expect.stringMatching(/^the image is ready after \d+\.\d s$/),
  ]);
  const asked = registry.blobsAsked();
  const again = await take(images, `${registry.host}/app:1`, { notes });
  expect([again.root, notes.length]).toEqual([one.root, 3]);
  // Only the configuration was asked for.
  expect(registry.blobsAsked()).toBe(asked + 1);
  registry.images['app:1'] = makeImage([system, [file('version', 'two')]]);
  const moved = await take(images, `${registry.host}/app:1`);
  expect(readFileSync(join(moved.root, 'version'), 'utf8')).toBe('two');
  expect(readFileSync(join(one.root, 'version'), 'utf8')).toBe('one');
});

ifPossible.each(['none', 'zstd'] as const)('layers with compression %s can be pulled', async (compression) => {
  const registry = await registryWith({ 'app:1': makeImage([system, [file('a')]], { compression }) });
  const { root } = await take(await openHere(), `${registry.host}/app:1`);
  expect(readFileSync(join(root, 'a'), 'utf8')).toBe('a');
});

ifPossible('of an image for several processors, the one for this machine is pulled', async () => {
  const ours = makeImage([system]);
  const other = makeImage([system], { architecture: 's390x' });
  const platforms = [other, ours].map(({ digest, mediaType }, i) => ({
    digest,
    mediaType,
    size: 1,
    platform: { os: 'linux', architecture: i === 0 ? 's390x' : process.arch === 'x64' ? 'amd64' : process.arch },
  }));
  const listed = (manifests: unknown[]): MadeImage => ({
    digest: 'sha256:list',
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifest: JSON.stringify({ schemaVersion: 2, manifests }),
    blobs: new Map(),
  });
  const registry = await registryWith({ 'app:1': listed(platforms), 'app:ours': ours, 'app:other': other });
  const images = await openHere();
  expect((await take(images, `${registry.host}/app:1`)).digest).toBe(ours.digest);
  registry.images['app:1'] = listed(platforms.slice(0, 1));
  const forOthers = /is not made for linux\/\w+, only for linux\/s390x$/;
  await expect(take(images, `${registry.host}/app:1`)).rejects.toThrow(forOthers);
  await expect(take(images, `${registry.host}/app:other`)).rejects.toThrow(forOthers);
});

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
  const registry = await registryWith({ 'app:1': makeImage(layers) });
  const taking = take(await openHere(), `${registry.host}/app:1`);
  await expect(taking).rejects.toThrow('app:1 has no shell (/bin/sh), which commands need');
  expect(entriesKept()).toEqual([]);
});

ifPossible('a shell may be a link from the root', async () => {
  const busybox = { ...shell, name: 'usr/lib/busybox' };
  const links = [link('bin', 'usr/bin'), folder('usr/bin'), link('usr/bin/sh', '/usr/lib/../lib/busybox')];
  const registry = await registryWith({ 'app:1': makeImage([[folder('usr/lib'), busybox, ...links]]) });
  await expect(take(await openHere(), `${registry.host}/app:1`)).resolves.toBeDefined();
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

ifPossible('callers at the same time share a pull; one that gives up does not end it', async () => {
  const registry = await registryWith({ 'app:1': makeImage([system]) });
  const images = await openHere();
  const cancelled = new AbortController();
  const taking = [1, 2, 3].map((n) =>
    take(images, `${registry.host}/app:1`, n === 1 ? { signal: cancelled.signal } : {}),
  );
  registry.answer.instead = (_req, _res, path) => {
    // The first layer is being asked for, so the pull has begun.
    if (path.includes('/blobs/') && registry.blobsAsked() > 3) cancelled.abort(new Error('cancelled'));
    return false;
  };
  const ended = await Promise.allSettled(taking);
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  // Three times the configuration, once the layer.
  expect(registry.blobsAsked()).toBe(4);
  expect(entriesKept().length).toBe(1);
});

ifPossible('a cancelled pull leaves nothing', async () => {
  const registry = await registryWith({ 'app:1': makeImage([system, [file('a')]]) });
  const cancelled = new AbortController();
  registry.answer.instead = (_req, _res, path) => {
    if (path.includes('/blobs/') && registry.blobsAsked() === 2) cancelled.abort(new Error('cancelled'));
    return registry.blobsAsked() >= 2;
  };
  const taking = take(await openHere(), `${registry.host}/app:1`, { signal: cancelled.signal });
  await expect(taking).rejects.toThrow('cancelled');
  expect(entriesKept()).toEqual([]);
});

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
  const registry = await registryWith({ 'app:1': makeImage([system, [file('version', 'one')]]) });
  const images = await openHere();
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
  const registry = await registryWith({ 'app:1': one, 'app:2': two });
  const images = await openHere({ keptBytes: 0 });
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
  const registry = await registryWith({ 'app:1': makeImage([system, [file('version', 'one')]]) });
  const images = await openHere();
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
  const registry = await registryWith({});
  const images = await openHere();
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
