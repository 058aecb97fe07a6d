import { openTestApp, type TestApp } from '../support/app.ts';
import { type Everything, guarded, makeEverything, rowsOf } from '../support/everything.ts';

const canaries = {
  git: 'ghp_canaryOfTheGitToken0123456789abcdef',
  model: 'sk-canary-of-the-model-token-0123456789',
  mcp: 'canary-of-the-mcp-server-0123456789',
  environment: 'canary-of-an-environment-secret-0123',
};
const settings = {
  OPENAI_API_KEY: 'sk-canary-of-the-service-itself-987654',
  JWT_SECRET: 'canary-jwt-secret-of-the-service-0123456',
  ENCRYPTION_KEY: 'c4'.repeat(32),
};

let service: TestApp;
let world: Everything;
let secrets: string[];

beforeAll(async () => {
  service = await openTestApp({ ...settings, ALLOW_PRIVATE_HOSTS: 'true' });
  world = await makeEverything(service);
  const set = (kind: string, token: string) =>
    service.call('POST', `/projects/${world.ids.projectId}/${kind}-token`, { token: world.owner, body: { token } });
  expect((await set('git', canaries.git)).body).toEqual({ configured: true });
  expect((await set('model', canaries.model)).body).toEqual({ configured: true });
  const headers = [{ name: 'Authorization', value: `Bearer ${canaries.mcp}` }];
  const servers = [{ name: 'tracker', url: 'https://mcp.example.com/mcp', headers }];
  const path = `/projects/${world.ids.projectId}/mcp-servers`;
  expect((await service.call('PUT', path, { token: world.owner, body: servers })).status).toBe(200);
  const secret = `/projects/${world.ids.projectId}/environment-secrets/NPM_TOKEN`;
  const setting = { token: world.owner, body: { value: canaries.environment } };
  expect((await service.call('PUT', secret, setting)).status).toBe(204);
  const made = await service.call('POST', '/me/tokens', { token: world.owner, body: { name: 'shown once' } });
  const plain = [...Object.values(canaries), ...Object.values(settings), made.body.token];
  secrets = plain.flatMap((s) => [
    s,
    Buffer.from(s).toString('base64').replace(/=+$/, ''),
    Buffer.from(s).toString('hex'),
  ]);
});
afterAll(() => service.close());

// Endless streams contain only numbers, ids and statuses.
const reads = guarded.filter(([, r]) => r.method === 'get' && !r.isStream);

/** Of routes that require a query. */
const queryOf = ({ path }: { path: string }) => {
  if (path === '/batch') return `?get=/projects/${world.ids.projectId}&get=/repositories`;
  if (path.endsWith('/trials/estimate')) return `?repositoryId=${world.ids.repository}`;
  if (path === '/receipts') return '?pullRequest=https%3A%2F%2Fgithub.com%2Fo%2Fr%2Fpull%2F1';
  return path.endsWith('/automations/trial') ? '?cron=0+3+*+*+*&timezone=UTC' : '';
};

test.each(reads)('%s shows no secret', async (_name, route) => {
  const answer = await service.call('GET', world.pathOf(route) + queryOf(route), { token: world.owner });
  // 502 and 503 where GitHub would be asked: this service has no App.
  const unasked = [502, 503].filter((status) => route.errors !== undefined && status in route.errors);
  expect([200, 404, ...unasked]).toContain(answer.status);
  const text = JSON.stringify([answer.body, [...answer.headers]]);
  for (const secret of secrets) expect(text).not.toContain(secret);
});

test('a dump of the database, including the queue, contains no secret', async () => {
  const boss: { name: string }[] = await service.app.db.manager.query(
    `select table_name as name from information_schema.tables where table_schema = 'pgboss' and table_type = 'BASE TABLE'`,
  );
  const rows = await rowsOf(service);
  for (const { name } of boss)
    for (const { row } of await service.app.db.manager.query(`select t::text as row from pgboss.${name} t`))
      rows.push(row);
  const dump = rows.join('\n');
  expect(dump).toContain('shown once');
  for (const secret of secrets) expect(dump).not.toContain(secret);
});
