import { once } from 'node:events';
import http from 'node:http';
import { longestBlock, timeOf } from '../support/machine/processor-time.ts';
import { openSprints } from '../support/sprints.ts';

// A viewer may read all of a project, whose tasks may have a hundred dependencies each, with eight requests at a time.

const given = openSprints();

/** Adds tasks to a sprint. From the second hundred on, each depends on the hundred before. */
async function addTasks(sprintId: string, count: number): Promise<void> {
  const id = (number: string) => `'task_' || right('${sprintId}', 20) || lpad((${number})::text, 6, '0')`;
  await given.sql(
    `insert into tasks (id, project_id, title, status, sprint_id, created_at)
     select ${id('i')}, $1, 't' || i, 'backlog', $2, now() + make_interval(secs => i) from generate_series(1, $3::int) i`,
    [given.project, sprintId, count],
  );
  await given.sql(
    `insert into task_dependencies (task_id, depends_on_id)
     select ${id('i')}, ${id('(i - 1) / 100 * 100 - d')}
     from generate_series(101, $1::int) i, generate_series(0, 99) d`,
    [count],
  );
  await given.sql('analyze tasks, task_dependencies');
}

async function get(path: string) {
  const response = await fetch(`${given.service.url}/api/v1${path}`, {
    headers: { Authorization: `Bearer ${given.token}` },
  });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Reads a reply without keeping it: this thread is also the one of the service, whose time is measured. */
async function readPast(path: string): Promise<void> {
  const asked = http.get(`${given.service.url}/api/v1${path}`, { headers: { Authorization: `Bearer ${given.token}` } });
  const [reply] = await once(asked, 'response');
  await once(reply.resume(), 'end');
}

/** The least of several measurements is the one that other work of the machine changed least. */
async function leastOf(times: number, measure: () => Promise<number>): Promise<number> {
  const found = [];
  for (let i = 0; i < times; i++) found.push(await measure());
  return Math.min(...found);
}

test('however many dependencies tasks have, a board has at most 5 MB, and reads hold nobody up', async () => {
  const sprint = await given.makeSprint();
  const count = 2000;
  await addTasks(sprint.id, count);

  const found: string[] = [];
  for (let pages = 0; found.length < count && pages < 5; pages++) {
    const { bytes } = await get(`/projects/${given.project}/board?limit=2000&offset=${found.length}`);
    // Beside the tasks there are names of agents, people and sprints.
    expect(bytes.length).toBeLessThan(5 * 1024 * 1024 + 10_000);
    const { total, tasks } = JSON.parse(bytes.toString());
    expect([total, tasks[0].dependsOn.length]).toEqual([count, 100]);
    found.push(...tasks.map(({ id }: { id: string }) => id));
  }
  expect(new Set(found).size).toBe(count);

  const { reason } = JSON.parse(String((await get(`/sprints/${sprint.id}/metrics`)).bytes)).forecast;
  expect(reason).toMatch(/^A forecast covers at most 1000 open tasks/);
  const board = String((await get(`/projects/${given.project}/board?limit=2000`)).bytes);
  // In ms. A slow machine needs longer, which the time shows that one reply takes.
  const limit = Math.max(200, 1.5 * (await leastOf(3, () => timeOf(() => JSON.stringify(JSON.parse(board))))));
  for (const path of [
    `/projects/${given.project}/board?limit=2000`,
    `/sprints/${sprint.id}/metrics`,
    `/sprints/${sprint.id}/burndown`,
  ]) {
    const eight = () => Promise.all(Array.from({ length: 8 }, () => readPast(path)));
    expect([path, (await leastOf(5, () => longestBlock(eight))) < limit]).toEqual([path, true]);
  }
});

test('a forecast does not read more dependencies than it covers', async () => {
  const sprint = await given.makeSprint();
  await addTasks(sprint.id, 300);
  const { reason } = JSON.parse(String((await get(`/sprints/${sprint.id}/metrics`)).bytes)).forecast;
  expect(reason).toBe('A forecast covers at most 10000 dependencies of open tasks.');
});
