import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const main = fileURLToPath(new URL('../../demo/main.ts', import.meta.url));

test('the demo prints each event once, from the issue to the sprint, and writes no colour codes to a pipe', async () => {
  const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' };
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--once'], { env });
  const timesOf = (text: string) => stdout.split('\n').filter((line) => line.includes(text)).length;
  for (const text of ['loop: Developer begins', 'tool: edit_file src/slugify.js', 'push: ', 'pull: pull request'])
    expect([text, timesOf(text)]).toEqual([text, 1]);
  // The sandbox has the programs below /usr.
  if (existsSync('/usr/bin/npm')) expect(stdout).toMatch(/setup: npm ci: exit code 0, \d+ s/);
  if (existsSync('/usr/bin/node')) expect(stdout).toMatch(/: proved/);
  expect(stdout).toContain(
    'task "Publish the package under its new name" failed: The task does not say what the new name is.',
  );
  expect(stdout).toContain('is closed, labels: agent:done');
  expect(stdout).toContain('Its change touches [`src/slugify.js`](');
  expect(stdout).toContain('sprint "First release" is completed: people finished 5 tasks');
  expect(stdout).toMatch(/sprint ".+" with 3 tasks/);
  expect(stdout).not.toContain('\x1b');
});
