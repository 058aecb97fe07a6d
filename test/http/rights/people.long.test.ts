import { readFileSync } from 'node:fs';
import { sessionCookie } from '../../../src/http/access/session.ts';
import type { Route } from '../../../src/http/route.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { type Everything, guarded, makeEverything } from '../../support/everything.ts';

// Whom an act on a person concerns decides as well as who does it. And who was removed may no more than a stranger, with
// whatever they still have.

const lines = (name: string) => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), 'utf8').split('\n');
const callers = ['owner', 'admin', 'member', 'viewer'] as const;
type Caller = (typeof callers)[number];
const acts = lines('people.txt')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.trim().split(/ {2,}/));

let service: TestApp;
let everything: Everything;
const tokens: Record<string, string> = {};
const ids: Record<string, string> = {};

beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true' });
  everything = await makeEverything(service);
  for (const login of [
    'first',
    'owner2',
    'admin',
    'admin2',
    'member',
    'member2',
    'viewer',
    'viewer2',
    'granted',
    'removed',
    'outsider',
  ]) {
    tokens[login] = await service.token(login);
    ids[login] = (await call(login, 'GET', '/me')).body.id;
  }
});
afterAll(() => service.close());

const call = (login: string, method: string, path: string, body?: object) =>
  service.call(method, path, { token: tokens[login] ?? '', ...(body === undefined ? {} : { body }) });
const sql = (text: string, values: unknown[]) => service.app.db.manager.query(text, values);

/** Makes a project with people of every kind; `first` and `owner2` own it. Returns its id. */
async function newProject(isOnlyOwner: boolean): Promise<string> {
  const { id } = (await call('first', 'POST', '/projects', { name: 'P' })).body;
  const people = Object.entries({
    owner2: 'owner',
    admin: 'admin',
    admin2: 'admin',
    member: 'member',
    member2: 'member',
    viewer: 'viewer',
    viewer2: 'viewer',
  });
  for (const [login, role] of [...people, ['granted', 'owner'], ['removed', 'member']] as [string, string][]) {
    if (isOnlyOwner && role === 'owner') continue;
    await sql('insert into members (project_id, user_id, role, added_by) values ($1, $2, $3, $4)', [
      ...[id, ids[login], role],
      // GitHub granted the role of those whom nobody added.
      login === 'granted' ? null : ids.first,
    ]);
  }
  await sql('update members set is_granted = true where project_id = $1 and user_id = $2', [id, ids.granted]);
  expect((await call('first', 'DELETE', `/projects/${id}/members/${ids.removed}`)).status).toBe(204);
  return id;
}

const loginOf: Record<Caller, string> = { owner: 'first', admin: 'admin', member: 'member', viewer: 'viewer' };
const others: Record<string, string> = {
  owner: 'owner2',
  admin: 'admin2',
  member: 'member2',
  viewer: 'viewer2',
  'only-owner': 'first',
};

async function outcome(act: string, caller: Caller): Promise<number> {
  const login = loginOf[caller];
  const [, verb, whom = '', role] = /^(make|remove|invite) ?(\S*?)(?: other)?(?: an? (\w+))?$/.exec(act) ?? [];
  const project = await newProject(whom === 'only-owner');
  const path = `/projects/${project}/members`;
  if (verb === 'invite') return (await call(login, 'POST', path, { login: 'invited', role })).status;
  const at = `${path}/${ids[whom === 'self' ? login : (others[whom] ?? whom)]}`;
  const { status } = verb === 'remove' ? await call(login, 'DELETE', at) : await call(login, 'PATCH', at, { role });
  const owners = await sql(`select 1 from members where project_id = $1 and role = 'owner'`, [project]);
  expect(owners.length).toBeGreaterThan(0);
  return status;
}

test.each(acts)('%s', async (act, ...wanted) => {
  const found = [];
  for (const caller of callers) found.push(String(await outcome(act, caller)));
  expect(found).toEqual(wanted);
});

/** What a stranger gets, by the operation. */
const ofStrangers = new Map(
  lines('roles.txt')
    .filter((line) => /^[A-Z]+ \//.test(line))
    .map((line) => line.split(/ +/))
    .map(([method, path, , stranger = '']) => [`${method} ${path}`, stranger]),
);

test('who was removed may no more than a stranger, with a token and with a session', async () => {
  const { projectId = '' } = everything.ids;
  const path = `/projects/${projectId}/members`;
  const owner = { token: everything.owner };
  await service.call('POST', path, { ...owner, body: { login: 'gone', role: 'owner' } });
  const token = await service.token('gone');
  const session = await service.token('gone');
  await sql(
    `update api_tokens set is_session = true where id = (
       select t.id from api_tokens t join users u on u.id = t.user_id where u.login = 'gone' order by t.created_at desc limit 1)`,
    [],
  );
  const { id } = (await service.call('GET', '/me', { token })).body;
  expect((await service.call('DELETE', `${path}/${id}`, owner)).status).toBe(204);
  const headers = { Cookie: `${sessionCookie}=${session}`, Origin: service.app.config.BASE_URL };
  const wrong: string[] = [];
  for (const [name, route] of guarded)
    for (const [how, credential] of Object.entries({ token: { token }, session: { headers } })) {
      const found = await outcomeOf(route, credential);
      if (found !== ofStrangers.get(name)) wrong.push(`${name} with a ${how}: ${found}`);
    }
  expect(wrong).toEqual([]);
});

/** Sends an unknown field. A 400 means that the access rule admitted the caller. */
async function outcomeOf(route: Route, credential: object): Promise<string> {
  const { projectId = '' } = everything.ids;
  const inQuery = route.access.kind === 'projectInQuery' ? `&projectId=${projectId}` : '';
  const body = route.access.kind === 'projectInBody' ? { body: { projectId } } : {};
  const path = `${everything.pathOf(route)}?surprise=1${inQuery}`;
  const { status } = await service.call(route.method.toUpperCase(), path, { ...credential, ...body });
  return status === 400 ? 'yes' : String(status);
}
