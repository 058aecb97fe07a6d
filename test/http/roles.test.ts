import { readFileSync } from 'node:fs';
import { scopes } from '../../src/domain/agent.ts';
import type { Route } from '../../src/http/route.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { type Everything, guarded, makeEverything } from '../support/everything.ts';

const file = new URL('../fixtures/roles.txt', import.meta.url);
const callers = ['nobody', 'stranger', 'viewer', 'member', 'admin', 'owner', 'revoked', 'expired'] as const;
type Caller = (typeof callers)[number] | `scope ${(typeof scopes)[number]}`;

let service: TestApp;
let world: Everything;
const tokens: Partial<Record<Caller, string>> = {};

beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true', RATE_LIMIT_MODEL: '0' });
  world = await makeEverything(service);
  const { owner, ids } = world;
  const join = async (login: string, role: string) => {
    const path = `/projects/${ids.projectId}/members`;
    expect((await service.call('POST', path, { token: owner, body: { login, role } })).status).toBe(201);
    return service.token(login);
  };
  Object.assign(tokens, {
    stranger: await service.token('stranger'),
    viewer: await join('viewer', 'viewer'),
    member: await join('member', 'member'),
    admin: await join('admin', 'admin'),
    owner,
    revoked: await join('revoked', 'owner'),
    expired: await join('expired', 'owner'),
  });
  for (const each of scopes) {
    const made = await service.call('POST', '/me/tokens', { token: owner, body: { name: each, scopes: each } });
    tokens[`scope ${each}`] = made.body.token;
  }
  const set = (column: string, login: Caller) =>
    service.app.db.manager.query(
      `update api_tokens set ${column} = now() where user_id = (select id from users where login = $1)`,
      [login],
    );
  await set('revoked_at', 'revoked');
  await set('expires_at', 'expired');
});
afterAll(() => service.close());

const table = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => /^(GET|POST|PUT|PATCH|DELETE) /.test(line));

/**
 * Sends an unknown query parameter or body field. A 400 means that the access rule admitted the caller and that nothing
 * was changed.
 */
async function outcome(route: Route, caller: Caller): Promise<string> {
  const token = tokens[caller];
  const { projectId = '' } = world.ids;
  const inQuery = route.access.kind === 'projectInQuery' ? `&projectId=${projectId}` : '';
  const { status } = await service.call(route.method.toUpperCase(), `${world.pathOf(route)}?surprise=1${inQuery}`, {
    ...(token === undefined ? {} : { token }),
    ...(route.access.kind === 'projectInBody' ? { body: { projectId } } : {}),
  });
  return status === 400 ? 'yes' : String(status);
}

test('the table lists exactly the existing operations', () => {
  expect(table.map((line) => line.split(' ').slice(0, 2).join(' ')).sort()).toEqual(
    guarded.map(([name]) => name).sort(),
  );
});

test('what viewers may call only reads, except that they may leave', () => {
  const writes = guarded.filter(([, { method, access }]) => access.role === 'viewer' && method !== 'get');
  expect(writes.map(([name]) => name)).toEqual(['DELETE /projects/:projectId/members/:userId']);
});

test('what concerns a project names the least role', () => {
  const ofPersons = guarded.filter(([, { access }]) => access.role === undefined).map(([, { path }]) => path);
  expect([...new Set(ofPersons)].sort()).toEqual([
    ...['/agents', '/agents/health/all', '/agents/health/unhealthy', '/agents/pool/reconcile'],
    ...[
      '/agents/pool/reconciliations',
      '/agents/teams',
      '/agents/teams/:team',
      '/batch',
      '/me',
      '/me/inbox',
      '/me/notices',
    ],
    ...[
      '/me/notices/confirmation',
      '/me/sessions',
      '/me/tokens',
      '/me/tokens/:tokenId',
      '/me/unassigned-secrets',
      '/projects',
    ],
  ]);
});

test.each(guarded)('%s for each kind of caller', async (name, route) => {
  const [, , ...wanted] = table.find((line) => line.startsWith(`${name} `))?.split(/ +/) ?? [];
  const found: Record<string, string> = {};
  for (const caller of callers) found[caller] = await outcome(route, caller);
  expect(found).toEqual(Object.fromEntries(callers.map((caller, at) => [caller, wanted[at]])));
  const byScope: Record<string, string> = {};
  for (const scope of scopes) byScope[scope] = await outcome(route, `scope ${scope}`);
  const [ofOwner = '', least] = [wanted[callers.indexOf('owner')], wanted[callers.length]];
  expect(byScope).toEqual(
    Object.fromEntries(scopes.map((each, at) => [each, at >= scopes.indexOf(least as never) ? ofOwner : '403'])),
  );
});
