import type { Request, Response } from 'express';
import jwt from 'jsonwebtoken';
import { AppError } from '../../src/errors.ts';
import {
  type Access,
  anyUser,
  findCaller,
  idOrEmpty,
  inProject,
  inProjectOfBody,
  inProjectOfQuery,
} from '../../src/http/access/access.ts';
import { authentication, readClaims, signToken, tokenUse } from '../../src/http/access/authenticate.ts';
import { clearCookie, readCookie, refuseCrossSite, sessionMs, setCookie } from '../../src/http/access/session.ts';
import type { Route } from '../../src/http/route.ts';
import { mintApiToken, mintOperatorToken, userOfLogin } from '../../src/projects/tokens.ts';
import { onTask } from '../../src/tasks/routes.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let projectId: string;
let taskId: string;
/** The ids of tokens. */
const tokens: Record<string, string> = {};
const brief = { name: 'x', expiresInDays: 1, scopes: 'admin' } as const;
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);

beforeAll(async () => {
  service = await openTestApp();
  const owner = await service.token('owner');
  const call = async (path: string, body: object) => (await service.call('POST', path, { token: owner, body })).body.id;
  projectId = await call('/projects', { name: 'P' });
  taskId = await call(`/projects/${projectId}/tasks`, { title: 't' });
  for (const role of ['member', 'admin']) await call(`/projects/${projectId}/members`, { login: role, role });
  for (const login of ['owner', 'admin', 'member', 'stranger'])
    tokens[login] = (await mintOperatorToken(service.app, await userOfLogin(service.app, login), 'x', 1)).id;
  for (const [name, column] of [
    ['revoked', 'revoked_at'],
    ['expired', 'expires_at'],
  ] as const) {
    tokens[name] = (await mintApiToken(service.app, (await userOfLogin(service.app, 'owner')).id, brief)).id;
    await sql(`update api_tokens set ${column} = now() where id = $1`, [tokens[name]]);
  }
  tokens.invented = 'tok_invented';
});
afterAll(() => service.close());

/** Returns what each caller gets: ok, or the status of the refusal. */
async function outcomes(access: Access<object>, asked: { params?: object; body?: unknown; query?: object }) {
  const found: Record<string, string> = {};
  for (const [name, tokenId] of Object.entries(tokens)) {
    const given = { params: {}, body: undefined, query: {}, ...asked, tokenId } as Parameters<typeof access.load>[1];
    found[name] = await access.load(service.app, given).then(
      () => 'ok',
      (error) => String(error.status),
    );
  }
  return Object.values(found).join(' ');
}
const dead = '401 401 401';

test('an object, a project in the path, in the body or in the query admits members with the role', async () => {
  // In the order of the tokens: owner, admin, member, stranger, then those that are revoked, expired and invented.
  expect(await outcomes(onTask('admin'), { params: { id: taskId } })).toBe(`ok ok 403 404 ${dead}`);
  expect(await outcomes(onTask('member'), { params: { id: taskId } })).toBe(`ok ok ok 404 ${dead}`);
  expect(await outcomes(onTask('member'), { params: { id: 'task_\0' } })).toBe(`404 404 404 404 ${dead}`);
  expect(await outcomes(inProject('owner'), { params: { projectId } })).toBe(`ok 403 403 403 ${dead}`);
  expect(await outcomes(inProject('member'), { params: { projectId } })).toBe(`ok ok ok 403 ${dead}`);
  expect(await outcomes(inProject('member'), { params: { projectId: 'proj_x' } })).toBe(`404 404 404 404 ${dead}`);
  expect(await outcomes(inProjectOfBody('admin'), { body: { projectId } })).toBe(`ok ok 403 403 ${dead}`);
  expect(await outcomes(inProjectOfBody('admin'), {})).toBe(`ok ok ok ok ${dead}`);
  expect(await outcomes(inProjectOfQuery, { query: { projectId } })).toBe(`ok ok ok 403 ${dead}`);
  expect(await outcomes(inProjectOfQuery, {})).toBe(`ok ok ok ok ${dead}`);
  expect(await outcomes(anyUser, {})).toBe(`ok ok ok ok ${dead}`);
});

