import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../demo/settings.ts';
import { type MadeImage, makeImage, smallSystem } from './stand-ins/made-image.ts';
import { openPlace } from './stand-ins/place.ts';
import { credentials } from './stand-ins/registry.ts';

const place = openPlace();
afterAll(() => place.close());

const images = await place.openImages();
const program = ['/usr/bin/docker-registry', '/usr/local/bin/docker-registry'].find((path) => existsSync(path));
const missing = images.state.works
  ? program === undefined
    ? 'docker-registry is not installed'
    : ''
  : images.state.says;
if (missing !== '') console.warn(`pulling from a real registry is not tested: ${missing}`);
const ifPossible = missing === '' ? test : test.skip;

const auth = { username: 'somebody', password: 'a password of tests' };
const authorization = `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
/** The password above, as `htpasswd -B` writes it. */
const hashed = '$2b$05$7y38xN.rhWuxz0svf5lFke5vLdKHu9o4W6NY/GwPm/L93piBy9s6O';

/** Starts Debian's registry, which demands a password. */
async function startDockerRegistry() {
  const folder = join(place.folder, 'registry');
  mkdirSync(folder);
  const host = `127.0.0.1:${await freePort()}`;
  writeFileSync(join(folder, 'htpasswd'), `${auth.username}:${hashed}\n`);
  const config = {
    version: 0.1,
    storage: { filesystem: { rootdirectory: folder }, delete: { enabled: true } },
    http: { addr: host },
    auth: { htpasswd: { realm: 'tests', path: join(folder, 'htpasswd') } },
    log: { level: 'error' },
  };
  // JSON is YAML too.
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(config));
  const child = spawn(program ?? '', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const answers = () =>
    fetch(`http://${host}/v2/`).then(
      ({ status }) => status === 401,
      () => false,
    );
  while (!(await answers())) await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    host,
    call: async (
      method: string,
      url: string,
      body: Buffer | string | null = null,
      headers: Record<string, string> = {},
    ) => {
      const answer = await fetch(new URL(url, `http://${host}`), {
        method,
        headers: { authorization, ...headers },
        body,
      });
      if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
      return answer.headers.get('location') ?? '';
    },
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

type DockerRegistry = Awaited<ReturnType<typeof startDockerRegistry>>;

async function push({ call }: DockerRegistry, { blobs, manifest, mediaType }: MadeImage, name: string, tag: string) {
  for (const [digest, blob] of blobs) {
    const upload = await call('POST', `/v2/${name}/blobs/uploads/`);
    await call('PUT', `${upload}&digest=${digest}`, blob, { 'Content-Type': 'application/octet-stream' });
  }
  await call('PUT', `/v2/${name}/manifests/${tag}`, manifest, { 'Content-Type': mediaType });
}

/** Runs a command on an image as an ordinary user, who must be able to read all of it. */
function runOn(root: string, command: string): string {
  chmodSync(place.folder, 0o711);
  const who = process.getuid?.() === 0 ? { uid: 61_999, gid: 61_999 } : {};
  const args = ['--unshare-all', '--cap-drop', 'ALL', '--ro-bind', root, '/', '/bin/sh', '-c', command];
  return execFileSync('bwrap', args, { ...who, encoding: 'utf8', cwd: '/', env: { PATH: '/usr/bin:/bin' } });
}

ifPossible('an image is made, pushed, pulled, run, updated and removed', async () => {
  const registry = await startDockerRegistry();
  try {
    const version = (text: string) => makeImage([smallSystem(), [{ name: 'etc/version', content: text }]]);
    const signal = new AbortController().signal;
    const take = () =>
      images.take(`${registry.host}/team/app:1`, credentials(auth.username, auth.password), signal, () => {});
    await push(registry, version('one'), 'team/app', '1');
    const one = await take();
    expect(runOn(one.root, 'read x < /etc/version; echo $x')).toBe('one\n');
    await push(registry, version('two'), 'team/app', '1');
    const two = await take();
    expect(runOn(two.root, 'read x < /etc/version; echo $x')).toBe('two\n');
    await expect(images.take(`${registry.host}/team/app:1`, undefined, signal, () => {})).rejects.toThrow('imageAuth');
    await registry.call('DELETE', `/v2/team/app/manifests/${two.digest}`);
    await expect(take()).rejects.toMatchObject({
      failure: { category: 'setup', message: expect.stringContaining('has no image') },
    });
    one.release();
    two.release();
    while ((await images.trim(0)) > 0) await new Promise((resolve) => setImmediate(resolve));
    expect([one, two].map(({ root }) => existsSync(root))).toEqual([false, false]);
  } finally {
    await registry.close();
  }
});
