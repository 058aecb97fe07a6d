import type { IncomingMessage, ServerResponse } from 'node:http';
import { image, isLayer, moved, oneImage } from './stand-ins/one-image.ts';
import { credentials, type Instead } from './stand-ins/registry.ts';

const { ifPossible, openImages, serve, take, registryWith, takeFrom, works } =
  await oneImage('credentials of registries');

const password = 'a password that nobody else may see';
const auth = credentials('somebody', password);
const basic = `Basic ${Buffer.from(`somebody:${password}`).toString('base64')}`;

const refused = (res: ServerResponse, challenge: string) =>
  !!res.writeHead(401, { 'WWW-Authenticate': challenge }).end('{}');

ifPossible('a redirect to an open address is followed, without credentials', async () => {
  const storage = await registryWith();
  const registry = await registryWith(image, (req, res, path) => {
    if (req.headers.authorization !== basic) return refused(res, 'Basic realm="here"');
    return isLayer(path) && moved(res, `http://somebody:else@${storage.host}${path}`);
  });
  await works(registry, {}, { auth });
  expect(storage.asked.map(({ authorization }) => authorization)).toEqual([undefined]);
});

/** A registry that demands a token, from that address. */
function demanding(realm: (host: string) => string): Instead {
  return (req: IncomingMessage, res, path) => {
    if (path.startsWith('/token'))
      return !!res.end(JSON.stringify({ token: req.headers.authorization ?? 'anonymous' }));
    if (req.headers.authorization?.startsWith('Bearer Basic')) return false;
    return refused(res, `Bearer realm="${realm(req.headers.host ?? '')}",service="a \\"b\\"",scope="x"`);
  };
}

ifPossible('a token is requested with the credentials, for this image only', async () => {
  const registry = await registryWith(image, (req, res, path) => {
    if (path.startsWith('/token')) return !!res.end(JSON.stringify({ access_token: 'the-token' }));
    return (
      req.headers.authorization !== 'Bearer the-token' &&
      refused(res, `Bearer realm="http://${req.headers.host}/token?a=b",service="it"`)
    );
  });
  await works(registry, {}, { auth });
  const [asked, ...more] = registry.asked.filter(({ path }) => path.startsWith('/token'));
  expect(asked).toEqual({ path: '/token?a=b&scope=repository%3Aapp%3Apull&service=it', authorization: basic });
  expect(more).toEqual([]);
});

ifPossible('a token service that the credentials are not for does not get them', async () => {
  const attacker = await registryWith(
    image,
    demanding(() => ''),
  );
  const registry = await registryWith(
    image,
    demanding(() => `http://${attacker.host}/token`),
  );
  const onlyHere = credentials('somebody', password, [registry.host]);
  await expect(takeFrom(registry, {}, { auth: onlyHere })).rejects.toThrow(`not for ${attacker.host}`);
  expect(attacker.asked).toEqual([]);
});

ifPossible('a registry that the credentials are not for is not contacted', async () => {
  const registry = await registryWith();
  const elsewhere = credentials('somebody', password, ['registry.example.org']);
  await expect(takeFrom(registry, {}, { auth: elsewhere })).rejects.toThrow(`not for ${registry.host}`);
  expect(registry.asked).toEqual([]);
});

ifPossible.each(['http://registry.example.org/token', 'https://10.0.0.1/token', 'no address', ''])(
  'a token service at %j is not contacted',
  async (realm) => {
    const registry = await registryWith(
      image,
      demanding(() => realm),
    );
    await expect(takeFrom(registry, {}, { auth })).rejects.toThrow(/not an https:\/\/ address|private or reserved/);
  },
);

ifPossible('wrong and missing credentials get different messages, without the credentials', async () => {
  const registry = await registryWith(image, (_req, res) => refused(res, 'Basic realm="here"'));
  await expect(takeFrom(registry)).rejects.toThrow(/requires credentials for 127.*imageAuth/);
  const failed = await takeFrom(registry, {}, { auth }).catch((error: Error) => error);
  expect(String(failed)).toMatch(/refused the credentials of imageAuth for .* \(HTTP 401\)/);
  expect(JSON.stringify(failed)).not.toContain(password);
});

ifPossible('who has not been admitted does not get an image that is kept', async () => {
  const registry = await registryWith(
    image,
    (req, res) => req.headers.authorization !== basic && refused(res, 'Basic'),
  );
  const images = await openImages();
  const name = `${registry.host}/app@${image.digest}`;
  const taken = await take(images, name, { auth });
  await expect(take(images, name)).rejects.toThrow('requires credentials');
  taken.release();
  while ((await images.trim(0)) > 0) await new Promise((resolve) => setImmediate(resolve));
});

ifPossible('a registry that serves only the manifest and configuration of a kept image does not get it', async () => {
  const registry = await registryWith(
    image,
    (req, res) => req.headers.authorization !== basic && refused(res, 'Basic'),
  );
  const attacker = await registryWith(image, (_req, res, path) => isLayer(path) && !!res.writeHead(404).end());
  const images = await openImages();
  const taken = await take(images, `${registry.host}/app:1`, { auth });
  for (const given of [undefined, auth, credentials('somebody', 'another password')])
    await expect(take(images, `${attacker.host}/app:1`, { auth: given })).rejects.toThrow('has no image');
  taken.release();
  while ((await images.trim(0)) > 0) await new Promise((resolve) => setImmediate(resolve));
});

ifPossible('a kept image is used again with the same credentials only', async () => {
  const registry = await serve({ 'app:1': image, 'other/app:1': image });
  const images = await openImages();
  const layersAsked = () => registry.asked.filter(({ path }) => isLayer(path)).length;
  const counts: number[] = [];
  const all: { release(): void }[] = [];
  const other = credentials('somebody', 'another password');
  for (const [name, given] of [
    ['app', auth],
    ['app', auth],
    ['app', other],
    ['app', undefined],
    ['other/app', auth],
  ] as const) {
    all.push(await take(images, `${registry.host}/${name}:1`, { auth: given }));
    counts.push(layersAsked());
  }
  expect(counts).toEqual([1, 1, 2, 3, 4]);
  for (const each of all) each.release();
  while ((await images.trim(0)) > 0) await new Promise((resolve) => setImmediate(resolve));
});