test('a rule hands on the caller, the role and what it found', async () => {
  const asked = { tokenId: tokens.admin ?? '', params: { id: taskId, projectId }, body: { projectId: 7 }, query: {} };
  const user = await findCaller(service.app.db, asked.tokenId);
  const known = { login: 'admin', tokenId: asked.tokenId, via: 'token', scope: 'admin' };
  expect(user).toEqual({ id: expect.stringMatching(/^user_/), ...known });
  expect(await onTask('member').load(service.app, asked)).toMatchObject({ user, role: 'admin', task: { id: taskId } });
  expect(await inProject('member').load(service.app, asked)).toEqual({ user, role: 'admin', projectId });
  // The body's own validation refuses a projectId that is not text.
  expect(await inProjectOfBody('member').load(service.app, asked)).toEqual({ user, role: 'member', projectId: '' });
  expect(await inProjectOfQuery.load(service.app, asked)).toEqual({ user, projectId: null });
  expect([inProject('member'), inProjectOfBody('owner'), onTask('admin')]).toMatchObject([
    { kind: 'project', names: 'projectId', role: 'member' },
    { kind: 'projectInBody', names: 'projectId', role: 'owner' },
    { kind: 'object', names: 'id', role: 'admin' },
  ]);
  expect([idOrEmpty('a\0b'), idOrEmpty('ab')]).toEqual(['', 'ab']);
});

const secret = 'a secret of the tests that is long enough';

test('only tokens that this service signed for its own API are read, until they expire', () => {
  const inAnHour = new Date(Date.now() + 3_600_000);
  const token = signToken(secret, 'https://own', { sub: 'user_1', jti: 'tok_1' }, inAnHour);
  expect(readClaims(secret, 'https://own', token)).toMatchObject({
    sub: 'user_1',
    jti: 'tok_1',
    exp: Math.floor(inAnHour.getTime() / 1000),
  });
  const sign = (options: object, key = secret) => jwt.sign({ sub: 'user_1', jti: 'tok_1' }, key, options);
  for (const wrong of [
    sign({ issuer: 'https://other', audience: 'api' }),
    sign({ issuer: 'https://own', audience: 'other' }),
    sign({ issuer: 'https://own', audience: 'api', algorithm: 'HS512' }),
    sign({ issuer: 'https://own', audience: 'api' }, `${secret}!`),
    sign({ issuer: 'https://own', audience: 'api', expiresIn: -1 }),
    'nonsense',
  ])
    expect(readClaims(secret, 'https://own', wrong)).toBeUndefined();
});

