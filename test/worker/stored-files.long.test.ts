import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { packFiles } from '../../src/worker/workspace/pack-files.ts';
import { unpackFiles } from '../../src/worker/workspace/stored-files.ts';
import { type Branch, rewoundBranch } from '../../src/worker/workspace/workspace.ts';
import { longestBlock } from '../support/machine/processor-time.ts';

const file = (path: string, content: string | null) => ({
  path,
  mode: content === null ? '000000' : '100644',
  content,
});
const link = (path: string, content: string) => ({ path, mode: '120000', content });
const pack = async (...files: ReturnType<typeof file>[]) => (await packFiles({ '': files })) as Buffer;

test('the newest of several states of a file counts, in each repository', async () => {
  const first = { '': [file('a', 'one'), file('b', 'one')], repo_2: [file('a', 'theirs')] };
  const packs = [await packFiles(first), await packFiles({ '': [file('b', null), file('c', 'two')], repo_2: [] })];
  expect(await unpackFiles(packs as Buffer[])).toEqual({
    '': [file('a', 'one'), file('b', null), file('c', 'two')],
    repo_2: [file('a', 'theirs')],
  });
  expect(await unpackFiles([])).toEqual({});
});

test('files of any size and name are stored as JSON that an older version reads', async () => {
  const names = ['a"b', 'line\nbreak', '{"', '],', 'ü', 'plain'];
  const files = names.map((name, i) => file(name, i === 2 ? null : 'QUJD'.repeat(i * 70_000)));
  const both = { '': files, repo_2: [file('theirs', '')] };
  const packed = (await packFiles(both)) as Buffer;
  expect(JSON.parse(gunzipSync(packed).toString())).toEqual(both);
  expect(await unpackFiles([packed])).toEqual(both);
  await expect(unpackFiles([packed.subarray(0, -20)])).rejects.toThrow();
});

test('packing and unpacking 100 MB holds the event loop for no longer than a moment', async () => {
  const content = randomBytes(20_000).toString('base64');
  const files = Array.from({ length: 4900 }, (_, i) => file(`docs/${i}.txt`, `${content}${i}`.slice(-26_668)));
  const large = Array.from({ length: 3 }, (_, i) => file(`large/${i}`, content.repeat(250)));
  const most = await longestBlock(async () => {
    const packed = (await packFiles({ '': [...files, ...large] })) as Buffer;
    expect((await unpackFiles([packed]))['']).toHaveLength(files.length + large.length);
  });
  // As one text it took 400 ms and more; on a loaded machine, the longest piece takes 160 ms.
  expect(most).toBeLessThan(250);
});

test('deletions below thousands of folders hold the event loop for no longer than a moment', async () => {
  const deep = `${'a/'.repeat(1900)}`;
  const paths = Array.from({ length: 3000 }, (_, i) => `${deep}${i}`);
  const packs = [
    await pack(...paths.map((path) => file(path, 'one'))),
    await pack(...paths.map((path) => file(path, null))),
  ];
  const most = await longestBlock(async () => {
    expect((await unpackFiles(packs))['']).toHaveLength(paths.length);
  });
  expect(most).toBeLessThan(300); // Looking up each folder of each path took 20 s.
});

test('a turn without changes stores nothing', async () => {
  expect(await packFiles({ '': [], repo_2: [] })).toBeNull();
});

test('the state that an older version stored for one repository is still read', async () => {
  expect(await unpackFiles([gzipSync(JSON.stringify([file('a', 'old')])), await pack(file('a', 'new'))])).toEqual({
    '': [file('a', 'new')],
  });
});

test('a deletion below a path that became a file or a link is left out, so that it does not follow the link', async () => {
  const packs = [
    await pack(file('dir', null), file('dir/x', 'one'), file('dir/sub/y', 'one')),
    await pack(file('dir/x', null), file('dir/sub/y', null), link('dir', 'src'), file('dirx', null)),
  ];
  expect(await unpackFiles(packs)).toEqual({ '': [link('dir', 'src'), file('dirx', null)] });
});

describe('the branch of a run that goes back', () => {
  const earlier: Branch = { name: 'agent/x', from: 'start', base: 'old base', continues: false };
  const now: Branch = { name: 'agent/x', from: 'head', base: 'new base', continues: true };

  test('is continued from its head, with the files of the turn', () => {
    expect(rewoundBranch(now, earlier)).toEqual({ ...now, filesFrom: 'start' });
  });

  test('begins where the earlier run began, if nothing was pushed or the branch is gone', () => {
    const other = { ...now, name: 'agent/x-2', from: 'new base', continues: false };
    expect(rewoundBranch(other, earlier)).toEqual({ ...earlier, name: 'agent/x-2', filesFrom: 'start' });
  });

  test('keeps the merge with which the earlier run began', () => {
    const merging: Branch = { ...now, from: 'middle', base: 'old base', conflicts: ['a'] };
    expect(rewoundBranch(now, merging)).toEqual({
      ...now,
      base: 'old base',
      filesFrom: 'middle',
      conflicts: ['a'],
    });
  });

  test('of a run that went back itself begins with the same files', () => {
    const again = rewoundBranch(now, earlier);
    expect(rewoundBranch({ ...now, from: 'newer head' }, again)).toEqual({ ...again, from: 'newer head' });
  });
});
