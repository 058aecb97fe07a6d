import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageCaches, placeCaches, takeCaches } from '../../../src/environment/keep/package-caches.ts';

const never = new AbortController().signal;
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'deckhand-caches-'));
  for (const name of ['work', 'home']) mkdirSync(join(root, name));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (path: string, content = 'x') => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
};
const has = (path: string) => existsSync(join(root, path));
const take = () => takeCaches({ work: join(root, 'work'), home: join(root, 'home') }, join(root, 'taken'), never);

describe('when set-up has ended', () => {
  test('caches that only set-up needs leave the home folder, and the others are copied', async () => {
    for (const place of ['.local/share/pnpm/store/v10/a', '.cache/pip/b', '.npm/_cacache/c', '.config/tool'])
      write(`home/${place}`);
    expect(await take()).toBe(true);
    expect(
      ['.local/share/pnpm/store', '.cache/pip', '.npm/_cacache', '.config'].map((at) => has(`home/${at}`)),
    ).toEqual([false, false, true, true]);
    mkdirSync(join(root, 'next'));
    await placeCaches(join(root, 'taken'), join(root, 'next'));
    for (const place of ['.local/share/pnpm/store/v10/a', '.cache/pip/b', '.npm/_cacache/c'])
      expect(readFileSync(join(root, 'next', place), 'utf8')).toBe('x');
    expect(has('next/.config')).toBe(false);
  });

  test('a cache stays where the result does not work without it', async () => {
    write('home/.local/share/pnpm/store/v10/links/a/index.js');
    symlinkSync('../home/agent/.local/share/pnpm/store/v10/links/a', join(root, 'work/linked'));
    // Links within a cache do not count.
    write('home/.cache/uv/archive/a');
    symlinkSync('/home/agent/.cache/uv/archive/a', join(root, 'home/.cache/uv/wheel'));
    write('home/.cache/yarn/v6/a');
    write('work/.pnp.cjs');
    expect(await take()).toBe(true);
    expect(['.local/share/pnpm/store', '.cache/yarn', '.cache/uv'].map((at) => has(`home/${at}`))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('links are not followed out of the home folder', async () => {
    write('elsewhere/pip/a');
    symlinkSync(join(root, 'elsewhere'), join(root, 'home/.cache'));
    mkdirSync(join(root, 'home/.npm'));
    symlinkSync(join(root, 'elsewhere'), join(root, 'home/.npm/_cacache'));
    expect(await take()).toBe(false);
    expect(has('elsewhere/pip/a')).toBe(true);
    // Nor out of caches that were kept.
    mkdirSync(join(root, 'next'));
    symlinkSync(join(root, 'elsewhere'), join(root, 'taken/.cache'));
    await placeCaches(join(root, 'taken'), join(root, 'next'));
    expect([has('next/.cache'), has('elsewhere/pip/a')]).toEqual([false, true]);
  });
});

describe('kept caches', () => {
  const key = (digit: string) => digit.repeat(64);
  const caches = () => packageCaches(join(root, 'kept'));
  const add = (digit: string, bytes: number) => {
    write(`new-${digit}/file`, 'x'.repeat(bytes));
    return caches().add(key(digit), join(root, `new-${digit}`), never);
  };

  test('belong to one set-up at a time', async () => {
    await add('a', 1);
    await add('a', 2);
    expect(await caches().take(key('b'), join(root, 'other'), never)).toBe(false);
    const both = ['one', 'two'].map((name) => caches().take(key('a'), join(root, name), never));
    expect((await Promise.all(both)).sort()).toEqual([false, true]);
    expect(readFileSync(join(root, has('one') ? 'one' : 'two', 'file'), 'utf8')).toBe('xx');
    expect(readdirSync(join(root, 'kept'))).toEqual([]);
  });

  test('that are too large, or unused for a month, are deleted, and then the least recently used', async () => {
    for (const [digit, bytes] of [
      ['a', 100_000],
      ['b', 600_000],
      ['c', 300_000],
      ['d', 350_000],
      ['e', 100_000],
    ] as const)
      await add(digit, bytes);
    const ago = (digit: string, days: number) => {
      const at = new Date(Date.now() - days * 86_400_000);
      utimesSync(join(root, 'kept', `${key(digit)}.caches`), at, at);
    };
    for (const [digit, days] of [
      ['a', 31],
      ['b', 1],
      ['c', 3],
      ['d', 2],
      ['e', 4],
    ] as const)
      ago(digit, days);
    expect(await caches().trim(1_000_000)).toBeLessThanOrEqual(1_000_000);
    expect(
      readdirSync(join(root, 'kept'))
        .map((name) => name[0])
        .sort(),
    ).toEqual(['c', 'd', 'e']);
    await caches().trim(740_000);
    expect(
      readdirSync(join(root, 'kept'))
        .map((name) => name[0])
        .sort(),
    ).toEqual(['c', 'd']);
  });
});

test('folders of workers that were killed are removed, but not those of live ones', async () => {
  const left = ['0123456789ab', `${'a'.repeat(64)}.caches.0123456789ab`];
  for (const name of [...left, 'other']) write(`kept/${name}/file`);
  const caches = packageCaches(join(root, 'kept'));
  await caches.trim(1e9);
  expect(readdirSync(join(root, 'kept')).sort()).toEqual([...left, 'other'].sort());
  await caches.trim(1e9, Date.now() + 7 * 3_600_000);
  expect(readdirSync(join(root, 'kept'))).toEqual(['other']);
});
