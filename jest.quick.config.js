import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import everything from './jest.config.js';

/** What starts a database, the service, git or a sandbox: by the names of files and of what they import. */
const slow = /\/(demo|sandbox|git|threads|e2e|web|checking)\/|\/(compose|db\/database)\.ts|node:child_process/;

const root = join(import.meta.dirname, 'test');

/** Returns whether a test file or any file of test/ that it imports starts something. */
function isSlow(file, seen = new Set()) {
  if (seen.has(file)) return false;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  if (slow.test(file.slice(root.length)) || slow.test(text)) return true;
  const imports = [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, path]) => join(file, '..', path));
  // A text in a test may look like an import.
  return imports.some((path) => path.startsWith(root) && existsSync(path) && isSlow(path, seen));
}

const quick = readdirSync(root, { recursive: true })
  .filter((file) => file.endsWith('.test.ts') && !isSlow(join(root, file)))
  .map((file) => `<rootDir>/test/${file}`);

/** The tests that start nothing: for every change while you work. */
const { globalSetup: _, globalTeardown: __, ...rest } = everything;

export default { ...rest, testMatch: quick };
