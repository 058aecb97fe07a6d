import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import everything from './jest.config.js';

/** What starts a database, the service, git or a sandbox. */
const slow = /\/(support|demo|sandbox|git|threads|e2e|web)\/|db\/database|node:child_process/;

const root = join(import.meta.dirname, 'test');
const quick = readdirSync(root, { recursive: true })
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => !slow.test(`/${file}`) && !slow.test(readFileSync(join(root, file), 'utf8')))
  .map((file) => `<rootDir>/test/${file}`);

/** The tests that start nothing: for every change while you work. */
const { globalSetup: _, globalTeardown: __, ...rest } = everything;

export default { ...rest, testMatch: quick };
