import { showMany } from '../../src/markdown/as-shown.ts';

test('many texts that are slow to read take seconds together, and plain ones are shown all the same', async () => {
  // Each is read in half a second, and shows nothing.
  const slow = Array.from({ length: 5500 }, (_, i) => `[${i}]: /u`).join('\n');
  const show = showMany();
  const before = process.cpuUsage();
  const shown: string[] = [];
  for (let i = 0; i < 200; i++) shown.push((await show(slow)).trim());
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(20);
  expect(shown[0]).toBe('');
  expect(shown.at(-1)).toContain('takes too long to read');
  expect(await show('plain')).toBe('plain');
});
