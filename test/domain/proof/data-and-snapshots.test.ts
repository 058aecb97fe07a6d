import { structuredPatch } from 'diff';
import { compareData, compareSnapshots } from '../../../src/domain/proof/tests/lost-tests.ts';

const hunksOf = (old: string, now: string) =>
  structuredPatch('', '', old, now, '', '', { context: 3 })?.hunks.map(({ lines }) => lines) ?? [];

test('data and snapshots may say something else, but not less', () => {
  const data = (old: string, now: string) => compareData(hunksOf(old, now)).lost;
  expect(data('[1, 2]\n', '[1, 3]\n')).toBeUndefined();
  expect([data('[1, 2]\n', '[1]\n'), data('a\nb\n', 'a b\n')]).toEqual([expect.any(String), expect.any(String)]);
  const snap = (name: string, text: string) => `exports[\`${name}\`] = \`${text}\`;\n\n`;
  const snapshots = (old: string, now: string) => compareSnapshots(hunksOf(old, now));
  expect(snapshots(snap('a 1', 'x'), snap('a 1', 'y') + snap('b 1', 'z'))).toEqual({ hasChanged: true, renamed: [] });
  expect(snapshots(snap('a 1', 'x') + snap('b 1', 'y'), snap('a 1', 'z')).lost).toBe('lost a snapshot');
});
