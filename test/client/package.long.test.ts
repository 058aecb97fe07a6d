import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openProject } from '../support/project.ts';
import { beginProcess } from './command.ts';

const root = resolve(import.meta.dirname, '../..');
const { service, token } = await openProject();
const folder = mkdtempSync(join(tmpdir(), 'deckhand-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { dependencies } = JSON.parse(readFileSync(join(root, 'client/package.json'), 'utf8'));
const env = { PATH: process.env.PATH ?? '', HOME: folder, NODE_OPTIONS: '' };

beforeAll(() => {
  const pack = (what: string, ...options: string[]) => {
    const args = ['pack', '--silent', '--pack-destination', folder, ...options, what];
    const made = execFileSync('npm', args, { cwd: root, encoding: 'utf8' });
    return `./${made.trim().split('\n').at(-1)}`;
  };
  // The dependencies are packed as they are installed here, so that the installation needs no network.
  const needed = Object.keys(dependencies).map((name) => pack(`./node_modules/${name}`, '--ignore-scripts'));
  const packages = [pack('./client'), ...needed];
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', ...packages], {
    cwd: folder,
    env,
    stdio: 'pipe',
  });
  rmSync(join(root, 'client/dist'), { recursive: true, force: true });
});

/** The oldest Node that the package supports, where the system has it; otherwise that of the tests. */
const systemNode = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => existsSync(path)) ?? process.execPath;

test.each([systemNode, process.execPath])('the installed command works with %s', async (node) => {
  const bin = join(folder, 'node_modules/.bin/deckhand');
  const variables = { ...env, DECKHAND_URL: service.url, DECKHAND_TOKEN: token };
  const run = (...args: string[]) =>
    beginProcess(node, [bin, ...args], undefined, { cwd: folder, env: variables }).ended;
  expect(await run('help', 'task', 'watch')).toMatchObject({ code: 0, stdout: expect.stringContaining('Examples:') });
  expect(await run('inbox', '--json')).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
  expect(await run('task', 'create', 'From a package')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Created task_/),
  });
  expect(await run('task', 'watch')).toMatchObject({ code: 2 });
});

test('programs can import it, with types that TypeScript accepts', () => {
  mkdirSync(join(folder, 'src'));
  writeFileSync(
    join(folder, 'src/use.ts'),
    `import { DeckhandError, follow, listInbox, service, type InboxEntry } from 'deckhand-client';
const at = service({ url: 'http://127.0.0.1:1', token: 'x' });
export const entries: Promise<InboxEntry[]> = listInbox({ scope: 'all' }, at);
export const failed = (error: unknown): number => (error instanceof DeckhandError ? error.status : 0);
export const stream = follow(at, '/x');
entries.catch(failed);
// @ts-expect-error: there is no such option
listInbox({ speed: 'fast' });
`,
  );
  const tsc = join(root, 'node_modules/.bin/tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
    '--typeRoots',
    join(root, 'node_modules/@types'),
  ];
  execFileSync(process.execPath, [tsc, ...options, 'src/use.ts'], { cwd: folder, env, stdio: 'pipe' });
  const program = `import * as client from 'deckhand-client'; console.log(Object.keys(client).length > 100, typeof client.service);`;
  expect(execFileSync(systemNode, ['--input-type=module', '-e', program], { cwd: folder, env, encoding: 'utf8' })).toBe(
    'true function\n',
  );
});
