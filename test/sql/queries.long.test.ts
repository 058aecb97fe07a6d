import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkQueries } from './check/check.ts';
import { openSchema, type Schema } from './check/describe.ts';
import { openProgram, type Program } from './check/program.ts';

/** Statements that are only known when the program runs, with the reason. Add none without one. */
const unreadable = {
  'src/db/database.ts': '`prepared` runs what its callers give it; their calls are checked',
  'src/db/embedded/backup.ts': 'calls functions of PostgreSQL for backups',
  'src/http/access/access.ts': 'one function reads all kinds of objects; the type of its row is a parameter',
  'src/queue/queue.ts': 'pg-boss writes these statements',
};

const root = join(import.meta.dirname, '../..');
const fixture = (name: string) => join(root, 'test/sql/fixtures', name);
let program: Program;
let schema: Schema;

beforeAll(async () => {
  const sources = globSync(join(root, 'src/**/*.ts')).filter((file) => !file.includes('/src/web/'));
  program = openProgram(root, [...sources, fixture('wrong.ts'), fixture('right.ts')]);
  const template = (process.env.TEST_POSTGRES_URL ?? '').replace(/\/postgres$/, '/template_deckhand');
  schema = await openSchema(template);
});

// Others copy the template as long as nobody is connected to it.
afterAll(() => schema?.close());

const check = (isChecked: (file: string) => boolean) =>
  checkQueries({ ...program, files: program.files.filter(({ fileName }) => isChecked(fileName)) }, schema);

test('each statement fits the schema, and what the program says about it', async () => {
  const { calls, problems, unreadable: unread } = await check((file) => file.startsWith(join(root, 'src')));
  expect(problems).toEqual([]);
  expect(unread.map((line) => line.slice(0, line.indexOf(':'))).sort()).toEqual(Object.keys(unreadable).sort());
  expect(calls).toBeGreaterThan(300);
});

test('each mistake is reported', async () => {
  const { problems } = await check((file) => file === fixture('wrong.ts'));
  const lines = readFileSync(fixture('wrong.ts'), 'utf8').split('\n');
  const expected = lines.filter((line) => /^ *\/\/ /.test(line)).map((line) => line.trim().slice(3));
  const found = problems.map((problem) => problem.replace(/^\S+: /, '').replace(/ in select .*/, ''));
  // Two variants of one statement may have the same mistake.
  expect([...new Set(found)].sort()).toEqual(expected.sort());
});

test('what is right is not reported', async () => {
  expect(await check((file) => file === fixture('right.ts'))).toMatchObject({ problems: [], unreadable: [] });
});
