import type { ServerResponse } from 'node:http';
import { type MadeImage, makeImage, smallSystem } from './stand-ins/made-image.ts';
import { configDigest, image, isLayer, moved, oneImage } from './stand-ins/one-image.ts';
import type { Instead } from './stand-ins/registry.ts';

const { ifPossible, registryWith, takeFrom, works } = await oneImage('registries');

ifPossible('a registry on a closed address is not contacted', async () => {
  const registry = await registryWith();
  const why = /127\.0\.0\.1 has a private or reserved address/;
  await expect(takeFrom(registry, { open: [] })).rejects.toThrow(why);
  await expect(takeFrom(registry, { open: ['127.0.0.2/32', '10.0.0.0/8'] })).rejects.toThrow(why);
  expect(registry.asked).toEqual([]);
});

ifPossible.each([
  'https://169.254.169.254/latest/meta-data',
  'https://[fd00:ec2::254]/',
  'https://10.0.0.1/',
  'https://127.0.0.2/',
  'https://[::ffff:127.0.0.1]/',
  'https://0x7f.2/',
])('a redirect of a layer to %s is refused', async (target) => {
  const registry = await registryWith(image, (_req, res, path) => isLayer(path) && moved(res, target));
  await expect(takeFrom(registry)).rejects.toThrow(/has a private or reserved address/);
});

ifPossible.each([
  'http://registry.example.org/',
  'file:///etc/passwd',
  'ftp://registry.example.org/',
  'http://10.0.0.1/',
])('a redirect to %s is refused without contacting it', async (target) => {
  const registry = await registryWith(image, (_req, res, path) => isLayer(path) && moved(res, target));
  await expect(takeFrom(registry)).rejects.toThrow(/a redirect of 127\.0\.0\.1:\d+ leads to .*, which is not an https/);
});

ifPossible('redirects in a circle end', async () => {
  const registry = await registryWith(image, (_req, res, path) => isLayer(path) && moved(res, path));
  await expect(takeFrom(registry)).rejects.toThrow('redirects more than 5 times');
});

const changed = (from: Buffer) => Buffer.concat([from.subarray(0, -1), Buffer.from([(from.at(-1) ?? 0) ^ 1])]);
const layerOf = (made: MadeImage) => [...made.blobs.values()].find((blob) => blob[0] === 0x1f) ?? Buffer.alloc(0);
const none = () => ({ layers: [] });
const other = makeImage([[]]);

