import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { serveGit } from '../../../demo/github/git/git-server.ts';
import { serveLfs } from '../../../demo/github/git/lfs-server.ts';
import type { App } from '../../../src/app.ts';
import { type Choosing, chooseFiles } from '../../../src/environment/files/choose-files.ts';
import type { Checkout } from '../../../src/git/engine.ts';
import { nativeGit } from '../../../src/git/native/native.ts';
import { noProxies } from '../../../src/host/proxies.ts';
import { noSettings } from '../../../src/repositories/settings/repository-settings.ts';
import { objectionsTo } from '../../../src/worker/leaving/scan-change.ts';
import { filesBetween } from '../../../src/worker/workspace/stored-files.ts';
import { gitOut } from '../../support/git.ts';

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const pointer = (content: string | Buffer) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(content)}\nsize ${Buffer.byteLength(content)}\n`;
const ref = 'refs/heads/agent/x';

let root: string;
let bare: string;
let server: Server;
let other: Server;
let url: string;
let otherUrl: string;
/** What the host was asked: method, kind and object. */
const seen: string[] = [];
const otherSeen: string[] = [];
/** Makes requests fail with a status. */
let fault: (what: string) => number | undefined = () => undefined;
/** Changes the addresses in the host's answers. */
let moved: ((href: string) => string) | undefined;
const checkouts: Checkout[] = [];

const listening = async (made: Server) => {
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
};
const nameOf = ({ method, url: path = '' }: IncomingMessage) =>
  `${method} ${/batch$/.test(path) ? 'batch' : /verify$/.test(path) ? 'verify' : 'object'}`;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'deckhand-lfs-upload-'));
  bare = join(root, 'bare.git');
  const host = {
    find: async (_name: string, token: string | undefined) => (token?.startsWith('run-token') ? bare : undefined),
    mayPush: async (_name: string, token: string) => token === 'run-token',
    beforeAdvertising: async () => {},
    push: (_n: string, _t: string, r: () => Promise<Buffer>) => r(),
  };
  server = createServer(async (req, res) => {
    if (req.url?.includes('/info/lfs/')) {
      const what = nameOf(req);
      seen.push(what);
      const status = fault(what);
      if (status !== undefined) return res.writeHead(status).end();
      if (moved !== undefined && what === 'POST batch') {
        const end = res.end.bind(res);
        const change = moved;
        res.end = ((text: string) =>
          end(String(text).replace(/"href":"([^"]+)"/g, (_all, href) => `"href":"${change(href)}"`))) as never;
      }
    }
    if (!(await serveLfs(host, req, res)) && !(await serveGit(host, req, res))) res.writeHead(404).end();
  });
  other = createServer((req, res) => {
    otherSeen.push(`${req.method} ${req.headers.authorization ?? 'without'}`);
    res.writeHead(200).end();
  });
  url = await listening(server);
  otherUrl = await listening(other);
});
afterAll(() => {
  for (const each of [server, other]) {
    each.close();
    each.closeAllConnections();
  }
  rmSync(root, { recursive: true, force: true });
});
afterEach(async () => {
  for (const checkout of checkouts.splice(0)) await checkout.close();
  seen.splice(0);
  otherSeen.splice(0);
  fault = () => undefined;
  moved = undefined;
});

const put = (folder: string, files: Record<string, string | Buffer>) => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
};

/** Makes the repository with these files and objects, and a checkout of it. */
async function begin(files: Record<string, string> = {}, objects: string[] = []) {
  const work = join(root, 'work');
  for (const folder of [work, bare]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(work);
  gitOut(work, 'init', '-q', '-b', 'main');
  put(work, { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', ...files });
  gitOut(work, 'add', '-A');
  gitOut(work, 'commit', '-q', '-m', 'c');
  gitOut(root, 'clone', '-q', '--bare', '-c', 'uploadpack.allowAnySHA1InWant=true', work, bare);
  gitOut(bare, 'config', 'http.receivepack', 'true');
  for (const content of objects) {
    const oid = sha256(content);
    put(bare, { [`lfs/objects/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`]: content });
  }
  return clone();
}

async function clone({ token = 'run-token', paths = [] as string[], isOpen = false } = {}) {
  const config = { GITHUB_SERVER_URL: url, ALLOW_PRIVATE_HOSTS: isOpen, proxies: noProxies };
  const app = { git: nativeGit(), config, egress: { defaultHosts: async () => [] } } as unknown as App;
  const settings = { ...noSettings, checkout: { submodules: false, lfs: true, paths } };
  const remote = { url: `${url}/mona/main`, token };
  const given: Choosing = { app, settings, remote, signal: AbortSignal.timeout(60_000) };
  const place = mkdtempSync(join(root, 'c-'));
  const folders = { gitDir: join(place, 'git'), workTree: join(place, 'work') };
  const checkout = await app.git.open(remote, folders, given.signal);
  checkouts.push(checkout);
  const head = (await checkout.fetch('main')) ?? '';
  await chooseFiles(checkout, given);
  await checkout.checkout(head);
  await checkout.remember();
  seen.splice(0);
  const base = await checkout.treeOf(head);
  const changes = async () => {
    const tree = await checkout.snapshot();
    return { tree, changes: await checkout.changes(base, tree) };
  };
  const upload = async () => {
    const { tree, changes: found } = await changes();
    await checkout.largeFiles?.upload(tree, found, ref);
    return tree;
  };
  return {
    checkout,
    head,
    base,
    place,
    changes,
    upload,
    write: (files: Record<string, string | Buffer>) => put(folders.workTree, files),
  };
}

const isOnHost = (content: string | Buffer) => {
  const oid = sha256(content);
  return existsSync(join(bare, 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid));
};
const pushed = async ({ checkout, head }: Awaited<ReturnType<typeof clone>>, tree: string) => {
  const author = { name: 'a', email: 'a@b' };
  await checkout.push(
    await checkout.commit({ tree, parents: [head], message: 'm', author, at: new Date('2026-01-01') }),
    'agent/x',
  );
};

test('new and changed files are pointers in the tree, have contents in copies, and are uploaded before the push', async () => {
  const each = await begin({ 'old.bin': pointer('old\n') }, ['old\n']);
  const image = randomBytes(300_000);
  each.write({ 'old.bin': 'changed\n', 'in/new.bin': image, 'empty.bin': '', 'a.txt': 'text\n' });
  const { tree, changes } = await each.changes();
  const text = async (path: string) => (await each.checkout.readFile(await commitOf(each, tree), path))?.toString();
  expect([await text('old.bin'), await text('in/new.bin'), await text('empty.bin'), await text('a.txt')]).toEqual([
    pointer('changed\n'),
    pointer(image),
    '',
    'text\n',
  ]);
  const copy = join(each.place, 'copy');
  mkdirSync(copy);
  await each.checkout.export(tree, copy);
  expect(readFileSync(join(copy, 'in/new.bin')).equals(image)).toBe(true);
  expect([isOnHost('changed\n'), isOnHost(image), changes.length]).toEqual([false, false, 4]);
  await each.upload();
  expect([isOnHost('changed\n'), isOnHost(image)]).toEqual([true, true]);
  expect(seen.sort()).toEqual(['POST batch', 'POST verify', 'POST verify', 'PUT object', 'PUT object']);
  // What the host has already is not sent again.
  seen.splice(0);
  await each.upload();
  expect(seen).toEqual(['POST batch']);
});

async function commitOf({ checkout, head }: Awaited<ReturnType<typeof clone>>, tree: string): Promise<string> {
  return checkout.commit({
    tree,
    parents: [head],
    message: 'm',
    author: { name: 'a', email: 'a@b' },
    at: new Date('2026-01-01'),
  });
}

const hasGitLfs = spawnSync('git-lfs', ['version']).status === 0;
// The name says why it is skipped.
(hasGitLfs ? test : test.skip)(
  hasGitLfs
    ? 'git-lfs finds the contents of what was pushed'
    : 'git-lfs is not installed, so it cannot clone what was pushed',
  async () => {
    const each = await begin();
    const image = randomBytes(100_000);
    each.write({ 'in/new.bin': image });
    await pushed(each, await each.upload());
    const home = mkdtempSync(join(root, 'home-'));
    const env = { PATH: process.env.PATH, HOME: home, GIT_TERMINAL_PROMPT: '0' };
    const run = async (...args: string[]) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { execFile } = await import('node:child_process');
      execFile('git', args, { env, cwd: home }, (error, out, err) => {
        if (error) throw new Error(`${err}${out}`);
        resolve();
      });
      await promise;
    };
    await run('lfs', 'install', '--skip-repo');
    await run('clone', '-q', '-b', 'agent/x', `${url.replace('//', '//x:run-token@')}/mona/main.git`, 'c');
    expect(readFileSync(join(home, 'c/in/new.bin')).equals(image)).toBe(true);
    // Its pointers are the same blobs.
    const made = execFileSync('git', ['lfs', 'pointer', '--file=in/new.bin'], { env, cwd: join(home, 'c') });
    expect(made.toString()).toContain(pointer(image).split('\n')[1]);
    expect(execFileSync('git', ['status', '--porcelain'], { env, cwd: join(home, 'c') }).toString()).toBe('');
  },
);

test('a host that fails in the middle: nothing is pushed, and the next attempt sends what is missing', async () => {
  const each = await begin();
  const files = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`${i}.bin`, `content ${i}\n`]));
  each.write(files);
  let puts = 0;
  fault = (what) => (what === 'PUT object' && ++puts === 3 ? 503 : undefined);
  await expect(each.upload()).rejects.toMatchObject({ fault: 'unreachable' });
  const before = Object.values(files).filter(isOnHost).length;
  expect(before).toBeLessThan(6);
  seen.splice(0);
  fault = () => undefined;
  await each.upload();
  expect(seen.filter((what) => what === 'PUT object')).toHaveLength(6 - before);
  expect(Object.values(files).every(isOnHost)).toBe(true);
});

test('a worker that takes over has the contents again, and uploads what the first one did not', async () => {
  const first = await begin();
  const image = randomBytes(50_000);
  first.write({ 'a.bin': 'a\n', 'b.bin': image });
  let puts = 0;
  fault = (what) => (what === 'PUT object' && ++puts === 2 ? 503 : undefined);
  await expect(first.upload()).rejects.toThrow();
  fault = () => undefined;
  const { tree } = await first.changes();
  const stored = await filesBetween(first.checkout, first.base, tree);
  expect(stored.map(({ content }) => Buffer.from(content ?? '', 'base64').length)).toEqual([2, 50_000]);
  const second = await clone();
  second.write(Object.fromEntries(stored.map(({ path, content }) => [path, Buffer.from(content ?? '', 'base64')])));
  expect(await second.upload()).toBe(tree);
  expect([isOnHost('a\n'), isOnHost(image)]).toEqual([true, true]);
});

test.each([
  [401, 'it does not accept the token'],
  [403, 'the GitHub App or the git token may not write to Git LFS here, or the quota of the account is used up'],
  [413, 'it is too large for this host'],
  [422, 'the host calls it invalid'],
  [507, 'the host has no space left'],
  [301, 'the host refuses it'],
])('a host that refuses with %i, at the request for uploads or at one of them', async (status, why) => {
  for (const refusing of ['POST batch', 'PUT object', 'POST verify']) {
    const each = await begin();
    each.write({ 'a.bin': 'a\n' });
    fault = (what) => (what === refusing ? status : undefined);
    await expect(each.upload()).rejects.toMatchObject({
      failure: { category: 'push_rejected' },
      message: expect.stringContaining(`could not be uploaded, so nothing was pushed: ${why}`),
    });
  }
});

test('a token that may only read is refused', async () => {
  await begin();
  const each = await clone({ token: 'run-token-read' });
  each.write({ 'a.bin': 'a\n' });
  await expect(each.upload()).rejects.toThrow(/could not be uploaded.*\(HTTP 403\)/);
  expect(isOnHost('a\n')).toBe(false);
});

test('addresses of other hosts must be public, and get no token', async () => {
  await begin();
  moved = (href) => href.replace(url, otherUrl);
  const closed = await clone();
  closed.write({ 'a.bin': 'a\n' });
  await expect(closed.upload()).rejects.toMatchObject({ failure: { category: 'repository' } });
  expect(otherSeen).toEqual([]);
});

test('only pointers whose objects are known are pushed, and a change has a limit', async () => {
  const each = await begin();
  each.write({ 'a.bin': 'a\n' });
  const { tree, changes } = await each.changes();
  // Another checkout knows nothing about the contents.
  const unknowing = await clone();
  const objects = join(unknowing.checkout.gitDir, 'objects');
  cpSync(join(each.checkout.gitDir, 'objects'), objects, { recursive: true, force: false });
  await expect(unknowing.checkout.largeFiles?.upload(tree, changes, ref)).rejects.toMatchObject({
    failure: { category: 'internal' },
    message: expect.stringContaining('the contents of a.bin are not known, so nothing was pushed'),
  });
  each.write(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`${i}.bin`, `${i}\n`])));
  await expect(each.checkout.snapshot()).rejects.toThrow(
    /has 102 new files in Git LFS with 1 MB; at most 100 with 100 MB/,
  );
});

test('contents are searched for credentials, and binary files are allowed', async () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const each = await begin({ 'old.bin': pointer(`x ${token}\n`) }, [`x ${token}\n`]);
  each.write({
    'image.bin': Buffer.concat([Buffer.of(0, 1, 2), randomBytes(6_000_000)]),
    'image.raw': Buffer.of(0, 1, 2),
    'live.bin': `${'\0'.repeat(100)}the-live-secret-of-the-run`,
    'shape.bin': `y ${token}\n`,
    // It had this one before.
    'old.bin': `changed ${token}\n`,
  });
  const { changes } = await each.changes();
  const objections = await objectionsTo(each.checkout, changes, ['the-live-secret-of-the-run']);
  expect(Object.fromEntries(objections.map(({ path, reason }) => [path, reason]))).toEqual({
    'live.bin': 'contains a live credential',
    'shape.bin': expect.stringMatching(/^contains what looks like/),
  });
});

test('a new file outside of the chosen folders, and a .gitattributes in a folder of its own', async () => {
  await begin({ 'a/x.txt': 'x', 'b/y.txt': 'y', 'a/.gitattributes': '*.psd filter=lfs -text\n' });
  const each = await clone({ paths: ['a'] });
  each.write({ 'c/new.bin': 'new\n', 'a/b.psd': 'b\n', 'c/c.psd': 'not in lfs\n' });
  const { tree } = await each.changes();
  const copy = join(each.place, 'copy');
  mkdirSync(copy);
  await each.checkout.export(tree, copy);
  expect(readFileSync(join(copy, 'c/new.bin'), 'utf8')).toBe('new\n');
  await each.upload();
  expect([isOnHost('new\n'), isOnHost('b\n'), isOnHost('not in lfs\n')]).toEqual([true, true, false]);
});
