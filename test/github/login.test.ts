import { type DemoGitHub, startGitHub } from '../../src/demo/github/github.ts';
import { removeOld } from '../../src/retention.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let github: DemoGitHub;
let service: TestApp;
beforeAll(async () => {
  github = await startGitHub({ owner: 'mona', repository: 'sample', people: ['stranger'] });
  service = await openTestApp({
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
