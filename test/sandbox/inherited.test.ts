import { execFileSync } from 'node:child_process';

/** What a program has open that a program of Node starts, when whoever started that one left a file open. */
function openIn(first: string): string {
  const list = `import { execFileSync } from 'node:child_process'; console.log(String(execFileSync('ls', ['-l', '/proc/self/fd'])));`;
  const program = ['--input-type=module', '-e', `${first} ${list}`];
  // Of a low number Node itself sees to it that it goes no further.
  const start = ['-c', 'exec 123< /etc/passwd; exec "$@"', 'bash', process.execPath, ...program];
  return execFileSync('bash', start, { encoding: 'utf8' });
}

test('what whoever started the service left open is not open in what the service starts', () => {
  expect(openIn('')).toContain('123 -> /etc/passwd');
  const { href } = new URL('../../src/sandbox/inherited.ts', import.meta.url);
  const closed = openIn(`import { closeInherited } from ${JSON.stringify(href)}; closeInherited();`);
  expect(closed).toContain('/proc/');
  expect(closed).not.toContain('/etc/passwd');
});
