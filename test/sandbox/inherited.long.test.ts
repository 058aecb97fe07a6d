import { execFileSync } from 'node:child_process';

/** Returns the descriptors that reach a child of Node when Node inherited an open file. */
function openIn(first: string): string {
  const list = `import { execFileSync } from 'node:child_process'; console.log(String(execFileSync('ls', ['-l', '/proc/self/fd'])));`;
  const program = ['--input-type=module', '-e', `${first} ${list}`];
  // Use a high descriptor, because Node closes low ones.
  const start = ['-c', 'exec 123< /etc/passwd; exec "$@"', 'bash', process.execPath, ...program];
  return execFileSync('bash', start, { encoding: 'utf8' });
}

test('children of the service do not get descriptors that the service inherited', () => {
  expect(openIn('')).toContain('123 -> /etc/passwd');
  const { href } = new URL('../../src/sandbox/neutral-path.ts', import.meta.url);
  const closed = openIn(`import { closeInherited } from ${JSON.stringify(href)}; closeInherited();`);
  expect(closed).toContain('/proc/');
  expect(closed).not.toContain('/etc/passwd');
});
