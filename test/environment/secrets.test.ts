import { revealAllSecrets, revealSecrets } from '../../src/environment/secrets/secrets.ts';
import { placeOf } from '../../src/environment/secrets/store.ts';
import { openProject } from '../support/project.ts';

const { service, call, createProject } = await openProject();
let path: string;
let projectId: string;
beforeEach(async () => {
  projectId = await createProject();
  path = `/projects/${projectId}/environment-secrets`;
});

const put = (name: string, value: unknown, more: object = { repositories: [] }) =>
  call('PUT', `${path}/${name}`, { value, ...more });
const connect = async (name: string, to = projectId): Promise<string> => {
  const body = { projectId: to, name, url: `https://github.com/team-of-${to}/${name}` };
  return (await call('POST', '/repositories', body)).body.id;
};
const list = async () => (await call('GET', path)).body;
const revealed = () => revealAllSecrets(service.app, projectId);

test('secrets are listed by name without their values, replaced and deleted', async () => {
  expect(await list()).toEqual([]);
  for (const name of ['NPM_TOKEN', 'A_1']) {
    const answer = await put(name, `value-of-${name}`);
    expect([answer.status, answer.body]).toEqual([204, '']);
  }
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  const both = await list();
  expect(both).toEqual([
    { name: 'A_1', createdAt: time, repositories: [], hosts: [] },
    { name: 'NPM_TOKEN', createdAt: time, repositories: [], hosts: [] },
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

test('the secrets of a project have at most 256 kB together', async () => {
  for (let i = 0; i < 8; i++) expect((await put(`A${i}`, 'x'.repeat(32_760))).status).toBe(204);
  expect((await put('B', 'é'.repeat(32))).status).toBe(204);
  const refused = await put('C', 'eight ch');
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    [
      {
        path: 'value',
        message: expect.stringContaining('262144 bytes together, and with this one they would have 262152'),
      },
    ],
  ]);
  expect((await put('B', 'é'.repeat(31))).status).toBe(204);
  // Those of an older version may be larger together. Each can still be replaced.
  const larger = service.app.secrets.seal('x'.repeat(40_000), placeOf({ projectId, name: 'A0' })).ciphertext;
  const set = 'update environment_secrets set ciphertext = $1 where project_id = $2 and name = $3';
  await service.app.db.manager.query(set, [larger, projectId, 'A0']);
  expect([(await put('A1', 'y'.repeat(32_760))).status, (await put('A1', 'y'.repeat(32_761))).status]).toEqual([
    204, 400,
  ]);
});

test('a secret is revealed only for the repositories that it belongs to', async () => {
  const shownFor = async (id: string) => (await revealSecrets(service.app, { id, projectId })).map(({ name }) => name);
  const missing = await put('A', 'long enough', {});
  expect([missing.status, missing.body.errors[0].path]).toEqual([400, 'repositories']);
  const one = await connect('one');
  expect((await put('A', 'long enough', {})).status).toBe(204);
  expect(await list()).toMatchObject([{ name: 'A', repositories: [one] }]);
  const two = await connect('two');
  // With several repositories, they have to be named, also for a secret that exists.
  const unclear = await put('A', 'long enough', {});
  expect([unclear.status, unclear.body.errors]).toEqual([
    400,
    [{ path: 'repositories', message: expect.stringContaining('the project has 2 repositories') }],
  ]);
  const elsewhere = await connect('three', await createProject());
  for (const unknown of ['repo_none', elsewhere]) {
    const refused = await put('A', 'long enough', { repositories: [one, unknown] });
    expect([refused.status, refused.body.errors[0].path]).toEqual([400, 'repositories']);
  }
  expect([await shownFor(one), await shownFor(two), await shownFor(elsewhere)]).toEqual([['A'], [], []]);
  await put('B', 'long enough', { repositories: [two, one, two] });
  await put('C', 'long enough', { repositories: [] });
  expect((await list()).map((each: { repositories: string[] }) => each.repositories)).toEqual([[one], [one, two], []]);
  expect([await shownFor(one), await shownFor(two)]).toEqual([['A', 'B'], ['B']]);
  // All of them are searched for in what leaves the service.
  expect((await revealed()).map(({ name }) => name)).toEqual(['A', 'B', 'C']);
  expect((await call('DELETE', `/repositories/${one}`)).status).toBe(204);
  expect((await list()).map((each: { repositories: string[] }) => each.repositories)).toEqual([[], [two], []]);
  expect(await shownFor(one)).toEqual([]);
});

test('a repository whose URL leads to another one loses its secrets, because nobody may move a value that is never shown', async () => {
  const one = await connect('one');
  await put('A', 'long enough', { repositories: [one] });
  const move = (body: object) => call('PATCH', `/repositories/${one}`, body);
  const { url } = (await call('GET', `/repositories/${one}`)).body;
  for (const same of [{ defaultBranch: 'next' }, { url }]) expect((await move(same)).status).toBe(200);
  expect(await list()).toMatchObject([{ name: 'A', repositories: [one] }]);
  expect((await move({ url: 'https://github.com/elsewhere/two' })).status).toBe(200);
  expect(await list()).toMatchObject([{ name: 'A', repositories: [] }]);
  expect(await revealSecrets(service.app, { id: one, projectId })).toEqual([]);
});

test('only admins learn which secrets belong to no repository', async () => {
  const one = await connect('one');
  await put('A', 'long enough', { repositories: [one] });
  await put('B', 'long enough');
  await put('C', 'long enough');
  const own = async (as?: string) =>
    (await call('GET', '/me/unassigned-secrets', undefined, as)).body.filter(
      (each: { projectId: string }) => each.projectId === projectId,
    );
  expect(await own()).toEqual([{ projectId, names: ['B', 'C'] }]);
  const hubot = await service.token('hubot');
  await call('POST', `/projects/${projectId}/members`, { login: 'hubot', role: 'member' });
  expect((await call('GET', path, undefined, hubot)).status).toBe(200);
  expect(await own(hubot)).toEqual([]);
});

test.each([
  ['', false],
  ['https://registry.example.org', false],
  ['registry.example.org/team', false],
  ['*.example.org', false],
  ['user@registry.example.org', false],
  [7, false],
  ['Registry.Example.org:443', 'registry.example.org'],
  ['registry.example.org:5000', 'registry.example.org:5000'],
])('the host %j of a secret is stored as %j', async (host, stored) => {
  const answer = await put('A', 'long enough', { repositories: [], hosts: [host] });
  expect(answer.status).toBe(stored === false ? 400 : 204);
  if (stored === false) expect(answer.body.errors[0].path).toBe('hosts.0');
  else expect(await list()).toMatchObject([{ hosts: [stored] }]);
});

test('lists of a secret are bounded', async () => {
  const hosts = Array.from({ length: 21 }, (_, i) => `r${i}.example.org`);
  const repositories = Array.from({ length: 1001 }, (_, i) => `repo_${i}`);
  expect((await put('A', 'long enough', { repositories: [], hosts })).status).toBe(400);
  expect((await put('A', 'long enough', { repositories })).status).toBe(400);
  expect(await list()).toEqual([]);
});
