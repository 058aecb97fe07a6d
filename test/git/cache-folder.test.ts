import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shrinkCaches } from '../../src/git/native/cached.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-caches-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Adds a cache with a pack that has a size but occupies no disk space, last used some minutes ago. */
function addCache(name: string, bytes: number, minutesAgo: number): void {
  const place = join(folder, name);
  mkdirSync(join(place, 'pack'), { recursive: true });
  writeFileSync(join(place, 'pack/a.pack'), '');
  truncateSync(join(place, 'pack/a.pack'), bytes);
  const usedAt = new Date(Date.now() - minutesAgo * 60_000);
  utimesSync(place, usedAt, usedAt);
}

test('beyond 2 GB the least recently used caches are evicted', async () => {
  addCache('oldest', 600_000_000, 30);
  addCache('newest', 1_000_000_000, 10);
  addCache('between', 1_000_000_000, 20);
  await shrinkCaches(folder);
  expect(readdirSync(folder).sort()).toEqual(['between', 'newest']);
});

test('a folder of an interrupted update is removed after an hour', async () => {
  addCache('cache.under-way', 1000, 55);
  addCache('cache.left-over', 1000, 65);
  addCache('cache', 1000, 65);
  await shrinkCaches(folder);
  expect(readdirSync(folder).sort()).toEqual(['cache', 'cache.under-way']);
});
