import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coneOf, patternsOf } from '../../src/git/cone.ts';
import type { Checkout } from '../../src/git/engine.ts';
import { nativeGit } from '../../src/git/native/native.ts';
import { at, author } from '../support/each-engine.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';

const contents: Record<string, string> = {
  'package.json': '{}\n',
  'apps/web/index.js': 'web\n',
  'apps/web/[id]/page.js': 'page\n',
  'apps/api/index.js': 'api\n',
  'apps/shared.json': '{}\n',
  'libs/ui/button.js': 'button\n',
  'tools/run.sh': 'run\n',
};

let host: Awaited<ReturnType<typeof serveSampleRepository>>;
const opened: Checkout[] = [];
beforeEach(async () => {
  host = await serveSampleRepository();
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(join(host.work, path, '..'), { recursive: true });
    writeFileSync(join(host.work, path), text);
  }
  gitOut(host.work, 'add', '-A');
  gitOut(host.work, 'commit', '-q', '-m', 'monorepo');
  gitOut(host.work, 'push', '-q', host.bare, 'main');
});
afterEach(async () => {
  for (const checkout of opened.splice(0)) await checkout.close();
  host.close();
});

async function open(...folders: string[]) {
  const folder = join(host.root, `c${opened.length}`);
  const folders_ = { gitDir: join(folder, 'git'), workTree: join(folder, 'work') };
  const checkout = await nativeGit().open({ url: host.url, token: 'good-token' }, folders_);
  opened.push(checkout);
  const base = (await checkout.fetch('main')) ?? '';
  await checkout.narrow?.(folders);
  await checkout.checkout(base);
  await checkout.remember();
  const has = (path: string) => existsSync(join(checkout.workTree, path));
  const write = (path: string, text = 'new\n') => {
    mkdirSync(join(checkout.workTree, path, '..'), { recursive: true });
    writeFileSync(join(checkout.workTree, path), text);
  };
  return { checkout, base, has, write };
}

const changed = async (checkout: Checkout, base: string, tree: string) =>
  (await checkout.changes(await checkout.treeOf(base), tree)).map(({ path, newMode }) => `${newMode} ${path}`);

test.each([
  [['apps/web'], ['package.json', 'apps/shared.json', 'apps/web/a', 'apps/web/b/c'], ['apps/api/a', 'libs/a', 'x/y']],
  [['a', 'a/b'], ['a/c', 'a/b/c'], ['b/a']],
  [
    ['a/b/c', 'd'],
    ['a/x', 'a/b/x', 'd/e/f'],
    ['a/x/y', 'a/b/d/e'],
  ],
])('the folders %j hold what git says they hold', (folders, inside, outside) => {
  const cone = coneOf(folders);
  expect([...inside, ...outside].filter(cone.has)).toEqual(inside);
  const { root } = host;
  const probe = join(root, 'probe');
  gitOut(root, 'init', '-q', probe);
  gitOut(probe, 'sparse-checkout', 'set', '--cone', ...folders);
  expect(patternsOf(cone)).toBe(readFileSync(join(probe, '.git/info/sparse-checkout'), 'utf8'));
});

test('writes only the chosen folders and the files above them', async () => {
  const { has } = await open('apps/web', 'libs');
  expect(Object.keys(contents).filter(has)).toEqual([
    'package.json',
    'apps/web/index.js',
    'apps/web/[id]/page.js',
    'apps/shared.json',
    'libs/ui/button.js',
  ]);
  expect((await open('apps/web/[id]')).has('apps/web/[id]/page.js')).toBe(true);
});

test('git inside the work tree sees no changes', async () => {
  const { checkout } = await open('apps/web');
  const git = (...args: string[]) =>
    gitOut(host.root, `--git-dir=${checkout.gitDir}`, `--work-tree=${checkout.workTree}`, ...args);
  expect(git('status', '--porcelain')).toBe('');
  expect(git('sparse-checkout', 'list')).toBe('apps/web');
});

test('what was not checked out stays in the tree, and changes inside are found', async () => {
  const { checkout, base, write } = await open('apps/web');
  expect(await checkout.snapshot()).toBe(await checkout.treeOf(base));
  write('apps/web/index.js', 'changed\n');
  rmSync(join(checkout.workTree, 'apps/web/[id]'), { recursive: true });
  write('apps/web/more/new.js');
  const tree = await checkout.snapshot();
  expect(await changed(checkout, base, tree)).toEqual([
    '000000 apps/web/[id]/page.js',
    '100644 apps/web/index.js',
    '100644 apps/web/more/new.js',
  ]);
  const commit = await checkout.commit({ tree, parents: [base], message: 'm\n', author, at });
  await checkout.push(commit, 'agent/narrow');
  expect(gitOut(host.bare, 'ls-tree', '-r', '--name-only', 'agent/narrow').split('\n')).toEqual(
    expect.arrayContaining(['apps/api/index.js', 'tools/run.sh', 'libs/ui/button.js']),
  );
});

test('a new file outside is added if nothing is there, and is exported for the checks', async () => {
  const { checkout, base, write } = await open('apps/web');
  write('libs/new/a.js');
  write('fresh/b.js');
  const tree = await checkout.snapshot();
  expect(await changed(checkout, base, tree)).toEqual(['100644 fresh/b.js', '100644 libs/new/a.js']);
  const folder = join(host.root, 'exported');
  mkdirSync(folder);
  await checkout.export(tree, folder);
  const has = (path: string) => existsSync(join(folder, path));
  expect(['fresh/b.js', 'libs/new/a.js', 'apps/web/index.js', 'package.json'].every(has)).toBe(true);
  expect(['libs/ui/button.js', 'apps/api/index.js', 'tools'].some(has)).toBe(false);
});

test.each([
  ['a file', 'tools/run.sh', () => {}],
  ['a file where a folder is', 'tools', () => {}],
  ['a folder where a file is', 'tools/run.sh/x', () => {}],
  ['a link where a folder is', 'libs', (place: string) => symlinkSync('apps', place)],
  ['a file where a folder with chosen folders is', 'apps', (place: string) => writeFileSync(place, '')],
])('refuses %s in the way of what was not checked out', async (_what, path, make) => {
  const { checkout, write } = await open('apps/web');
  if (make.length === 0) write(path);
  else {
    rmSync(join(checkout.workTree, path), { recursive: true, force: true });
    make(join(checkout.workTree, path));
  }
  await expect(checkout.snapshot()).rejects.toThrow(/is in the way of what the repository has there/);
});

test('deleting a folder deletes only what was checked out', async () => {
  const { checkout, base } = await open('apps/web');
  rmSync(join(checkout.workTree, 'apps'), { recursive: true });
  expect(await changed(checkout, base, await checkout.snapshot())).toEqual([
    '000000 apps/shared.json',
    '000000 apps/web/[id]/page.js',
    '000000 apps/web/index.js',
  ]);
});
