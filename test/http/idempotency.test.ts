import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
});
afterAll(() => service.close());

const post = (path: string, body: unknown, key: string, by = token) =>
  service.call('POST', path, { token: by, body, headers: { 'Idempotency-Key': key } });
const count = async (table: string) =>
  Number((await service.app.db.manager.query(`select count(*) from ${table}`))[0].count);

test('the same request again gets the same reply and changes nothing', async () => {
  const first = await post('/projects', { name: 'Once' }, 'a');
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
  const before = await count('projects');
  const again = await post('/projects', { name: 'Once' }, 'a');
  expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([201, first.body, 'true']);
  expect(await count('projects')).toBe(before);
  expect((await post('/projects', { name: 'Other' }, 'a')).status).toBe(422);
  expect((await post('/projects', { name: 'Once' }, 'b')).body.id).not.toBe(first.body.id);
  const other = await service.token('other');
  expect((await post('/projects', { name: 'Once' }, 'a', other)).body.id).not.toBe(first.body.id);
  expect((await post('/agents', { name: 'Once' }, 'a')).status).toBe(201);
});

test('twenty at once make one', async () => {
  const before = await count('projects');
  const answers = await Promise.all(Array.from({ length: 20 }, () => post('/projects', { name: 'Race' }, 'race')));
  expect(await count('projects')).toBe(before + 1);
  expect([...new Set(answers.map((a) => a.status))].sort()).toEqual(
    [201, 409].slice(0, new Set(answers.map((a) => a.status)).size),
  );
});

test('a refusal by the state is kept, a mistake is not, and access comes first', async () => {
  const { id } = (await post('/projects', { name: 'P' }, 'p')).body;
  const task = (await post(`/projects/${id}/tasks`, { title: 't' }, 't')).body;
  const refused = await post(`/tasks/${task.id}/start`, undefined, 's');
  expect(refused.status).toBe(409);
  expect(await post(`/tasks/${task.id}/start`, undefined, 's')).toMatchObject({ status: 409, body: refused.body });
  expect((await post('/projects', { name: '' }, 'mend')).status).toBe(400);
  expect((await post('/projects', { name: 'Mended' }, 'mend')).status).toBe(201);
  const stranger = await service.token('stranger');
  expect((await post(`/projects/${id}/tasks`, { title: 't' }, 't', stranger)).status).toBe(403);
  for (const key of ['', 'x'.repeat(256)]) expect((await post('/projects', { name: 'K' }, key)).status).toBe(400);
});

test('a token is never kept: a repetition is 409', async () => {
  expect((await post('/me/tokens', { name: 'n' }, 'k')).status).toBe(201);
  expect((await post('/me/tokens', { name: 'n' }, 'k')).status).toBe(409);
  const kept = await service.app.db.manager.query(`select reply from idempotency_keys where request like '%tokens'`);
  expect(kept).toEqual([{ reply: null }]);
});
