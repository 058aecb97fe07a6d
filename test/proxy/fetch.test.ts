import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openAddress } from '../../src/git/remote-url.ts';
import { readProxies } from '../../src/host/proxies.ts';
import { whyUnreachable } from '../../src/host/through-proxy.ts';
import { mcpClient } from '../../src/mcp/client.ts';
import { fetchFromGitHub, fetchFromMcp, fetchFromModel } from '../../src/outgoing/fetch-from.ts';
import {
  type Authority,
  type CompanyProxy,
  makeAuthority,
  startCompanyProxy,
  trust,
} from '../support/stand-ins/company-proxy.ts';
import { startMcpServer } from '../support/stand-ins/mcp-server.ts';

const names = ['api.github.test', 'models.test', 'mcp.example.test', 'localhost', '127.0.0.1'];
const authority = makeAuthority(names) as Authority;
const given = authority === undefined ? test.skip : test;
const user = { user: 'us@er', password: 'hidden:word/of the proxy' };
let proxy: CompanyProxy;
let port = 0;
/** Paths and encodings that arrived at the host. */
const asked: string[] = [];
const host = createServer((req, res) => {
  let body = '';
  req.on('data', (chunk) => {
    body += chunk;
  });
  req.once('end', () => {
    asked.push(`${req.method} ${req.url} ${body}`.trim());
    if (req.method === 'PUT') return res.writeHead(204).end();
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ headers: req.headers }));
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  port = (host.address() as AddressInfo).port;
});
afterAll(() => {
  host.close();
  host.closeAllConnections();
  authority?.remove();
});
beforeEach(async () => {
  proxy = await startCompanyProxy(authority, user);
  for (const name of names) proxy.hosts.set(name, port);
  asked.length = 0;
});
afterEach(() => proxy.close());

const proxiesOf = (env: Record<string, string>) => {
  const { proxies, problems } = readProxies(env);
  expect(problems).toEqual([]);
  return proxies;
};
const both = () => proxiesOf({ HTTPS_PROXY: proxy.withCredentials, http_proxy: proxy.withCredentials });
const failing = (asking: Promise<unknown>) =>
  asking.then(
    () => 'succeeded',
    (error) => {
      expect(`${error} ${error.stack} ${JSON.stringify(error)}`).not.toMatch(/hidden|us@er|us%40/);
      return whyUnreachable(error);
    },
  );

given('GitHub, models and MCP servers are reached through the proxy, each by its name', async () => {
  const undo = trust(authority);
  const github = fetchFromGitHub(both());
  const lock = {
    method: 'PUT',
    body: '{"lock_reason":"spam"}',
    headers: { Authorization: 'Bearer t', 'Content-Type': 'application/json' },
  };
  const locked = 'https://api.github.test/repos/o/r/issues/1/lock';
  // Octokit reads the next page from the address of an answer.
  expect(await github(locked, lock)).toMatchObject({ status: 204, url: locked });
  const model = fetchFromModel(10, { proxies: both() });
  const { headers } = (await (await model('https://models.test/v1/models')).json()) as { headers: object };
  expect(JSON.stringify(headers)).not.toContain('proxy');
  expect((await model('http://models.test/plain')).status).toBe(200);
  const server = await startMcpServer();
  proxy.hosts.set('mcp.example.test', Number(new URL(server.url).port));
  const rules = { githubOrigin: 'https://github.test', allowPrivateHosts: false, proxies: both() };
  const fetch = fetchFromMcp((url) => openAddress(url, rules));
  const client = mcpClient({ url: 'https://mcp.example.test/mcp', headers: {}, fetch });
  expect(await client.listTools(new AbortController().signal)).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'search' })]),
  );
  await client.close();
  server.close();
  undo();
  expect(asked).toEqual(['PUT /repos/o/r/issues/1/lock {"lock_reason":"spam"}', 'GET /v1/models', 'GET /plain']);
  expect([...new Set(proxy.seen)]).toEqual([
    'CONNECT api.github.test:443',
    'CONNECT models.test:443',
    'GET http://models.test/plain',
    'CONNECT mcp.example.test:443',
  ]);
});

given('a proxy that speaks TLS works, too', async () => {
  const undo = trust(authority);
  const secure = await startCompanyProxy(authority, { ...user, secure: true });
  secure.hosts.set('models.test', port);
  const proxies = proxiesOf({ HTTPS_PROXY: secure.withCredentials, HTTP_PROXY: secure.withCredentials });
  const model = fetchFromModel(10, { proxies });
  expect((await model('https://models.test/v1/models')).status).toBe(200);
  expect((await model('http://models.test/plain')).status).toBe(200);
  expect(secure.seen).toEqual(['CONNECT models.test:443', 'GET http://models.test/plain']);
  await secure.close();
  undo();
});

given('hosts of NO_PROXY, and this machine, are reached directly', async () => {
  const { proxies } = readProxies({ HTTP_PROXY: proxy.withCredentials, NO_PROXY: 'x.test' });
  const model = fetchFromModel(10, { proxies });
  expect((await model(`http://127.0.0.1:${port}/here`)).status).toBe(200);
  expect((await model(`http://localhost:${port}/here`)).status).toBe(200);
  // No name server knows it.
  expect(await failing(model('http://x.test/'))).toMatch(/^E(NOTFOUND|AI_AGAIN)$/);
  expect(proxy.seen).toEqual([]);
});

