import { createHmac, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { until } from '../../../demo/real-service.ts';
import { claimOwnerships, observeInstallation, syncInstallations } from '../../../src/github/app/installation.ts';
import { missingFrom } from '../../../src/github/app/manifest.ts';
import { addMember } from '../../../src/projects/operations.ts';
import { findUserByLogin } from '../../../src/projects/store.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { appSettings } from '../../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../../support/stand-ins/fake-github.ts';

const granted = {
  permissions: {
    contents: 'write',
    issues: 'write',
    pull_requests: 'write',
    checks: 'write',
    actions: 'read',
    statuses: 'read',
    metadata: 'read',
    members: 'read',
  },
  events: [
    ...[
      'check_run',
      'check_suite',
      'issue_comment',
      'issue_dependencies',
      'issues',
      'label',
      'organization',
      'pull_request',
    ],
    ...['pull_request_review', 'pull_request_review_comment', 'push', 'release', 'repository', 'status', 'sub_issues'],
  ],
};
/** The accounts, by how GitHub treats their installation. The healthy one comes last. */
const names = ['suspended', 'tokenless', 'walled', 'blocked', 'garbled', 'old', 'healthy'];
const accounts = names.map((login, i) => ({ id: 10 + i, login, type: 'Organization' }));
let installations: { id: number }[];
/** Whose repository was deleted after it was listed. */
let deletedRepositoryOf: string | undefined;
const refusals: Record<string, [status: number, message: string]> = {
  tokenless: [403, 'This installation has been suspended'],
  walled: [
    403,
    'Although you appear to have the correct authorization credentials, the `walled` organization has an IP allow list enabled',
  ],
  blocked: [451, 'Repository access blocked'],
};
let github: FakeGitHub;
let service: TestApp;
let token: string;

/** With which token people were looked up; undefined for none. */
const lookedUpWith: (string | undefined)[] = [];
/** Ends the requests of the installation that does not answer. */
const waiting: (() => void)[] = [];
let isReleased = false;

/** Answers as GitHub, or a proxy before it, does for a broken installation; returns undefined for the others. */
function brokenAnswer(login: string, res: ServerResponse): { json: unknown } | undefined {
  const refusal = refusals[login];
  if (refusal !== undefined) {
    res.statusCode = refusal[0];
    return { json: { message: refusal[1] } };
  }
  if (login === 'silent') {
    if (isReleased) res.destroy();
    else waiting.push(() => res.destroy());
    res.flushHeaders();
    return { json: {} };
  }
  if (login !== 'garbled') return undefined;
  res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Down for maintenance</html>');
  return { json: {} };
}

async function deliver(payload: object): Promise<void> {
  const body = JSON.stringify(payload);
  const headers = {
    'X-GitHub-Event': 'installation',
    'X-GitHub-Delivery': randomUUID(),
    'X-Hub-Signature-256': `sha256=${createHmac('sha256', 'x').update(body).digest('hex')}`,
  };
  const response = await fetch(`${service.url}/api/github/webhooks`, { method: 'POST', body, headers });
  expect(response.status).toBe(202);
}

/** The login of the installation whose token a request has. */
const callerOf = (authorization = '') => accounts.find(({ id }) => authorization.endsWith(`ghs_${id}`))?.login ?? '';

beforeAll(async () => {
  installations = accounts.map((account) => ({
    id: account.id,
    account,
    suspended_at: account.login === 'suspended' ? '2026-11-01T10:00:00Z' : null,
    ...granted,
    ...(account.login === 'old' ? { permissions: { ...granted.permissions, checks: 'read' }, events: ['push'] } : {}),
  }));
  const admin = { id: 1, login: 'mona', name: null, avatar_url: '' };
  github = await openFakeGitHub([
    [
      /^POST \/app\/installations\/(\d+)\/access_tokens/,
      ([, id], res) => {
        if (accounts.find((a) => a.id === Number(id))?.login === 'tokenless') {
          res.statusCode = 403;
          return { message: refusals.tokenless?.[1] };
        }
        return { token: `ghs_${id}`, expires_at: new Date(Date.now() + 3_600_000).toISOString() };
      },
    ],
    [/^GET \/app\/installations\?/, () => installations],
    [
      /^GET \/(?:orgs\/(\w+)(.*)|installation\/repositories|users\/mona)/,
      ([path, org, rest], res) => {
        const login = callerOf(res.req.headers.authorization);
        const answered = brokenAnswer(login, res);
        if (answered !== undefined) return answered.json;
        if (path.includes('/users/')) {
          lookedUpWith.push(res.req.headers.authorization);
          return admin;
        }
        if (rest?.startsWith('/members?')) return [admin];
        if (rest?.startsWith('/memberships')) return undefined;
        if (org !== undefined) return accounts.find((a) => a.login === org);
        const repository = {
          id: 100 + accounts.findIndex((a) => a.login === login),
          name: 'shop',
          full_name: `${login}/shop`,
          private: true,
        };
        return { total_count: 1, repositories: [repository] };
      },
    ],
    [
      /^GET \/repos\/(\w+)\/shop\/labels/,
      ([, login], res) => {
        if (login !== deletedRepositoryOf) return [];
        res.statusCode = 404;
        return { message: 'Not Found' };
      },
    ],
    [/^GET \/app\/installations\/(\d+)$/, ([, id]) => installations.find((each) => each.id === Number(id))],
    [/^POST .*labels/, () => ({})],
  ]);
  service = await openTestApp(appSettings(github.url));
  token = await service.token('mona');
  await service.app.db.manager.query("update users set github_id = 1 where login = 'mona'");
});
afterAll(async () => {
  await service.close();
  github.close();
});

const stateOf = async (login: string) => {
  const sql = 'select p.id from installations i join projects p on p.id = i.project_id where account_login = $1';
  const [{ id }] = await service.app.db.manager.query(sql, [login]);
  await service.app.db.manager.query(
    `insert into members (project_id, user_id, role) select $1, id, 'member' from users where login = 'mona' on conflict do nothing`,
    [id],
  );
  return (await service.call('GET', `/projects/${id}`, { token })).body.github;
};

test('installations that GitHub refuses in different ways do not hold up the others', async () => {
  await syncInstallations(service.app);
  const connected = await service.app.db.manager.query('select url from repositories order by url');
  expect(connected.map(({ url }: { url: string }) => url.split('/').slice(-2).join('/'))).toEqual([
    'healthy/shop',
    'old/shop',
  ]);
  expect(await stateOf('healthy')).toEqual({ state: 'ok', reason: null, since: null });
});

test('each project says what keeps its installation from working, since when, and what to do', async () => {
  expect(await stateOf('suspended')).toEqual({
    state: 'suspended',
    reason: 'The App is suspended for suspended. An owner of the account can unsuspend it on GitHub.',
    since: '2026-11-01T10:00:00.000Z',
  });
  for (const [login, [status]] of Object.entries(refusals))
    expect(await stateOf(login)).toMatchObject({
      state: 'refused',
      reason: expect.stringContaining(`GitHub refuses access to ${login} (HTTP ${status})`),
      since: expect.stringMatching(/Z$/),
    });
  expect((await stateOf('walled')).reason).toContain('IP allow list');
  expect(await stateOf('old')).toMatchObject({
    state: 'missing_permissions',
    reason: expect.stringMatching(/checks: write, check_run, .*An owner of the account can accept them on GitHub/),
  });
});

test('a personal account lacks nothing that GitHub grants only to organizations', () => {
  const { members, ...permissions } = granted.permissions;
  const own = { permissions, events: granted.events.filter((event) => event !== 'organization') };
  expect(missingFrom(own, false)).toEqual([]);
  expect(missingFrom(own, true)).toEqual([`members: ${members}`, 'organization']);
  expect(missingFrom({ ...own, permissions: { ...permissions, checks: 'read' } }, false)).toEqual(['checks: write']);
});

test('a problem keeps its first time, and goes when GitHub accepts the calls again', async () => {
  const { since } = await stateOf('walled');
  await syncInstallations(service.app);
  expect((await stateOf('walled')).since).toBe(since);
  delete refusals.walled;
  await syncInstallations(service.app);
  expect(await stateOf('walled')).toEqual({ state: 'ok', reason: null, since: null });
});

test('a repository that is gone when its labels are read does not end its installation', async () => {
  deletedRepositoryOf = 'healthy';
  await observeInstallation(service.app, accounts.find(({ login }) => login === 'healthy')?.id ?? 0);
  deletedRepositoryOf = undefined;
  expect(await stateOf('healthy')).toMatchObject({ state: 'ok' });
});

test('deliveries of broken installations hold up none of fifteen healthy ones', async () => {
  const healthy = Array.from({ length: 15 }, (_, i) => ({ id: 100 + i, login: `healthy${i}`, type: 'Organization' }));
  const broken = ['tokenless', 'walled', 'blocked', 'garbled', 'silent'];
  accounts.push({ id: 50, login: 'silent', type: 'Organization' }, ...healthy);
  installations = accounts.map((account) => ({ id: account.id, account, suspended_at: null, ...granted }));
  refusals.walled = refusals.blocked as [number, string];
  await service.work();
  // The broken ones come first, and one of them never answers.
  const affected = [...broken.map((login) => accounts.find((a) => a.login === login)), ...healthy];
  for (const account of affected)
    for (let i = 0; i < 3; i++)
      await deliver({ action: 'created', installation: { ...granted, id: account?.id, account } });
  await until('the repositories of the healthy ones', async () => {
    const sql = `select count(*)::int as n from repositories where url like '%/healthy_%/shop'`;
    return (await service.app.db.manager.query(sql))[0].n === healthy.length;
  });
  expect(waiting.length).toBeGreaterThan(0);
  isReleased = true;
  for (const answer of waiting.splice(0)) answer();
});

test('users are looked up with any installation that answers', async () => {
  expect(await service.app.github?.findUser('mona')).toMatchObject({ id: 1 });
});

test('adding members to a project uses up the hour of no other account', async () => {
  await stateOf('healthy');
  const sql = `select project_id as id from installations where account_login = 'healthy'`;
  const [installed] = await service.app.db.manager.query(sql);
  const own = (await service.call('POST', '/projects', { token, body: { name: 'Own' } })).body;
  lookedUpWith.length = 0;
  for (const { id } of [own, installed])
    await expect(
      addMember(service.app, id, { id: 'anybody', role: 'admin' }, { login: 'mona', role: 'member' }),
    ).rejects.toThrow('mona is already a member of the project.');
  const healthy = accounts.find(({ login }) => login === 'healthy')?.id;
  expect(lookedUpWith).toEqual([undefined, expect.stringMatching(new RegExp(` ghs_${healthy}$`))]);
});

test('an account whose admins cannot be read does not prevent a sign-in', async () => {
  const mona = await findUserByLogin(service.app.db.manager, 'mona');
  await expect(claimOwnerships(service.app, mona as never)).resolves.toMatchObject({ isMember: false });
});
