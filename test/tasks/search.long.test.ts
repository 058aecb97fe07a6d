import { seededRandom } from '../../src/domain/forecast/draws.ts';
import { searchTasks } from '../../src/tasks/search-store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let project: string;
/** The titles of the project's tasks, by id. */
const titles = new Map<string, string>();
const random = seededRandom('titles');
const oneOf = (list: readonly string[]) => list[Math.floor(random.uniform() * list.length)] ?? '';

const words = [
  'login',
  'Login',
  'logins',
  'the',
  'a',
  'relogin',
  'page',
  'Straße',
  'ÄRGER',
  'x'.repeat(70),
  '名前',
  '42',
];
const between = [' ', ' ', ' ', '-', ': ', '_', "'", ' \\', '\t', '\u00a0', '/'];
const titleOf = (length: number) =>
  Array.from({ length }, () => oneOf(words) + oneOf(between))
    .join('')
    .trim();

beforeAll(async () => {
  service = await openTestApp();
  const token = await service.token('octocat');
  const [own, other] = await Promise.all(
    ['Own', 'Other'].map(async (name) => (await service.call('POST', '/projects', { token, body: { name } })).body.id),
  );
  project = own;
  for (let n = 0; n < 300; n++) titles.set(`task_${n}`, titleOf(2 + (n % 4)));
  await service.app.db.manager.query(
    `insert into tasks (id, project_id, title, status)
     select p.prefix || t.id, p.id, t.title, 'ready'
     from unnest($1::text[], $2::text[]) t (id, title), (values ('', $3), ('other_', $4)) p (prefix, id)`,
    [[...titles.keys()], [...titles.values()], own, other],
  );
});
afterAll(() => service.close());

test('every part of a title is found, in the titles of the project that have it', async () => {
  const { manager } = service.app.db;
  const all = [...titles.values()];
  for (let n = 0; n < 150; n++) {
    const title = n % 5 === 0 ? titleOf(2) : oneOf(all);
    const from = Math.floor(random.uniform() * title.length);
    const part = title.slice(from, from + 1 + Math.floor(random.uniform() * 30));
    const text = n % 2 === 0 ? part : part.toUpperCase().replaceAll('SS', 'ß');
    if (text.trim() === '') continue;
    const found = await searchTasks(manager, project, text, { limit: 1000, offset: 0 });
    const expected = [...titles].filter(([, other]) => other.toLowerCase().includes(text.toLowerCase()));
    expect([text, found.map(({ id }) => id).sort()]).toEqual([text, expected.map(([id]) => id).sort()]);
  }
});
