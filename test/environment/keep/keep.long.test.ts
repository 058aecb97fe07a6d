import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyInto, DamagedArchive, moveInto, pack, unpack } from '../../../src/environment/keep/archive.ts';
import { type KeptStore, keptStore } from '../../../src/environment/keep/kept-store.ts';
import { type KeyParts, keyOf } from '../../../src/environment/plan-setup.ts';

const never = new AbortController().signal;
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'deckhand-keep-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (path: string, content: string | Buffer = '') => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
};
const folder = (name: string) => {
  mkdirSync(join(root, name));
  return join(root, name);
};

const packOf = (names: string[]) =>
  pack(join(root, 'a'), names, { archive: join(root, 'kept'), unpacked: folder('own') }, never);

describe('an archive', () => {
  test('gives back files, modes, times, links and odd names, and nothing that was not named', async () => {
    const odd = ['-x', 'new\nline', '--checkpoint-action=exec=sh', 'ünï'];
    for (const name of odd) write(`a/work/${name}`, name);
    write('a/work/deps/run', '#!/bin/sh\n');
    chmodSync(join(root, 'a/work/deps/run'), 0o4755);
    utimesSync(join(root, 'a/work/deps/run'), 1_700_000_000, 1_700_000_000.125);
    symlinkSync('/etc', join(root, 'a/work/deps/link'));
    write('a/work/left', 'out');
    write('a/work.home/.cache/x', 'home');
    const names = [...odd.map((name) => `work/${name}`), 'work/deps', 'work.home'];
    const packed = await packOf(names);
    expect(packed.bytes).toBe(statSync(join(root, 'kept')).size);
    await unpack(join(root, 'kept'), packed, folder('b'), never);
    await copyInto(join(root, 'b'), folder('copy'), never);
    // What was unpacked while packing is the same, and so is a copy.
    for (const each of ['own', 'b', 'copy'].map((name) => join(root, name))) {
      for (const name of odd) expect(readFileSync(join(each, 'work', name), 'utf8')).toBe(name);
      const run = statSync(join(each, 'work/deps/run'));
      // The bit that lets a program run as its owner is gone.
      expect([run.mode & 0o7777, run.mtimeMs]).toEqual([0o755, 1_700_000_000_125]);
      expect(readlinkSync(join(each, 'work/deps/link'))).toBe('/etc');
      expect(existsSync(join(each, 'work/left'))).toBe(false);
      expect(readFileSync(join(each, 'work.home/.cache/x'), 'utf8')).toBe('home');
    }
    // An append to a copy leaves the original as it is.
    appendFileSync(join(root, 'copy/work.home/.cache/x'), 'more');
    expect(readFileSync(join(root, 'b/work.home/.cache/x'), 'utf8')).toBe('home');
  });

  test('that was changed by a byte is refused before anything of it is unpacked', async () => {
    write('a/work/x', 'x'.repeat(10_000));
    const packed = await packOf(['work/x']);
    const bytes = readFileSync(join(root, 'kept'));
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(join(root, 'kept'), bytes);
    await expect(unpack(join(root, 'kept'), packed, folder('b'), never)).rejects.toThrow(DamagedArchive);
    expect(readdirSync(join(root, 'b'))).toEqual([]);
  });

  test('of something that does not exist fails with what tar said', async () => {
    folder('a');
    await expect(packOf(['work'])).rejects.toThrow(/tar ended with 2: .*work: Cannot stat/);
  });
});

