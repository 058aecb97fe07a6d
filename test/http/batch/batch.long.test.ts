import { openTestApp, type TestApp } from '../../support/app.ts';

let service: TestApp;
let token: string;
let project: string;
let task: string;

beforeAll(async () => {
  service = await openTestApp({ RATE_LIMIT_REQUESTS: '60' });
  token = await service.token('octocat');
  const post = async (path: string, body: object) => (await service.call('POST', path, { token, body })).body;
  project = (await post('/projects', { name: 'P' })).id;
  task = (await post(`/projects/${project}/tasks`, { title: 'first' })).id;
  await post(`/projects/${project}/tasks`, { title: 'second' });
});
afterAll(() => service.close());

const batch = (addresses: string[], as = token) =>
  service.call('GET', `/batch?${addresses.map((each) => `get=${encodeURIComponent(each)}`).join('&')}`, { token: as });

test('each read is answered as a request of its own would be', async () => {
  const addresses = [
    '/me',
    `/tasks/${task}`,
    `/projects/${project}/tasks?limit=1`,
    '/tasks/task_unknown',
    `/projects/${project}/tasks?limit=0`,
    '/nothing',
    '/tasks/%E0%A4%A',
    '/agents/teams',
  ];
  const { status, body } = await batch(addresses);
  expect(status).toBe(200);
  for (const [at, address] of addresses.entries()) {
    const own = await service.call('GET', address, { token });
    expect([address, body[at]]).toEqual([address, { status: own.status, body: own.body }]);
  }
});

test('a stranger reads nothing that requests of their own would not show', async () => {
  const stranger = await service.token('stranger');
  const { body } = await batch([`/tasks/${task}`, `/projects/${project}/tasks`, `/projects/${project}`], stranger);
  expect(body.map(({ status }: { status: number }) => status)).toEqual([404, 403, 403]);
  expect((await service.call('GET', '/batch?get=/me')).status).toBe(401);
});

test('streams, reads that ask GitHub, public pages and itself cannot be read, nor more than twenty at once', async () => {
  const reader = await service.token('reader');
  const asGitHub = [
    `/tasks/${task}/merge-readiness`,
    `/projects/${project}/installed-repositories`,
    '/repositories/repo_1/issues',
  ];
  const others = [`/projects/${project}/events`, '/batch?get=/me', '/openapi.json', '//me'];
  const { body } = await batch([...asGitHub, ...others]);
  expect(
    body.map((reply: { status: number; body: { message: string } }) => [reply.status, reply.body.message]),
  ).toEqual(Array(7).fill([404, 'No such address']));
  expect((await batch(Array(21).fill('/me'), reader)).status).toBe(400);
  expect((await service.call('GET', '/batch', { token: reader })).status).toBe(400);
});

test('every read counts against the limit of requests', async () => {
  const limited = await service.token('limited');
  for (let i = 0; i < 3; i++) expect((await batch(Array(20).fill('/me'), limited)).status).toBe(200);
  expect((await service.call('GET', '/me', { token: limited })).status).toBe(429);
});

describe('large replies', () => {
  const [batchBytes, listBytes] = [2 * 1024 * 1024, 5 * 1024 * 1024];
  let large: string;
  let many: string;
  let ids: string[];
  beforeAll(async () => {
    large = await service.token('large');
    const { id } = (await service.call('POST', '/projects', { token: large, body: { name: 'L' } })).body;
    // Three bytes for each character.
    await service.app.db.manager.query(
      `insert into tasks (id, project_id, title, description, status, created_at)
       select 'task_l' || n, $1, 't', repeat('€', 50000), 'backlog', now() - n * interval '1 s' from generate_series(1, 115) n`,
      [id],
    );
    ids = Array.from({ length: 115 }, (_, i) => `task_l${i + 1}`);
    many = id;
  });

  test('a batch has at most 2 MB; the first read that does not fit gets 413, and so do those after it', async () => {
    const three = `/projects/${many}/tasks?limit=3`;
    const response = await fetch(
      `${service.url}/api/v1/batch?${[...Array(6).fill(three), '/me', '/nothing'].map((a) => `get=${encodeURIComponent(a)}`).join('&')}`,
      { headers: { Authorization: `Bearer ${large}` } },
    );
    const text = await response.text();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(batchBytes);
    const replies: { status: number; body: { message: string } }[] = JSON.parse(text);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 413, 413, 413, 413]);
    expect(replies[4]?.body.message).toContain('with its own request');
    expect((await batch([`/projects/${many}/backlog`], large)).body[0].status).toBe(413);
  });

  test.each([
    'tasks?limit=100',
    'tasks?limit=10',
    'backlog',
    'backlog?limit=50',
  ])('a list has at most 5 MB, and its links lead through all of it: %s', async (list) => {
    const found: string[] = [];
    const counts: number[] = [];
    for (let next: string | undefined = `/api/v1/projects/${many}/${list}`; next !== undefined; ) {
      const response: Response = await fetch(service.url + next, { headers: { Authorization: `Bearer ${large}` } });
      const text = await response.text();
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(listBytes);
      const page = JSON.parse(text) as { id: string }[];
      found.push(...page.map(({ id }) => id));
      counts.push(page.length);
      next = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    }
    expect(found).toEqual(ids);
    if (!list.endsWith('10')) expect(counts.length).toBeGreaterThan(2);
  });
});