ifPossible.each<[string, MadeImage | undefined, Instead, RegExp]>([
  [
    'no such image',
    undefined,
    (_q, res) => !!res.writeHead(404).end(),
    /has no image 127.*app:1; check its name and tag/,
  ],
  ['too many pulls', undefined, (_q, res) => !!res.writeHead(429).end(), /limits how often images are pulled/],
  [
    'a page',
    undefined,
    (_q, res) => !!res.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>'),
    /not supported \(text\/html\)/,
  ],
  ['a manifest that is not JSON', { ...image, manifest: '{' }, () => false, /describes 127.* incorrectly/],
  [
    'a manifest without layers',
    makeImage([], { manifest: () => ({ layers: 1 }) }),
    () => false,
    /incorrectly \(config:/,
  ],
  [
    'an endless manifest',
    undefined,
    (_q, res, path) => path.includes('manifests') && endless(res),
    /larger than 4000 kB/,
  ],
  [
    'a manifest of a million values',
    makeImage([], { manifest: (m) => ({ ...m, annotations: Array(1_000_000).fill(0) }) }),
    () => false,
    /incorrectly \(it holds more than 10000 values\)/,
  ],
  [
    'hundreds of thousands of numbers as environment variables',
    makeImage([], { config: (c) => ({ ...c, config: { Env: Array(400_000).fill(0) } }) }),
    () => false,
    /incorrectly \(it holds more than 10000 values\)/,
  ],
  [
    'thousands of environment variables',
    makeImage([], { env: Array(1001).fill('A=b') }),
    () => false,
    /incorrectly \(config\.Env: Too big/,
  ],
  [
    'a configuration larger than any real one',
    makeImage([], { config: (c) => ({ ...c, comment: 'x'.repeat(1_000_000) }) }),
    () => false,
    /larger than 1000 kB/,
  ],
  [
    'a configuration that is nested deeply',
    makeImage([], { config: (c) => ({ ...c, comment: nested(101) }) }),
    () => false,
    /incorrectly \(it is nested more than 100 deep\)/,
  ],
  [
    'fewer layers',
    makeImage([smallSystem()], { manifest: (m) => ({ ...m, ...none() }) }),
    () => false,
    /layers of .* contradict/,
  ],
  ['a foreign kind of layer', foreign(), () => false, /layer of an unsupported kind, application\/x-iso/],
  ['a digest with a path', withDigest('sha256:../../../../etc/passwd'), () => false, /incorrectly \(config\.digest/],
  [
    'another configuration',
    undefined,
    (_q, res, path) => path.includes(configDigest) && !!res.end('{}'),
    /sent something other than sha256/,
  ],
  [
    'a changed layer',
    undefined,
    (_q, res, path) => isLayer(path) && !!res.end(changed(layerOf(image))),
    /sent something other than|cannot be decompressed/,
  ],
  [
    'a longer layer',
    undefined,
    (_q, res, path) => isLayer(path) && endless(res),
    /larger than its manifest says|cannot be decompressed/,
  ],
  ['a layer that is no archive', garbled(), () => false, /cannot be unpacked|damaged/],
  ['a layer that is not compressed', uncompressed(), () => false, /cannot be decompressed/],
  [
    'another layer than configured',
    makeImage([smallSystem()], { config: (c) => ({ ...c, rootfs: JSON.parse(configOf(other)).rootfs }) }),
    () => false,
    /cannot be unpacked/,
  ],
])('a registry that answers with %s is refused', async (_, made, instead, why) => {
  const registry = await registryWith(made ?? image, (req, res, path) => path !== '/v2/' && instead(req, res, path));
  await expect(takeFrom(registry)).rejects.toThrow(why);
});

ifPossible('an answer that ends early is asked for again', async () => {
  let cuts = 2;
  const registry = await registryWith(image, (_req, res, path) => {
    if (!isLayer(path) || cuts-- <= 0) return false;
    const layer = layerOf(image);
    res.writeHead(200, { 'Content-Length': layer.length }).write(layer.subarray(0, 1000), () => res.destroy());
    return true;
  });
  await works(registry);
  expect(cuts).toBe(-1);
});

ifPossible('faults of the server are retried', async () => {
  let faults = 2;
  const registry = await registryWith(
    image,
    (_req, res, path) => path !== '/v2/' && faults-- > 0 && !!res.writeHead(503).end(),
  );
  await works(registry);
});

ifPossible('a registry that does not answer is given up', async () => {
  const registry = await registryWith();
  registry.close();
  await expect(takeFrom(registry)).rejects.toThrow(/image: "127.*app:1" cannot be used: .*ECONNREFUSED/);
});

function endless(res: ServerResponse): true {
  res.writeHead(200, { 'Content-Type': 'application/vnd.oci.image.manifest.v1+json' });
  const more = () => {
    while (!res.destroyed && res.write(Buffer.alloc(65_536)));
    if (!res.destroyed) res.once('drain', more);
  };
  more();
  return true;
}

function nested(levels: number): unknown {
  return levels === 0 ? [] : [nested(levels - 1)];
}

function configOf(made: MadeImage): string {
  return (made.blobs.get(JSON.parse(made.manifest).config.digest) ?? '').toString();
}

function foreign(): MadeImage {
  const changeLayers = (m: Record<string, unknown>) =>
    (m.layers as object[]).map((layer) => ({ ...layer, mediaType: 'application/x-iso' }));
  return makeImage([smallSystem()], { manifest: (m) => ({ ...m, layers: changeLayers(m) }) });
}

function withDigest(digest: string): MadeImage {
  return makeImage([smallSystem()], { manifest: (m) => ({ ...m, config: { digest, size: 1 } }) });
}

function garbled(): MadeImage {
  return makeImage([Buffer.alloc(10_000, 'garbled ')]);
}

function uncompressed(): MadeImage {
  const asGzip = (m: Record<string, unknown>) =>
    (m.layers as object[]).map((layer) => ({ ...layer, mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip' }));
  return makeImage([smallSystem()], { compression: 'none', manifest: (m) => ({ ...m, layers: asGzip(m) }) });
}
