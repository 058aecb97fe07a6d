import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackedResults } from '../../../src/environment/keep/unpacked.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'deckhand-unpacked-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Keeps a result that no run uses. */
async function keep(key: string): Promise<string> {
  const results = unpackedResults(root);
  const folder = await results.folder();
  writeFileSync(join(folder, 'file'), 'x'.repeat(10_000));
  const held = await results.add(folder, `sum ${key}`, Number.MAX_SAFE_INTEGER);
  await held.share(key);
  await held.release();
  return folder;
}

test('a result that a run takes while others are removed stays', async () => {
  const [a, b, c] = [await keep('a'), await keep('b'), await keep('c')];
  const results = unpackedResults(root);
  // Of the three, only the last one used has room: the first two are removed one after the other.
  const ending = results.take('c', 'sum c', 20_000)?.release();
  const held = results.take('b', 'sum b', 20_000);
  await ending;
  expect([a, b, c].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  await held?.release();
  expect([b, c].map((folder) => existsSync(folder))).toEqual([true, false]);
});

test('a result that is shared under two keys stays until both have another', async () => {
  const results = unpackedResults(root);
  const folder = await keep('a');
  const held = results.take('a', 'sum a', Number.MAX_SAFE_INTEGER);
  await held?.share('b');
  await held?.release();
  await keep('a');
  expect(existsSync(folder)).toBe(true);
  await keep('b');
  expect(existsSync(folder)).toBe(false);
});
