import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../src/sandbox/neutral-path.ts';
import { isThorough } from '../support/thorough.ts';
import { file, type MadeImage, makeImage, smallSystem } from './stand-ins/made-image.ts';
import { imagePlace } from './stand-ins/place.ts';

const { kept, entriesKept, openImages, serve, take, ifPossible } = await imagePlace('images');
afterEach(() => removeTree(kept));

const system = smallSystem();

test('without a sandbox, images are refused with the reason', async () => {
  const images = await openImages({ hasSandbox: false });
  expect(images.state).toMatchObject({ works: false, says: expect.stringContaining('there is no sandbox') });
  await expect(take(images, 'registry.example.org/app')).rejects.toThrow(
    'registry.example.org/app" cannot be used: there is no',
  );
});

ifPossible('an image is pulled once, kept by digest, and pulled again when its tag has moved', async () => {
  const first = makeImage([system, [file('version', 'one')]], { env: ['PATH=/opt/bin:/bin', 'A=b=c', '=', 'no'] });
  const registry = await serve({ 'app:1': first });
  const images = await openImages();
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
  const registry = await serve({ 'app:1': makeImage([system, [file('a')]], { compression }) });
  const { root } = await take(await openImages(), `${registry.host}/app:1`);
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
  const registry = await serve({ 'app:1': listed(platforms), 'app:ours': ours, 'app:other': other });
  const images = await openImages();
  expect((await take(images, `${registry.host}/app:1`)).digest).toBe(ours.digest);
  registry.images['app:1'] = listed(platforms.slice(0, 1));
  const forOthers = /is not made for linux\/\w+, only for linux\/s390x$/;
  await expect(take(images, `${registry.host}/app:1`)).rejects.toThrow(forOthers);
  await expect(take(images, `${registry.host}/app:other`)).rejects.toThrow(forOthers);
});

// What happens when one of them gives up is tested in shared-work.test.ts.
ifPossible('callers at the same time share a pull', async () => {
  const registry = await serve({ 'app:1': makeImage([system]) });
  const images = await openImages();
  await Promise.all([1, 2, 3].map(() => take(images, `${registry.host}/app:1`)));
  // Three times the configuration, once the layer.
  expect(registry.blobsAsked()).toBe(4);
  expect(entriesKept().length).toBe(1);
});

ifPossible('a cancelled pull leaves nothing', async () => {
  const registry = await serve({ 'app:1': makeImage([system, [file('a')]]) });
  const cancelled = new AbortController();
  registry.answer.instead = (_req, _res, path) => {
    if (path.includes('/blobs/') && registry.blobsAsked() === 2) cancelled.abort(new Error('cancelled'));
    return registry.blobsAsked() >= 2;
  };
  const taking = take(await openImages(), `${registry.host}/app:1`, { signal: cancelled.signal });
  await expect(taking).rejects.toThrow('cancelled');
  expect(entriesKept()).toEqual([]);
});

const ifThorough = isThorough ? ifPossible : test.skip;
ifThorough(
  'an image of 200,000 files is pulled, and is ready soon when it is used again',
  async () => {
    const many = Array.from({ length: 200_000 }, (_, i) => file(`n/${i}`, ''));
    const registry = await serve({ 'app:1': makeImage([system, many]) });
    const images = await openImages({ megabytes: 4096 });
    const signal = AbortSignal.timeout(900_000);
    const first = await take(images, `${registry.host}/app:1`, { signal });
    expect(readdirSync(join(first.root, 'n')).length).toBe(200_000);
    first.release();
    const began = performance.now();
    await take(images, `${registry.host}/app:1`, { signal });
    expect(performance.now() - began).toBeLessThan(30_000);
  },
  900_000,
);