given('what the proxy refuses is explained with the setting, and never shows the credentials', async () => {
  const wrong = proxy.withCredentials.replace('hidden', 'wronghidden');
  const ask = (url: string, href: string) =>
    fetchFromModel(10, { proxies: proxiesOf({ https_proxy: href, HTTP_PROXY: href }) })(url);
  expect(await failing(ask('https://models.test/', wrong))).toBe(
    "the service's proxy (https_proxy) refused the user and the password (HTTP 407); correct them in https_proxy",
  );
  expect(await failing(ask('http://models.test/', wrong))).toContain('(HTTP_PROXY) refused the user and the password');
  expect(await failing(ask('https://models.test/', proxy.url))).toContain('requires a user and a password (HTTP 407)');
  proxy.refused.add('models.test');
  expect(await failing(ask('https://models.test/', proxy.withCredentials))).toBe(
    "the service's proxy (https_proxy) refused to connect to models.test (HTTP 403); allow the host there, or add it to NO_PROXY",
  );
  expect(await failing(ask('https://unknown.test/', proxy.withCredentials))).toContain('(HTTP 502)');
  const gone = proxy.withCredentials;
  await proxy.close();
  expect(await failing(ask('https://models.test/', gone))).toMatch(
    /^the service's proxy \(https_proxy\) could not be reached \(ECONN\w+\); check https_proxy/,
  );
  expect(await failing(fetchFromGitHub(proxiesOf({ HTTPS_PROXY: gone }))('https://api.github.test/'))).toContain(
    "the service's proxy (HTTPS_PROXY) could not be reached",
  );
});

given('a certificate of an unknown authority names NODE_EXTRA_CA_CERTS', async () => {
  expect(await failing(fetchFromModel(10, { proxies: both() })('https://models.test/'))).toContain(
    'set NODE_EXTRA_CA_CERTS',
  );
});

given('closed names and addresses are not asked of the proxy, unless the operator opens them', async () => {
  const rules = { githubOrigin: 'https://github.test', allowPrivateHosts: false, proxies: both() };
  for (const host of ['10.0.0.1', '[fd00::1]', '169.254.169.254', 'intranet', 'a.internal', 'a.local', 'metadata.'])
    await expect(openAddress(new URL(`https://${host}/`), rules)).rejects.toThrow(/NO_PROXY/);
  const open = { ...rules, allowPrivateHosts: true };
  expect(await openAddress(new URL('https://intranet/'), open)).toMatchObject({ proxy: { setting: 'HTTPS_PROXY' } });
  const exempt = { ...rules, proxies: proxiesOf({ HTTPS_PROXY: proxy.url, NO_PROXY: '10.0.0.0/8' }) };
  await expect(openAddress(new URL('https://10.0.0.1/'), exempt)).rejects.toThrow(/has a private address/);
});

test('the list of exceptions follows the rules of curl', () => {
  const proxies = proxiesOf({
    HTTPS_PROXY: 'http://p.test:3128',
    NO_PROXY: 'example.org, .dot.org *.star.org,only.test:8443,192.0.2.7,198.51.100.0/24 2001:db8::/32,[::5]',
    no_proxy: '',
  });
  const isDirect = (url: string) => proxies.find(new URL(url)) === undefined;
  const direct = [
    ...['example.org', 'EXAMPLE.org.', 'a.b.example.org', 'dot.org', 'x.dot.org', 'x.star.org', 'only.test:8443'],
    ...['192.0.2.7', '198.51.100.9', '[2001:db8::9]', '[::5]', 'localhost', '127.1.2.3', '[::1]', 'a.localhost'],
  ];
  expect(direct.filter((host) => !isDirect(`https://${host}/`))).toEqual([]);
  const proxied = ['notexample.org', 'example.org.evil.test', 'only.test', '192.0.2.70', '8.8.8.8', '[2001:db9::9]'];
  expect(proxied.filter((host) => isDirect(`https://${host}/`))).toEqual([]);
  expect(isDirect('http://anything.test/')).toBe(true);
  const none = proxiesOf({ HTTPS_PROXY: 'http://p.test', NO_PROXY: '*' });
  expect(none.find(new URL('https://8.8.8.8/'))).toBeUndefined();
  const lower = proxiesOf({
    HTTPS_PROXY: 'http://upper.test',
    https_proxy: 'http://lower.test',
    no_proxy: 'a.test',
    NO_PROXY: 'b.test',
  });
  expect(lower.find(new URL('https://b.test/'))).toEqual({ setting: 'https_proxy', href: 'http://lower.test/' });
  expect(lower.find(new URL('https://a.test/'))).toBeUndefined();
});

test('the description has no credentials, and neither has JSON', () => {
  const proxies = proxiesOf({ HTTPS_PROXY: 'http://me:hidden@p.test:3128', NO_PROXY: 'a.test' });
  expect(proxies.describe()).toBe('HTTPS_PROXY http://p.test:3128 (with credentials), NO_PROXY a.test');
  expect(JSON.stringify(proxies)).toBe('{}');
  expect(proxies.secrets()).toEqual(['hidden', 'hidden', Buffer.from('me:hidden').toString('base64')]);
});
