import { revealSecrets } from '../../src/environment/secrets/operations.ts';
import { openProject } from '../support/project.ts';

const { service, call, createProject } = await openProject();
let path: string;
let projectId: string;
beforeEach(async () => {
  projectId = await createProject();
  path = `/projects/${projectId}/environment-secrets`;
});

const put = (name: string, value: unknown) => call('PUT', `${path}/${name}`, { value });
const list = async () => (await call('GET', path)).body;
const revealed = () => revealSecrets(service.app, projectId);

test('secrets are listed by name without their values, replaced and deleted', async () => {
  expect(await list()).toEqual([]);
  for (const name of ['NPM_TOKEN', 'A_1']) {
    const answer = await put(name, `value-of-${name}`);
    expect([answer.status, answer.body]).toEqual([204, '']);
  }
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  const both = await list();
  expect(both).toEqual([
    { name: 'A_1', createdAt: time },
    { name: 'NPM_TOKEN', createdAt: time },
  ]);
  const [, before] = await revealed();
  expect((await put('NPM_TOKEN', 'another value')).status).toBe(204);
  const [, after] = await revealed();
  expect(after).toMatchObject({ name: 'NPM_TOKEN', value: 'another value' });
  expect(after?.version).not.toBe(before?.version);
  expect(await list()).toEqual(both);
  const rows = await service.app.db.manager.query('select t::text from environment_secrets t');
  expect(JSON.stringify(rows)).not.toContain('another value');
  for (const status of [204, 404]) expect((await call('DELETE', `${path}/NPM_TOKEN`)).status).toBe(status);
  expect(await list()).toEqual([both[0]]);
});

test.each([
  ['npm_token', 'long enough', 'name must have 1 to 64 capital letters'],
  ['1A', 'long enough', 'name must have 1 to 64 capital letters'],
  ['A'.repeat(65), 'long enough', 'name must have 1 to 64 capital letters'],
  ['HTTPS_PROXY', 'long enough', 'name must not be HTTPS_PROXY, which is a variable that the sandbox sets'],
  ['A', 'short', 'value must have at least 8 characters'],
  ['A', 'é'.repeat(16_385), 'value must have at most 32 kB'],
  ['A', 'with\0 NUL in it', 'value must not contain a NUL'],
  ['A', 12_345_678, 'value'],
])('%s is refused: %#', async (name, value, message) => {
  const answer = await put(name, value);
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
  expect(await revealed()).toEqual([]);
});

test('a project has at most 100 secrets, and deleting the project deletes them', async () => {
  for (let i = 0; i < 100; i++) expect((await put(`A${i}`, `a value of 32 kB at most ${i}`)).status).toBe(204);
  expect((await put('B', 'one too many')).status).toBe(409);
  expect((await put('A7', 'x'.repeat(32_768))).status).toBe(204);
  expect((await call('DELETE', `/projects/${projectId}`)).status).toBe(204);
  expect(await revealed()).toEqual([]);
});
