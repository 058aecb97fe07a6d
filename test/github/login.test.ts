import { type DemoGitHub, startGitHub } from '../../demo/github/github.ts';
import { removeOld } from '../../src/jobs.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let github: DemoGitHub;
let service: TestApp;
beforeAll(async () => {
  github = await startGitHub({ owner: 'mona', repository: 'sample', people: ['stranger', 'hubot'] });
  service = await openTestApp({
    APP_ID: String(github.appId),
    PRIVATE_KEY: github.privateKey,
    WEBHOOK_SECRET: github.webhookSecret,
    GITHUB_API_URL: github.url,
    GITHUB_SERVER_URL: github.url,
    GITHUB_CLIENT_ID: 'Iv1.test',
    GITHUB_CLIENT_SECRET: 'client-canary',
  });
});
afterAll(async () => {
  await service.close();
  await github.close();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}${path}`, { redirect: 'manual', headers });
const cookieOf = (response: Response) =>
  (response.headers.getSetCookie().find((c) => !/=;/.test(c)) ?? '').split(';')[0] ?? '';

/**
 * Begins a sign-in and lets a person of the emulator agree. Returns the callback's address and the browser's cookie.
 */
async function agree(login: string, returnTo = '/projects'): Promise<{ back: string; cookie: string }> {
  const begun = await get(`/login/github?return_to=${encodeURIComponent(returnTo)}`);
  const query = new URL(begun.headers.get('location') ?? '').searchParams;
  expect(query.get('code_challenge_method')).toBe('S256');
  const form = {
    login,
    redirect_uri: query.get('redirect_uri') ?? '',
    state: query.get('state') ?? '',
    client_id: 'Iv1.test',
    scope: '',
  };
  const agreed = await fetch(`${github.url}/login/oauth/callback`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form),
  });
  const back = new URL(agreed.headers.get('location') ?? '');
  return { back: back.pathname + back.search, cookie: cookieOf(begun) };
}

test('signing in sets a session cookie and returns to the page that asked for it', async () => {
  expect(await (await get('/login')).text()).toContain('Sign in with GitHub');
  const { back, cookie } = await agree('mona');
  const done = await get(back, { Cookie: cookie });
  expect([done.status, done.headers.get('location')]).toEqual([303, '/projects']);
  const set = done.headers.getSetCookie().find((c) => c.startsWith('deckhand_session=')) ?? '';
  expect(set).toMatch(/HttpOnly; SameSite=Lax$/);
  const session = set.split(';')[0] ?? '';
  const me = await get('/api/v1/me', { Cookie: session });
  expect(await me.json()).toMatchObject({ login: 'mona' });
  expect((await get(back, { Cookie: cookie })).status).toBe(400);

  const write = (headers: Record<string, string>) =>
    fetch(`${service.url}/api/v1/projects`, {
      method: 'POST',
      body: '{"name":"By cookie"}',
      headers: { 'Content-Type': 'application/json', Cookie: session, ...headers },
    });
  for (const headers of [
    {},
    { Origin: 'https://evil.example' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { Origin: 'null' },
    { Origin: 'http://localhost:3000', 'Sec-Fetch-Site': 'same-site' },
    // A header without a token, so the cookie decides.
    { Origin: 'https://evil.example', Authorization: 'Bearer \u00a0' },
    { Origin: 'https://evil.example', Authorization: 'Bearer \u00a0 \u00a0' },
  ]) {
    const refused = await write(headers as Record<string, string>);
    expect([refused.status, await refused.json()]).toEqual([
      403,
      { statusCode: 403, message: 'Cross-site request refused' },
    ]);
  }
  expect((await write({ Origin: 'http://localhost:3000' })).status).toBe(201);
  expect((await get('/api/v1/me/tokens', { Cookie: session })).json()).resolves.toEqual([]);

  const logout = (headers: Record<string, string>) =>
    fetch(`${service.url}/logout`, { method: 'POST', redirect: 'manual', headers: { Cookie: session, ...headers } });
  expect((await logout({ Origin: 'https://evil.example' })).status).toBe(403);
  // A browser sends no cookie with another site's form, but would delete it if our reply said so.
  expect((await logout({ Origin: 'https://evil.example', Cookie: '' })).status).toBe(403);
  expect((await logout({ Origin: 'http://localhost:3000' })).status).toBe(303);
  expect((await get('/api/v1/me', { Cookie: session })).status).toBe(401);
});

test('a client that accepts JSON gets the token as JSON', async () => {
  const { back, cookie } = await agree('mona');
  const done = await get(back, { Cookie: cookie, Accept: 'application/json' });
  const { token, expiresAt } = (await done.json()) as { token: string; expiresAt: string };
  expect((await service.call('GET', '/me', { token })).body.login).toBe('mona');
  expect(Math.round((Date.parse(expiresAt) - Date.now()) / 3_600_000)).toBe(12);
});

test('a sign-in that is expired, invented or from another browser is refused', async () => {
  const { back, cookie } = await agree('mona');
  const other = await agree('stranger');
  expect((await get(back, { Cookie: other.cookie })).status).toBe(400);
  expect((await get(back, { Cookie: cookie })).status).toBe(400);
  const late = await agree('mona');
  await service.app.db.manager.query(`update sign_ins set created_at = now() - interval '11 minutes'`);
  expect((await get(late.back, { Cookie: late.cookie })).status).toBe(400);
  for (const path of ['/login/callback', '/login/callback?code=a&state=b', '/login/callback?code=a&code=b&state=c'])
    expect((await get(path, { Cookie: cookie })).status).toBe(400);
});

test.each([
  '//evil.example',
  '/\\evil.example',
  'https://evil.example',
  '/a\\b',
  'javascript:alert(1)',
  '/ü',
  '',
])('%j is not accepted as the path to return to', async (to) => {
  const { back, cookie } = await agree('mona', to);
  expect((await get(back, { Cookie: cookie })).headers.get('location')).toBe('/');
});

test('the number of unfinished sign-ins is bounded, and a new one still works', async () => {
  const em = service.app.db.manager;
  await em.query(
    `insert into sign_ins (state_digest, browser_digest, verifier, return_to, created_at)
     select 'flood ' || n, '', '', '/', now() - n * interval '1 ms' from generate_series(1, 12000) n`,
  );
  const { back, cookie } = await agree('mona');
  const [{ count }] = await em.query('select count(*)::int as count from sign_ins');
  expect(count).toBe(10_000);
  expect((await get(back, { Cookie: cookie })).status).toBe(303);
});

test('the sweep removes expired sign-ins; a new sign-in does not', async () => {
  const em = service.app.db.manager;
  await em.query(`update sign_ins set created_at = now() - interval '61 minutes'`);
  await get('/login/github');
  const count = async () => Number((await em.query('select count(*) from sign_ins'))[0].count);
  expect(await count()).toBeGreaterThan(1);
  await removeOld(service.app);
  expect(await count()).toBe(1);
  const indexes: { name: string }[] = await em.query(
    `select indexname as name from pg_indexes where tablename = 'sign_ins'`,
  );
  expect(indexes.map((i) => i.name)).toContain('sign_ins_age');
});

// Who may sign in.

const enter = async (login: string, accept = 'application/json') => {
  const { back, cookie } = await agree(login);
  const done = await get(back, { Cookie: cookie, Accept: accept });
  return { status: done.status, headers: done.headers, text: await done.text() };
};
const tokenOf = async (login: string) => JSON.parse((await enter(login)).text).token as string;
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
const create = async (token: string) =>
  service.call('POST', '/projects', { token, body: { name: 'P' } }).then(({ status, body }) => ({ status, ...body }));
/** Calls a function whenever GitHub is asked as the App. Returns a function that ends this. */
function askingApp(act: () => void): () => void {
  const github = service.app.github as NonNullable<typeof service.app.github>;
  service.app.github = {
    ...github,
    asApp: async () => {
      act();
      return github.asApp();
    },
  };
  return () => {
    service.app.github = github;
  };
}

const whom = /^This service is for members .* Ask an owner of a project to add you, or ask whoever runs the service/;

test('a stranger sees a page that says whom to ask, and gets neither a session nor an answer of the API', async () => {
  const { status, headers, text } = await enter('stranger', 'text/html');
  expect([status, headers.getSetCookie().some((c) => c.startsWith('deckhand_session='))]).toEqual([403, false]);
  expect(text).toContain('You cannot sign in');
  expect(text).toContain('Ask an owner of a project to add you');
  expect(text).not.toContain('mona');
  const refused = await enter('stranger');
  expect([refused.status, JSON.parse(refused.text).message]).toEqual([403, expect.stringMatching(whom)]);
  expect(await sql(`select 1 from api_tokens t join users u on u.id = t.user_id where u.login = 'stranger'`)).toEqual(
    [],
  );
});

test('GitHub is asked about a stranger at most once a minute', async () => {
  let asked = 0;
  const restore = askingApp(() => {
    asked += 1;
  });
  await sql(`update users set asked_at = now() - interval '61 s' where login = 'stranger'`);
  for (let i = 0; i < 3; i++) expect((await enter('stranger')).status).toBe(403);
  expect(asked).toBe(1);
  restore();
});

test('somebody whom a member added to a project signs in, and loses access with the membership', async () => {
  const mona = await tokenOf('mona');
  const project = (await create(mona)).id;
  const member = (
    await service.call('POST', `/projects/${project}/members`, {
      token: mona,
      body: { login: 'hubot', role: 'viewer' },
    })
  ).body;
  const hubot = await tokenOf('hubot');
  expect((await service.call('GET', `/projects/${project}`, { token: hubot })).status).toBe(200);
  // Viewers were shown a project; that is no reason to use the model of the service.
  expect((await create(hubot)).status).toBe(403);
  const path = `/projects/${project}/members/${member.userId}`;
  expect((await service.call('PATCH', path, { token: mona, body: { role: 'member' } })).status).toBe(200);
  expect((await create(hubot)).status).toBe(201);
  await sql('delete from projects where created_by = $1', [member.userId]);
  await service.call('DELETE', `/projects/${project}/members/${member.userId}`, { token: mona });
  for (const path of ['/me', '/projects', '/batch?get=/me', '/agents'])
    expect([path, await service.call('GET', path, { token: hubot })]).toEqual([
      path,
      expect.objectContaining({ status: 403, body: { statusCode: 403, message: expect.stringMatching(whom) } }),
    ]);
  expect((await create(hubot)).status).toBe(403);
  expect((await enter('hubot')).status).toBe(403);
});

test('a person who has left the account keeps their projects, but neither they nor those they add create more', async () => {
  const mona = await tokenOf('mona');
  const project = (await create(mona)).id;
  await service.call('POST', `/projects/${project}/members`, {
    token: mona,
    body: { login: 'hubot', role: 'owner' },
  });
  const hubot = await tokenOf('hubot');
  await sql(`update users set admitted_until = null where login = 'mona'`);
  expect((await service.call('GET', '/me', { token: mona })).status).toBe(200);
  expect((await service.call('GET', `/projects/${project}`, { token: mona })).status).toBe(200);
  expect(await create(mona)).toEqual({
    status: 403,
    statusCode: 403,
    message: expect.stringContaining('sign in again'),
  });
  expect((await create(hubot)).status).toBe(403);
  expect((await create(await tokenOf('mona'))).status).toBe(201);
  expect((await create(hubot)).status).toBe(201);
});

test("the operator's token admits a person, also after a sign-in as a member of no account", async () => {
  expect((await create(await service.token('stranger'))).status).toBe(201);
  await sql(`delete from projects where created_by = (select id from users where login = 'stranger')`);
  expect((await create(await tokenOf('stranger'))).status).toBe(201);
});

test('while GitHub does not answer, members sign in, and others are asked to try again', async () => {
  await sql(`update users set admitted_until = null, asked_at = null`);
  await sql('delete from members');
  const mona = await service.token('mona');
  const project = (await create(mona)).id;
  await sql(`update users set admitted_until = null`);
  const restore = askingApp(() => {
    throw Object.assign(new Error('socket hang up'), { name: 'HttpError', status: 500 });
  });
  for (let i = 0; i < 2; i++) {
    const { status, text } = await enter('hubot', 'text/html');
    expect([status, text]).toEqual([503, expect.stringContaining('Try again in a minute')]);
  }
  expect((await enter('mona')).status).toBe(200);
  restore();
  expect((await service.call('GET', `/projects/${project}`, { token: mona })).status).toBe(200);
  expect((await enter('hubot')).status).toBe(403);
});

test('with SIGN_IN=anyone, strangers sign in and create projects', async () => {
  service.app.config.SIGN_IN = 'anyone';
  expect((await create(await tokenOf('hubot'))).status).toBe(201);
  service.app.config.SIGN_IN = 'members';
});

test('without credentials of the App, sign-in names the missing settings', async () => {
  const plain = await openTestApp();
  const answer = await fetch(`${plain.url}/login/github`, { redirect: 'manual' });
  expect([answer.status, await answer.json()]).toEqual([
    503,
    expect.objectContaining({ message: expect.stringContaining('GITHUB_CLIENT_ID') }),
  ]);
  expect(await (await fetch(`${plain.url}/login`)).text()).toContain('GITHUB_CLIENT_ID');
  await plain.close();
});