test('what set-up made unreadable for an ordinary user can be packed and moved', async () => {
  const archive = JSON.stringify(new URL('../../../src/environment/keep/archive.ts', import.meta.url).href);
  const program = `
    import { makeReadable, pack } from ${archive};
    const [, root] = process.argv;
    await makeReadable(root + '/a');
    const to = { archive: root + '/kept', unpacked: root + '/own' };
    await pack(root + '/a', ['work'], to, new AbortController().signal);`;
  folder('own');
  write('a/work/closed/x', 'x');
  write('a/work/locked/y', 'y');
  chmodSync(join(root, 'a/work/closed/x'), 0);
  chmodSync(join(root, 'a/work/closed'), 0);
  chmodSync(join(root, 'a/work/locked'), 0o555);
  symlinkSync('/etc/shadow', join(root, 'a/work/link'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('chown', ['-hR', '1000:1000', root]);
  const as = isRoot ? ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups'] : ['env'];
  const [file = '', ...args] = [...as, process.execPath, '--input-type=module', '--eval', program, root];
  const { status, stderr } = spawnSync(file, args, { encoding: 'utf8' });
  if (/EACCES.*\/src\//.test(stderr)) return console.warn('skipped: another user cannot read this folder');
  expect([status, stderr]).toEqual([0, '']);
  const mode = (path: string) => (statSync(join(root, 'a/work', path)).mode & 0o777).toString(8);
  expect(['closed', 'closed/x', 'locked', 'locked/y'].map(mode)).toEqual(['700', '400', '755', '644']);
});

describe('the store', () => {
  let store: KeptStore;
  const key = (digit: string) => digit.repeat(64);
  const facts = { sha256: 'x', seconds: 1 };
  beforeEach(() => {
    store = keptStore(join(root, 'store'));
  });
  const add = async (digit: string, bytes: number) => {
    write(`new-${digit}`, Buffer.alloc(bytes));
    await store.add(key(digit), join(root, `new-${digit}`), { ...facts, bytes });
    rmSync(join(root, `new-${digit}`));
  };
  const take = async (digit: string) => {
    const path = join(root, `taken-${digit}`);
    rmSync(path, { force: true });
    const kept = await store.take(key(digit), path);
    return kept && statSync(path).size;
  };

  test('hands out what it keeps under a path that outlives it, and nothing else', async () => {
    expect(await take('a')).toBeUndefined();
    await add('a', 10);
    await add('a', 20);
    expect(await take('a')).toBe(20);
    await store.remove(key('a'));
    expect(statSync(join(root, 'taken-a')).size).toBe(20);
    expect(await take('a')).toBeUndefined();
    expect(readdirSync(join(root, 'store'))).toEqual([]);
  });

  test.each([
    ['a shorter archive', (at: string) => truncateSync(`${at}.tar.zst`, 5)],
    ['a missing archive', (at: string) => rmSync(`${at}.tar.zst`)],
    ['facts that are not JSON', (at: string) => writeFileSync(`${at}.json`, '{"bytes":10')],
    ['facts of another form', (at: string) => writeFileSync(`${at}.json`, '[]')],
    ['empty facts', (at: string) => writeFileSync(`${at}.json`, '')],
  ])('deletes %s', async (_name, damage) => {
    await add('a', 10);
    damage(join(root, 'store', key('a')));
    expect(await take('a')).toBeUndefined();
    expect(readdirSync(join(root, 'store'))).toEqual([]);
  });

  test('keeps no partial result when the folder cannot be written', async () => {
    write('store', 'a file in its place');
    await expect(add('a', 10)).rejects.toThrow();
    expect(await take('a')).toBeUndefined();
  });

  test('deletes what a killed worker left beside the results, unless one may still be adding it', async () => {
    await add('a', 10);
    for (const name of [`${key('a')}.tar.zst.0123456789ab`, `${key('b')}.tar.zst`]) write(`store/${name}`, 'x');
    await store.trim(1000);
    expect(readdirSync(join(root, 'store'))).toHaveLength(4);
    for (const name of readdirSync(join(root, 'store'))) utimesSync(join(root, 'store', name), 1000, 1000);
    await store.trim(1000);
    expect(readdirSync(join(root, 'store')).sort()).toEqual([`${key('a')}.json`, `${key('a')}.tar.zst`]);
  });

  test('deletes the least recently used first', async () => {
    for (const [i, digit] of ['a', 'b', 'c'].entries()) {
      await add(digit, 100);
      utimesSync(join(root, 'store', `${key(digit)}.json`), 1000 + i, 1000 + i);
    }
    await take('a');
    await store.trim(250);
    expect([await take('a'), await take('b'), await take('c')]).toEqual([100, undefined, 100]);
    await store.trim(0);
    expect(readdirSync(join(root, 'store'))).toEqual([]);
  });
});

test('a remembered failure that cannot be read counts as none', async () => {
  const [store, key] = [keptStore(join(root, 'failures')), 'a'.repeat(64)];
  write(`failures/${key}.failed`, '');
  expect(await store.failure(key)).toBeUndefined();
  await store.addFailure(key, []);
  expect(await store.failure(key)).toMatchObject({ commands: [] });
  await store.remove(key);
  expect(await store.failure(key)).toBeUndefined();
});

test('results are moved beside the files of a repository, never over them or through links', async () => {
  for (const path of ['from/deps/x', 'from/app/deps/y', 'from/app/own', 'from/link/evil', 'from/new/z'])
    write(path, 'kept');
  write('to/app/own', 'own');
  write('outside/x', 'x');
  symlinkSync('../outside', join(root, 'to/link'));
  await moveInto(join(root, 'from'), join(root, 'to'));
  const text = (path: string) => readFileSync(join(root, path), 'utf8');
  expect([text('to/deps/x'), text('to/app/deps/y'), text('to/app/own'), text('to/new/z')]).toEqual([
    'kept',
    'kept',
    'own',
    'kept',
  ]);
  expect(lstatSync(join(root, 'to/link')).isSymbolicLink()).toBe(true);
  expect(readdirSync(join(root, 'outside'))).toEqual(['x']);
});

test('the key depends on every part and not on the order of unordered ones', () => {
  const parts: KeyParts = {
    projectId: 'p',
    repositoryId: 'r',
    onHost: '1',
    system: 's',
    commands: ['a', 'b'],
    env: { A: '1', B: '2' },
    hosts: ['x', 'y'],
    secrets: [
      { name: 'S', version: '1' },
      { name: 'T', version: '1' },
    ],
    files: [{ path: 'package-lock.json', oid: '1' }],
  };
  const changed: Partial<KeyParts>[] = [
    { projectId: 'q' },
    { repositoryId: 's' },
    { onHost: '2' },
    { system: 't' },
    { commands: ['b', 'a'] },
    { commands: ['a b'] },
    { env: { A: '1' } },
    { env: { A: '1', B: '3' } },
    { hosts: ['x'] },
    { secrets: [{ name: 'S', version: '2' }] },
    { files: [{ path: 'package-lock.json', oid: '2' }] },
    { files: [{ path: 'yarn.lock', oid: '1' }] },
    { files: [] },
  ];
  const keys = [{}, ...changed].map((change) => keyOf({ ...parts, ...change }));
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
  const reordered = { env: { B: '2', A: '1' }, hosts: ['y', 'x'], secrets: [...parts.secrets].reverse() };
  expect(keyOf({ ...parts, ...reordered })).toBe(keys[0]);
});
