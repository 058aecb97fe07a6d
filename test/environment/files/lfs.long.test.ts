import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { serveGit } from '../../../demo/github/git/git-server.ts';
import type { App } from '../../../src/app.ts';
import { assertLfs, type Choosing, chooseFiles, toldOfFiles } from '../../../src/environment/files/choose-files.ts';
import { pointerIn } from '../../../src/environment/files/lfs-pointer.ts';
import type { Checkout } from '../../../src/git/engine.ts';
import { nativeGit } from '../../../src/git/native/native.ts';
import { noProxies } from '../../../src/host/proxies.ts';
import { noSettings } from '../../../src/repositories/settings/repository-settings.ts';
import { gitOut } from '../../support/git.ts';
import { longestBlock } from '../../support/machine/processor-time.ts';

const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');
const pointer = (content: string, size = Buffer.byteLength(content)) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(content)}\nsize ${size}\n`;

let root: string;
let server: Server;
let other: Server;
let url: string;
let otherUrl: string;
/** The objects of the host, by SHA-256. */
const objects = new Map<string, string>();
const seen: string[] = [];
/** Changes what the host answers. */
let answers: { status?: number; href?: (oid: string) => string; header?: Record<string, string> } = {};
const checkouts: Checkout[] = [];

const listening = async (made: Server) => {
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
};

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'deckhand-lfs-'));
  const bare = join(root, 'bare.git');
  const find = async (_name: string, token: string | undefined) => (token === 'run-token' ? bare : undefined);
  const git = {
    find,
    beforeAdvertising: async () => {},
    push: (_n: string, _t: string, r: () => Promise<Buffer>) => r(),
  };
  // Git LFS as docs/api/batch.md and docs/api/basic-transfers.md of git-lfs describe it.
  server = createServer(async (req, res) => {
    if (await serveGit(git, req, res)) return;
    seen.push(`${req.method} ${req.url} ${req.headers.authorization ?? 'without'}`);
    if (req.url === '/mona/main.git/info/lfs/objects/batch') {
      const asked = JSON.parse(await text(req)) as { operation: string; objects: { oid: string; size: number }[] };
      const type = 'application/vnd.git-lfs+json';
      const isRight =
        asked.operation === 'download' && req.headers.accept === type && req.headers['content-type'] === type;
      res.writeHead(isRight ? (answers.status ?? 200) : 422, { 'Content-Type': type });
      const { href = (oid: string) => `${url}/objects/${oid}`, header } = answers;
      const answered = asked.objects.map(({ oid, size }) =>
        objects.has(oid)
          ? { oid, size, actions: { download: { href: href(oid), header } } }
          : { oid, size, error: { code: 404, message: 'Object does not exist' } },
      );
      return res.end(JSON.stringify({ transfer: 'basic', objects: answered, hash_algo: 'sha256' }));
    }
    const content = objects.get(req.url?.slice('/objects/'.length) ?? '');
    return res.writeHead(content === undefined ? 404 : 200).end(content);
  });
  other = createServer((req, res) => {
    seen.push(`other ${req.url} ${req.headers.authorization ?? 'without'}`);
    res.end(objects.get(req.url?.slice(1) ?? ''));
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
  objects.clear();
  answers = {};
});

async function clone(
  files: Record<string, string>,
  more: Partial<Choosing['settings']['checkout']> = {},
  isOpen = false,
) {
  const [work, bare] = [join(root, 'work'), join(root, 'bare.git')];
  for (const folder of [work, bare]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(work);
  gitOut(work, 'init', '-q', '-b', 'main');
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), content);
  }
  gitOut(work, 'add', '-A');
  gitOut(work, 'commit', '-q', '-m', 'c');
  gitOut(root, 'clone', '-q', '--bare', '-c', 'uploadpack.allowAnySHA1InWant=true', work, bare);
  const config = { GITHUB_SERVER_URL: url, ALLOW_PRIVATE_HOSTS: isOpen, proxies: noProxies };
  const app = { git: nativeGit(), config, egress: { defaultHosts: async () => [] } } as unknown as App;
  const settings = { ...noSettings, checkout: { submodules: false, lfs: true, paths: [], ...more } };
  const remote = { url: `${url}/mona/main`, token: 'run-token' };
  const given: Choosing = { app, settings, remote, signal: AbortSignal.timeout(60_000) };
  const place = mkdtempSync(join(root, 'c-'));
  const folders = { gitDir: join(place, 'git'), workTree: join(place, 'work') };
  const checkout = await given.app.git.open(remote, folders, given.signal);
  checkouts.push(checkout);
  const head = (await checkout.fetch('main')) ?? '';
  await chooseFiles(checkout, given);
  const at = (path: string) => join(place, 'work', path);
  return { checkout, head, place, given, at, read: (path: string) => readFileSync(at(path), 'utf8') };
}

/** Returns how many blobs are read, and of which size at most, each time when a checkout is asked for some. */
function readsOf(checkout: Checkout): [count: number, most: number | undefined][] {
  const reads: [number, number | undefined][] = [];
  const { readBlobs } = checkout;
  checkout.readBlobs = (oids, most) => {
    reads.push([oids.length, most]);
    return readBlobs(oids, most);
  };
  return reads;
}

const attributes = '*.bin filter=lfs diff=lfs merge=lfs -text\n';
const basic = `Basic ${Buffer.from('x-access-token:run-token').toString('base64')}`;

test('files in Git LFS have their contents in the workspace and in copies, and pointers in trees', async () => {
  for (const content of ['first\n', 'second\n']) objects.set(sha256(content), content);
  const files = {
    '.gitattributes': attributes,
    '.lfsconfig': `[lfs]\n\turl = ${otherUrl}/evil\n\tfetchexclude = *\n`,
    'a.bin': pointer('first\n'),
    'in/b.bin': pointer('second\n'),
    'docs/example.txt': pointer('not in lfs'),
    'plain.bin': 'never migrated\n',
  };
  const { checkout, head, place, read } = await clone(files);
  await checkout.checkout(head);
  await checkout.remember();
  expect([read('a.bin'), read('in/b.bin')]).toEqual(['first\n', 'second\n']);
  expect([read('docs/example.txt'), read('plain.bin')]).toEqual([pointer('not in lfs'), 'never migrated\n']);
  expect(await checkout.snapshot()).toBe(await checkout.treeOf(head));
  const status = gitOut(
    place,
    `--git-dir=${checkout.gitDir}`,
    `--work-tree=${checkout.workTree}`,
    'status',
    '--porcelain',
  );
  expect(status).toBe('');
  const copy = join(place, 'copy');
  mkdirSync(copy);
  await checkout.export(await checkout.treeOf(head), copy);
  expect(readFileSync(join(copy, 'in/b.bin'), 'utf8')).toBe('second\n');
  // One request for both objects, each downloaded once, from this repository only.
  expect(seen.map((each) => each.replace(/[0-9a-f]{64}/, 'oid'))).toEqual([
    `POST /mona/main.git/info/lfs/objects/batch ${basic}`,
    `GET /objects/oid ${basic}`,
    `GET /objects/oid ${basic}`,
  ]);
});

test('touching, copying, moving and deleting a file keeps pointers whose objects exist', async () => {
  objects.set(sha256('first\n'), 'first\n').set(sha256('second\n'), 'second\n');
  const { checkout, head, at } = await clone({
    '.gitattributes': attributes,
    'a.bin': pointer('first\n'),
    'b.bin': pointer('second\n'),
  });
  await checkout.checkout(head);
  await checkout.remember();
  writeFileSync(at('a.bin'), 'first\n');
  expect(await checkout.snapshot()).toBe(await checkout.treeOf(head));
  copyFileSync(at('a.bin'), at('copy.bin'));
  rmSync(at('b.bin'));
  writeFileSync(at('empty.bin'), '');
  const tree = await checkout.snapshot();
  const changes = await checkout.changes(await checkout.treeOf(head), tree);
  expect(changes.map(({ path, newMode }) => `${newMode} ${path}`)).toEqual([
    '000000 b.bin',
    '100644 copy.bin',
    '100644 empty.bin',
  ]);
  const { newOid = '' } = changes[1] ?? {};
  expect((await checkout.readBlobs([newOid])).get(newOid)?.toString()).toBe(pointer('first\n'));
});

test('a pointer to an object that nobody has here cannot be pushed', async () => {
  objects.set(sha256('first\n'), 'first\n');
  const { checkout, head, at } = await clone({ '.gitattributes': attributes, 'a.bin': pointer('first\n') });
  await checkout.checkout(head);
  await checkout.remember();
  writeFileSync(at('a.bin'), pointer('elsewhere'));
  await expect(checkout.snapshot()).rejects.toThrow(
    'a.bin is a pointer of Git LFS to contents that are not in this repository; write the contents into the file',
  );
});

test('an object that the host does not have, at validation and on the task, and nothing half done', async () => {
  objects.set(sha256('first\n'), 'first\n');
  const files = { '.gitattributes': attributes, 'a.bin': pointer('first\n'), 'b.bin': pointer('gone\n') };
  const { checkout, head, given, read } = await clone(files);
  const why = `Git LFS: the host does not have the object of b.bin (404), sha256 ${sha256('gone\n')}; push it with git lfs push`;
  await expect(assertLfs(checkout, given, head)).rejects.toThrow(why);
  await expect(checkout.checkout(head)).rejects.toMatchObject({ message: why, failure: { category: 'repository' } });
  expect(read('a.bin')).toBe(pointer('first\n'));
});

test('contents that are not what the pointer names are discarded', async () => {
  for (const wrong of ['other\n', 'longer than that\n', '']) {
    objects.set(sha256('first\n'), wrong);
    const { checkout, head, place } = await clone({ '.gitattributes': attributes, 'a.bin': pointer('first\n') });
    await expect(checkout.checkout(head)).rejects.toThrow('what the host sent for a.bin is not what its pointer names');
    expect(existsSync(join(place, 'lfs/objects', sha256('first\n')))).toBe(false);
    expect(existsSync(join(place, 'lfs/objects', `${sha256('first\n')}.part`))).toBe(false);
  }
});

test('the token is not sent to another host, and private addresses are refused', async () => {
  objects.set(sha256('first\n'), 'first\n');
  answers = { href: (oid) => `${otherUrl}/${oid}` };
  const files = { '.gitattributes': attributes, 'a.bin': pointer('first\n') };
  const closed = await clone(files);
  await expect(closed.checkout.checkout(closed.head)).rejects.toMatchObject({ failure: { category: 'repository' } });
  expect(seen.filter((each) => each.startsWith('other'))).toEqual([]);
  const opened = await clone(files, {}, true);
  await opened.checkout.checkout(opened.head);
  answers = { ...answers, header: { Authorization: 'RemoteAuth x' } };
  const named = await clone(files, {}, true);
  await named.checkout.checkout(named.head);
  expect(seen.filter((each) => each.startsWith('other')).map((each) => each.split(' ').slice(2).join(' '))).toEqual([
    'without',
    'RemoteAuth x',
  ]);
});

test.each([
  [404, { failure: { category: 'repository' } }],
  [403, { failure: { category: 'repository' } }],
  [301, { failure: { category: 'repository' } }],
  [503, { fault: 'unreachable' }],
  [429, { fault: 'unreachable' }],
])('the host answers with HTTP %i', async (status, error) => {
  answers = { status };
  const { checkout, head } = await clone({ '.gitattributes': attributes, 'a.bin': pointer('first\n') });
  await expect(checkout.checkout(head)).rejects.toMatchObject(error);
});

test('too many bytes are refused before anything is downloaded; only chosen folders count', async () => {
  objects.set(sha256('first\n'), 'first\n');
  const files = {
    '.gitattributes': attributes,
    'a/a.bin': pointer('first\n'),
    'b/b.bin': pointer('huge', 3_000_000_000),
  };
  const whole = await clone(files);
  await expect(whole.checkout.checkout(whole.head)).rejects.toThrow(
    /2 files have 3001 MB, which is more than 2000 MB; limit checkout.paths/,
  );
  expect(seen).toEqual([]);
  const part = await clone(files, { paths: ['a'] });
  await part.checkout.checkout(part.head);
  expect(part.read('a/a.bin')).toBe('first\n');
  expect(toldOfFiles(part.given.settings)).toMatch(/Files in Git LFS have their contents/);
});

test('too many files that .gitattributes assigns to Git LFS are refused before any is read', async () => {
  const { checkout, given } = await clone({ 'a.txt': 'a\n' });
  const parts = ['blob\nmark :1\ndata 2\nx\n\ncommit refs/heads/many\ncommitter a <a@b> 0 +0000\ndata 1\nc\n'];
  parts.push('M 100644 inline .gitattributes\ndata 13\n* filter=lfs\n\n');
  for (let i = 0; i < 30_000; i++) parts.push(`M 100644 :1 ${Math.floor(i / 1000)}/${i}\n`);
  execFileSync('git', ['fast-import', '--quiet'], { cwd: join(root, 'bare.git'), input: parts.join('') });
  const many = (await checkout.fetch('many')) ?? '';
  const reads = readsOf(checkout);
  const refused = {
    failure: { category: 'repository' },
    message:
      'Git LFS: .gitattributes assigns 30001 files, which is more than 10000; limit checkout.paths in .deckhand.yml',
  };
  const block = await longestBlock(() => expect(assertLfs(checkout, given, many)).rejects.toMatchObject(refused));
  expect(reads).toEqual([]);
  expect(block).toBeLessThan(200);
});

test('files are looked at in portions, and only those that can be pointers are read', async () => {
  objects.set(sha256('first\n'), 'first\n');
  const { checkout, given } = await clone({ 'a.txt': 'a\n' });
  const parts = ['commit refs/heads/many\ncommitter a <a@b> 0 +0000\ndata 1\nc\n'];
  parts.push('M 100644 inline .gitattributes\ndata 13\n* filter=lfs\n\n');
  for (let i = 0; i < 1200; i++) {
    const content = i === 700 ? pointer('first\n') : `${i} ${'x'.repeat(i)}`;
    parts.push(`M 100644 inline ${i}\ndata ${content.length}\n${content}\n`);
  }
  execFileSync('git', ['fast-import', '--quiet'], { cwd: join(root, 'bare.git'), input: parts.join('') });
  const many = (await checkout.fetch('many')) ?? '';
  const reads = readsOf(checkout);
  await assertLfs(checkout, given, many);
  expect(reads).toEqual([
    [500, 1024],
    [500, 1024],
    [201, 1024],
  ]);
  expect(seen).toEqual([`POST /mona/main.git/info/lfs/objects/batch ${basic}`]);
});

test('only real pointers are pointers', () => {
  expect(pointerIn(Buffer.from(pointer('x')))).toEqual({ oid: sha256('x'), size: 1 });
  for (const wrong of [
    '',
    'x',
    pointer('x').replace('sha256', 'md5'),
    `${pointer('x')}more`,
    pointer('x').replace('1\n', '-1\n'),
  ])
    expect(pointerIn(Buffer.from(wrong))).toBeUndefined();
});
