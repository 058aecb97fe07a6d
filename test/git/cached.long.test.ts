import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Checkout } from '../../src/git/engine.ts';
import { cached } from '../../src/git/native/cached.ts';
import { nativeGit } from '../../src/git/native/native.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';

type Host = Awaited<ReturnType<typeof serveSampleRepository>>;
let host: Host;
let root: string;
let n = 0;
const opened: Checkout[] = [];
beforeEach(async () => {
  host = await serveSampleRepository();
  root = mkdtempSync(join(tmpdir(), 'deckhand-cache-'));
});
afterEach(async () => {
  // A checkout keeps a git process running, which would prevent the test run from ending.
  for (const checkout of opened.splice(0)) await checkout.close();
  host.close();
  rmSync(root, { recursive: true, force: true });
});

const said: unknown[] = [];
const engine = () => cached(nativeGit(), join(root, 'cache'), (error) => said.push(error));
async function clone(scope: string | undefined = 'project') {
  const folder = join(root, `w${n++}`);
  const folders = { gitDir: join(folder, 'git'), workTree: join(folder, 'work') };
  const checkout = await engine().open({ url: host.url, token: 'good-token', scope }, folders);
  opened.push(checkout);
  const head = (await checkout.fetch('main')) ?? '';
  await checkout.checkout(head);
  return {
    head,
    packs: readdirSync(join(folders.gitDir, 'objects/pack')).filter((f) => f.endsWith('.pack')),
    ...folders,
  };
}
function commit(path: string, content: string) {
  writeFileSync(join(host.work, path), content);
  gitOut(host.work, 'add', '-A');
  gitOut(host.work, 'commit', '-q', '-m', path);
  gitOut(host.work, 'push', '-q', host.bare, 'HEAD:main');
}

test('the second clone fetches only new objects and is complete', async () => {
  commit('large.txt', Array.from({ length: 20_000 }, (_, i) => `${Math.sin(i)}`).join('\n'));
  const first = await clone();
  commit('small.txt', 'new\n');
  const second = await clone();
  expect(second.packs.filter((p) => first.packs.includes(p))).toEqual(first.packs);
  const size = (dir: string, name: string) => readFileSync(join(dir, 'objects/pack', name)).length;
  const [added = ''] = second.packs.filter((p) => !first.packs.includes(p));
  expect(size(second.gitDir, added)).toBeLessThan(2000);
  expect(size(first.gitDir, first.packs[0] ?? '')).toBeGreaterThan(100_000);
  expect(readFileSync(join(second.workTree, 'small.txt'), 'utf8')).toBe('new\n');
  expect(readFileSync(join(second.workTree, 'large.txt'), 'utf8')).toBe(
    readFileSync(join(host.work, 'large.txt'), 'utf8'),
  );
  expect(gitOut(second.gitDir, 'fsck', '--connectivity-only')).not.toMatch(/missing|error/);
});

test('projects share no cache, and without a project nothing is cached', async () => {
  await clone('one');
  const other = await clone('two');
  expect(readdirSync(join(root, 'cache'))).toHaveLength(2);
  expect(gitOut(other.gitDir, 'for-each-ref', 'refs/cache')).toBe('');
  await clone('');
  const before = readdirSync(join(root, 'cache')).length;
  const folder = join(root, 'bare');
  const checkout = await engine().open(
    { url: host.url, token: 'good-token' },
    { gitDir: join(folder, 'git'), workTree: join(folder, 'work') },
  );
  opened.push(checkout);
  await checkout.fetch('main');
  expect(readdirSync(join(root, 'cache'))).toHaveLength(before);
});

test.each([40, 3000])('a cache cut off after %i bytes is replaced', async (length) => {
  said.length = 0;
  commit('large.txt', Array.from({ length: 2000 }, (_, i) => `${Math.sin(i)}`).join('\n'));
  await clone();
  const [key = ''] = readdirSync(join(root, 'cache'));
  const pack = join(root, 'cache', key, 'pack');
  for (const name of readdirSync(pack))
    if (length === 40 || name.endsWith('.pack')) {
      // Git makes them read-only.
      chmodSync(join(pack, name), 0o600);
      truncateSync(join(pack, name), length);
    }
  commit('after.txt', 'x\n');
  const mended = await clone();
  expect(readFileSync(join(mended.workTree, 'after.txt'), 'utf8')).toBe('x\n');
  expect(said.length).toBeGreaterThan(0);
  const after = await clone();
  expect([after.packs, gitOut(after.gitDir, 'fsck', '--connectivity-only')]).toEqual([
    mended.packs,
    expect.not.stringMatching(/missing|error/),
  ]);
});

test('several clones at the same time, while a commit is pushed to the repository', async () => {
  await clone();
  const clones = [];
  for (let i = 0; i < 6; i++) {
    clones.push(clone());
    if (i === 2) commit('pushed.txt', 'x\n');
  }
  for (const { workTree } of await Promise.all(clones)) expect(readdirSync(workTree)).toContain('README.md');
  expect(readdirSync(join(root, 'cache'))).toHaveLength(1);
});

test('a failure after the checkout does not discard the fetched objects', async () => {
  await clone();
  const checkout = await engine().open(
    { url: host.url, token: 'good-token', scope: 'project' },
    { gitDir: join(root, 'again/git'), workTree: join(root, 'again/work') },
  );
  opened.push(checkout);
  const head = (await checkout.fetch('main')) ?? '';
  await checkout.checkout(head);
  host.stumble(1, 200);
  await expect(checkout.fetch('main')).rejects.toMatchObject({ fault: 'broken' });
  const at = new Date('2026-01-01T00:00:00Z');
  const author = { name: 'a', email: 'a@example.com' };
  const tree = await checkout.treeOf(head);
  await checkout.push(await checkout.commit({ tree, parents: [head], message: 'm', author, at }), 'agent/x');
  expect(gitOut(host.bare, 'log', '--format=%s', 'agent/x').split('\n')).toEqual(['m', 'first']);
});
