import type { EntityManager } from 'typeorm';
import { searchTasks } from '../../src/tasks/search-store.ts';
import { listTasks, type TaskPage } from '../../src/tasks/store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
const projects: string[] = [];

beforeAll(async () => {
  service = await openTestApp();
  const token = await service.token('octocat');
  for (const size of [100, 30_000]) {
    const { id } = (await service.call('POST', '/projects', { token, body: { name: `P${size}` } })).body;
    projects.push(id);
    await service.app.db.manager.query(
      `insert into tasks (id, project_id, title, status, created_at)
       select 'task_' || $1 || n, $1, 'Task ' || n, (array['backlog', 'ready', 'done'])[n % 3 + 1], now() - make_interval(secs => n)
       from generate_series(1, $2::int) n`,
      [id, size],
    );
  }
  await service.app.db.manager.query('vacuum analyze tasks');
});
afterAll(() => service.close());

/** Returns the query plan of the statement that a store function sends. */
async function planOf(ask: (em: EntityManager) => Promise<unknown>): Promise<string> {
  const { manager } = service.app.db;
  let plan: { 'QUERY PLAN': string }[] = [];
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      plan = await manager.query(`explain ${text}`, values);
      return [];
    },
  };
  await ask(explaining as unknown as EntityManager);
  return plan.map((row) => row['QUERY PLAN']).join('\n');
}

test.each<[string, Partial<TaskPage>]>([
  ['the first page', {}],
  ['the first page of a status', { status: 'ready' }],
])('%s of tasks is read by an index, in a small and in a large project', async (_name, by) => {
  for (const project of projects) {
    const plan = await planOf((em) => listTasks(em, project, { limit: 20, offset: 0, ...by }));
    expect(plan).toMatch(/Index Scan using tasks_project/);
    expect(plan).not.toMatch(/Seq Scan on tasks /);
  }
});

test('a text that no task has is looked up in the indexes, whatever PostgreSQL expects', async () => {
  for (const [text, index] of [
    ['nowhere', /Bitmap Index Scan on tasks_title/],
    ['task nowhere', /^((?!tasks_title).)*$/s],
    ['no place to be found', /^((?!tasks_title).)*$/s],
  ] as const) {
    const plan = await planOf((em) => searchTasks(em, projects[1] ?? '', text, { limit: 20, offset: 0 }));
    expect(plan).toMatch(/Bitmap Index Scan on tasks_search/);
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(/(Seq Scan on|Index Scan using tasks_project on) tasks /);
  }
});

test('matches that are not among the tasks read first are found in their order', async () => {
  const em = service.app.db.manager;
  // Of the 30,000 tasks, 11 of the first 5,000 have each text. More are among the first 25,000, or only beyond.
  for (const [text, statements] of [
    ['Task 199', 3],
    ['task 255', 4],
  ] as const) {
    const expected = await em.query(
      `select id from tasks where project_id = $1 and title ilike $2 order by created_at desc`,
      [projects[1], `${text}%`],
    );
    expect(expected).toHaveLength(111);
    for (const offset of [0, 4]) {
      let sent = 0;
      const counting = { query: (...args: Parameters<EntityManager['query']>) => ++sent && em.query(...args) };
      const page = { limit: 30, offset };
      const found = await searchTasks(counting as unknown as EntityManager, projects[1] ?? '', text, page);
      expect([text, sent]).toEqual([text, statements]);
      expect(found.map(({ id }) => id)).toEqual(
        expected.slice(offset, offset + 31).map((row: { id: string }) => row.id),
      );
    }
  }
});

test('a common text has the same pages as the list, also beyond the tasks that are read first', async () => {
  const em = service.app.db.manager;
  const project = projects[1] ?? '';
  for (const offset of [0, 4880, 4990, 12_000]) {
    const page = { limit: 20, offset };
    const ids = (tasks: { id: string }[]) => tasks.map(({ id }) => id);
    expect(ids(await searchTasks(em, project, 'task', page))).toEqual(ids(await listTasks(em, project, page)));
  }
});
