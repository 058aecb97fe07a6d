import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { casesIn } from './rates/cases.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'reached-')));
afterAll(() => rmSync(folder, { recursive: true }));

const program = readFileSync(new URL('../../../src/worker/proof/inside/reached-by-node.mjs', import.meta.url), 'utf8');
const jest = new URL('../../../node_modules/jest/bin/jest.js', import.meta.url).pathname;

test('Jest compiles what it loads, and the changed programs of honest changes count as reached', () => {
  const programs: Record<string, { lines: number[]; cuts: number[] }> = {};
  for (const [i, { base, change }] of casesIn('honest')
    .filter(({ name }) => name.startsWith('jest: '))
    .entries()) {
    for (const [path, text] of Object.entries({ ...base, ...change })) write(`repository/${i}/${path}`, text ?? '');
    for (const path of Object.keys(change).filter((each) => !each.includes('.test.') && each.endsWith('.js')))
      programs[`${i}/${path}`] = { lines: [1], cuts: [] };
  }
  write('repository/package.json', '{}');
  write('repository/3/src/unused.js', 'exports.unused = 1;\n');
  programs['3/src/unused.js'] = { lines: [1], cuts: [] };
  const tests = ['0/src/round.test.js', '1/src/tax.test.js', '2/src/label.test.js', '3/src/welcome.test.js'];
  write('wanted.json', JSON.stringify({ programs, tests, watched: [] }));
  const cwd = join(folder, 'repository');
  const env = { ...process.env, NODE_OPTIONS: '', NODE_V8_COVERAGE: join(folder, 'v8') };
  execFileSync(process.execPath, [jest, '--ci', '--rootDir', cwd, '--haste', '{"forceNodeFilesystemAPI":true}'], {
    cwd,
    env,
    stdio: 'pipe',
  });
  const args = ['--input-type=module', '-', join(folder, 'v8'), join(folder, 'wanted.json')];
  const said = JSON.parse(execFileSync(process.execPath, args, { cwd, input: program }).toString());
  expect(said.outside).toBe(false);
  expect(said.loaded).toEqual(expect.arrayContaining(['0/src/round.test.js', '3/src/welcome.test.js']));
  expect(said.reached.sort()).toEqual(Object.keys(programs).filter((path) => !path.includes('unused')));
});

function write(path: string, text: string): void {
  const at = join(folder, path);
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, text);
}