test.each([
  ['POST', { origin: 'https://own.example' }, true],
  ['POST', { origin: 'https://own.example', 'sec-fetch-site': 'same-origin' }, true],
  ['POST', { 'sec-fetch-site': 'same-origin' }, true],
  ['GET', { origin: 'https://evil.example' }, true],
  ['HEAD', {}, true],
  ['POST', {}, false],
  ['DELETE', { origin: 'https://evil.example' }, false],
  ['PATCH', { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, false],
  ['POST', { origin: 'https://own.example', 'sec-fetch-site': 'cross-site' }, false],
  ['POST', { 'sec-fetch-site': 'same-site' }, false],
])('%s with a cookie and %j is admitted: %s', (method, headers, isAdmitted) => {
  const check = () => refuseCrossSite({ method, headers } as unknown as Request, 'https://own.example/sub');
  if (isAdmitted) expect(check).not.toThrow();
  else expect(check).toThrow('Cross-site request refused');
});

test('cookies are bound to the host over https, and hidden from scripts', () => {
  const set: unknown[] = [];
  const res = {
    cookie: (...given: unknown[]) => set.push(given),
    clearCookie: (...given: unknown[]) => set.push(given),
  };
  const options = { httpOnly: true, sameSite: 'lax', secure: true, path: '/' };
  setCookie(res as unknown as Response, 'https://own', 'name', 'value', 9);
  clearCookie(res as unknown as Response, 'http://own', 'name');
  expect(set).toEqual([
    ['__Host-name', 'value', { ...options, maxAge: 9 }],
    ['name', { ...options, secure: false }],
  ]);
  const req = { headers: { cookie: 'name=plain; __Host-name=bound' } } as Request;
  expect([readCookie(req, 'http://own', 'name'), readCookie(req, 'https://own', 'name')]).toEqual(['plain', 'bound']);
  expect(readCookie({ headers: {} } as Request, 'http://own', 'name')).toBeUndefined();
  expect(sessionMs / 3_600_000).toBe(12);
});

test('the use of a token is recorded at most once a minute', async () => {
  const uses: string[] = [];
  const db = {
    ...service.app.db,
    prepared: async (_name: string, _text: string, [id]: unknown[]) => uses.push(`${id}`),
  };
  let now = Date.now();
  const note = tokenUse({ ...service.app, db } as unknown as typeof service.app, () => now);
  for (const id of ['a', 'b', 'a', 'b']) note(id);
  now += 59_999;
  note('a');
  expect(uses).toEqual(['a', 'b']);
  now += 1;
  note('a');
  expect(uses).toEqual(['a', 'b', 'a']);
  // Beyond 10,000 tokens all are forgotten, so that the memory is bounded.
  for (let i = 0; i < 10_000; i++) note(`other ${i}`);
  note('a');
  expect(uses.filter((id) => id === 'a')).toHaveLength(3);
});

test('a token is looked up before it first counts, and again after each refusal', async () => {
  let looks = 0;
  const count = async (...given: Parameters<typeof service.app.db.prepared>) => {
    if (given[0] === 'caller') looks += 1;
    return service.app.db.prepared(...given);
  };
  const app = { ...service.app, db: { ...service.app.db, prepared: count } } as unknown as typeof service.app;
  const { tokenIdOf, onRefusal } = authentication(app, (_req, _res, next) => next());
  const owner = await userOfLogin(service.app, 'owner');
  const { id, token } = await mintApiToken(service.app, owner.id, brief);
  const res = { locals: {}, setHeader: () => {} } as unknown as Response;
  const ask = (headers: object, method = 'POST') =>
    tokenIdOf({ headers, method } as unknown as Request, res, {} as Route).catch((error) => error.status);
  const bearer = { authorization: `Bearer ${token}` };
  expect([await ask(bearer), await ask(bearer), looks]).toEqual([id, id, 1]);
  expect(res.locals).toMatchObject({ tokenId: id, userId: owner.id });
  const { keys, config } = service.app;
  const signed = (claims: object) => jwt.sign(claims, keys.jwtSecret, { issuer: config.BASE_URL, audience: 'api' });
  for (const wrong of ['nonsense', signed({ sub: owner.id }), signed({ jti: id }), signed({ sub: 's', jti: 'a\0b' })])
    expect(await ask({ authorization: `Bearer ${wrong}` })).toBe(401);
  expect([await ask({}), looks]).toEqual([401, 1]);
  expect(await ask({ cookie: `deckhand_session=${token}` })).toBe(403);
  expect(await ask({ cookie: `deckhand_session=${token}` }, 'GET')).toBe(id);
  // A reply of 403 says nothing about the token. After a 401 the token is looked up again.
  const refuse = (status: number) =>
    new Promise((next) => onRefusal(new AppError(status, 'no'), {} as Request, res, next));
  expect(await refuse(403)).toMatchObject({ status: 403 });
  expect([await ask(bearer), looks]).toEqual([id, 1]);
  expect(await refuse(401)).toMatchObject({ status: 401 });
  expect([await ask(bearer), looks]).toEqual([id, 2]);
});

test('over the limit, a token that was revoked gets 401 instead of 429', async () => {
  const { config } = service.app;
  const { tokenIdOf } = authentication({ ...service.app, config: { ...config, RATE_LIMIT_REQUESTS: 1 } }, () => {});
  const { id, token } = await mintApiToken(service.app, (await userOfLogin(service.app, 'member')).id, brief);
  const req = { headers: { authorization: `Bearer ${token}` }, method: 'GET', ip: '127.0.0.1', app: { get: () => 1 } };
  const res = { locals: {}, setHeader: () => {}, headersSent: false };
  const ask = () =>
    tokenIdOf(req as unknown as Request, res as unknown as Response, {} as Route).catch((error) => error.status);
  expect([await ask(), await ask()]).toEqual([id, 429]);
  await sql('update api_tokens set revoked_at = now() where id = $1', [id]);
  expect(await ask()).toBe(401);
});
