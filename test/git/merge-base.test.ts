import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bestBase, certainBases } from '../../src/git/merge-base.ts';

let gitDir: string;
beforeEach(async () => {
  gitDir = await mkdtemp(join(tmpdir(), 'merge-base-'));
});
afterEach(() => rm(gitDir, { recursive: true, force: true }));

/** A history that has these common ancestors after each fetch, and these commits on one side only. */
function historyWith(found: string[][], since: string[]) {
  let fetched = 0;
  const now = () => found[Math.min(fetched, found.length - 1)] ?? [];
  const deepen = async () => void fetched++;
  return { search: async () => now(), since: async () => since, deepen, gitDir, fetches: () => fetched };
}

test('history that was fetched as a whole decides', async () => {
  const history = historyWith([['one', 'two']], []);
  expect(await certainBases(history)).toEqual(['one', 'two']);
  expect(history.fetches()).toBe(0);
});

test('an ancestor is certain only if no commit since then has lost its parents', async () => {
  await writeFile(join(gitDir, 'shallow'), 'cut\n');
  expect(await certainBases(historyWith([['one']], ['head', 'middle']))).toEqual(['one']);
  const cut = historyWith([['old'], ['old'], ['new']], ['head', 'cut']);
  expect(await certainBases(cut)).toBeUndefined();
  expect(cut.fetches()).toBe(3);
  expect(await bestBase(historyWith([['old'], ['new']], ['cut']))).toBe('new');
});

test('of several, each has to be certain, because one may be an ancestor of another on a way that was not fetched', async () => {
  await writeFile(join(gitDir, 'shallow'), 'cut\n');
  const crossed = historyWith([['one', 'two']], ['head']);
  expect(await certainBases(crossed)).toEqual(['one', 'two']);
  expect(crossed.fetches()).toBe(0);
  const later = {
    ...historyWith([['old', 'new'], ['new']], []),
    since: async ([base]: string[]) => (base === 'old' ? ['cut'] : []),
  };
  expect(await certainBases(later)).toEqual(['new']);
  expect(await bestBase({ ...historyWith([['old', 'new'], ['new']], []), since: later.since })).toBe('new');
  const many = Array.from({ length: 11 }, (_, n) => `${n}`);
  expect(await certainBases(historyWith([many], []))).toBeUndefined();
});

test('history that cannot be read does not count as whole', async () => {
  await mkdir(join(gitDir, 'shallow'));
  await expect(certainBases(historyWith([['one']], []))).rejects.toThrow('EISDIR');
});

test('a branch with too many commits has no certain ancestor', async () => {
  await writeFile(join(gitDir, 'shallow'), 'cut\n');
  const since = Array.from({ length: 100_000 }, (_, n) => `${n}`);
  expect(await certainBases(historyWith([['one']], since))).toBeUndefined();
});
