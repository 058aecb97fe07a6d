import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tls from 'node:tls';
import { egressPort } from '../../src/domain/settings.ts';
import { type Egress, egressDoor } from '../../src/egress/egress.ts';
import { proxyVariables } from '../../src/egress/tools/tools-configuration.ts';
import { readProxies } from '../../src/host/proxies.ts';
import { openSandbox } from '../../src/sandbox/self-test.ts';
import {
  type Authority,
  type CompanyProxy,
  makeAuthority,
  startCompanyProxy,
} from '../support/stand-ins/company-proxy.ts';

const names = ['registry.example.org', 'other.example.org'];
const authority = makeAuthority(names) as Authority;
const given = authority === undefined ? test.skip : test;
const hosts = [...names, 'direct.example.org', 'intranet', 'a.internal'];
const { signal } = new AbortController();
let folder = '';
let company: CompanyProxy;
let egress: Egress;
const origin = createServer((req, res) => res.end(`${req.method} ${req.url} ${JSON.stringify(req.headers)}`));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'next-hop-'));
  await chmod(folder, 0o755);
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  origin.close();
  origin.closeAllConnections();
  authority?.remove();
  await rm(folder, { recursive: true });
});

const settings = (href: string) => ({
  ...{ EGRESS: 'on' as const, EGRESS_DEFAULT_HOSTS: names, EGRESS_OPEN_ADDRESSES: [], ALLOW_PRIVATE_HOSTS: false },
  proxies: readProxies({ HTTPS_PROXY: href, HTTP_PROXY: href, NO_PROXY: 'direct.example.org' }).proxies,
});
const lookUp = async () => [{ address: '10.0.0.1', family: 4 }];
const opening = (href: string, own?: (path: string) => Promise<void>) =>
  egressDoor(settings(href), {}, { lookUp }).open({ folder, own, hosts, list: 'agent', signal });

beforeEach(async () => {
  company = await startCompanyProxy(authority, { user: 'me', password: 'hidden word' });
  for (const name of names) company.hosts.set(name, (origin.address() as AddressInfo).port);
  egress = await opening(company.withCredentials);
});
afterEach(async () => {
  await egress.close();
  await company.close();
});

/** Sends bytes to the run's proxy, and returns what comes back until it hangs up. */
async function say(text: string): Promise<string> {
  const client = connect({ path: egress.socket }).on('error', () => {});
  client.write(text);
  const heard: Buffer[] = [];
  for await (const chunk of client) heard.push(chunk as Buffer);
  const said = Buffer.concat(heard).toString();
  expect(said).not.toMatch(/hidden|Basic/);
  return said;
}

/** Asks for a page through a tunnel of the run's proxy. `serverName` is what TLS asks for. */
async function getSecurely(host: string, serverName = host): Promise<string> {
  const tunnel = connect({ path: egress.socket });
  tunnel.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const reply = await new Promise<string>((resolve) => tunnel.once('data', (chunk) => resolve(chunk.toString())));
  if (!reply.startsWith('HTTP/1.1 200')) return reply;
  const secure = tls.connect({ socket: tunnel, servername: serverName, ca: authority.pem });
  return new Promise((resolve, reject) => {
    secure.once('error', reject);
    const sent = request({ createConnection: () => secure, host, path: '/secure' }, async (answer) => {
      let text = '';
      for await (const chunk of answer) text += chunk;
      resolve(text);
    });
    sent.once('error', reject);
    sent.end();
  });
}

given('TLS goes through a tunnel of the company, after its name was checked', async () => {
  expect(await getSecurely('registry.example.org')).toMatch(/^GET \/secure (?!.*proxy-auth)/);
  await expect(getSecurely('registry.example.org', 'other.example.org')).rejects.toThrow();
  expect(egress.news()).toContain('its TLS hello names another server');
  expect(new Set(company.seen)).toEqual(new Set(['CONNECT registry.example.org:443']));
});

given('requests on port 80 are sent to the company in absolute form', async () => {
  const get = 'GET http://registry.example.org/a?b HTTP/1.1\r\nHost: registry.example.org\r\nConnection: close\r\n\r\n';
  expect(await say(get)).toMatch(/^HTTP\/1.1 200 OK\r\n.*GET \/a\?b (?!.*proxy-auth)/s);
  const post = get.replace('GET', 'POST');
  expect(await say(post)).toContain('only GET and HEAD are allowed');
  expect(company.seen).toEqual(['GET http://registry.example.org/a?b']);
});

given('names that are not allowed, private names and addresses never reach the company', async () => {
  const ask = (host: string) => say(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  expect(await ask('evil.example.org')).toContain('add it to network.agent');
  expect(await ask('10.0.0.1')).toContain('only names can be allowed');
  expect(await ask('intranet')).toContain('operators can add it to NO_PROXY');
  expect(await ask('a.internal')).toContain('operators can add it to NO_PROXY');
  expect(await ask('direct.example.org')).toContain('it has a private or reserved address');
  expect(company.seen).toEqual([]);
});

given('what the company refuses is said without the credentials', async () => {
  const get = 'GET http://registry.example.org/ HTTP/1.1\r\nHost: registry.example.org\r\n\r\n';
  const tunnel = 'CONNECT registry.example.org:443 HTTP/1.1\r\n\r\n';
  company.refused.add('registry.example.org');
  expect(await say(tunnel)).toMatch(/^HTTP\/1.1 502 .*\(HTTPS_PROXY\) refused to connect .* \(HTTP 403\)/);
  await egress.close();
  egress = await opening(company.withCredentials.replace('hidden', 'wrong'));
  expect(await say(tunnel)).toMatch(/^HTTP\/1.1 502 .*\(HTTPS_PROXY\) refused the user and the password/);
  expect(await say(get)).toMatch(/^HTTP\/1.1 502 .*\(HTTP_PROXY\) refused the user and the password/s);
  await company.close();
  expect(await say(tunnel)).toMatch(/^HTTP\/1.1 502 .*\(HTTPS_PROXY\) could not be reached \(ECONN/);
  expect(await say(get)).toMatch(/^HTTP\/1.1 502 .*\(HTTP_PROXY\) could not be reached \(ECONN/s);
});

given('the default hosts are tried through the company, which may refuse them', async () => {
  const examine = (href: string) => egressDoor(settings(href), { PATH: '/nowhere' }, { lookUp }).examine();
  company.refused.add('other.example.org');
  const { problems } = await examine(company.withCredentials);
  expect(problems).toContainEqual(expect.stringMatching(/^host other.example.org could not be reached .*HTTP 403/));
  expect(problems.join()).not.toContain('registry.example.org');
});

given('a command of a run reaches an allowed host, and sees nothing of the company', async () => {
  const home = join(folder, 'run');
  for (const name of ['work', 'git/objects']) await mkdir(join(home, name), { recursive: true });
  const limits = { memoryMb: 4096, diskMb: 10_240, processes: 1024 };
  const sandbox = await openSandbox({ setting: 'auto', toolsDir: join(folder, 'tools'), limits });
  if (!sandbox.state.works && process.env.CI) throw new Error(sandbox.state.says);
  if (!sandbox.state.works) return console.warn(`skipped: ${sandbox.state.says}`);
  const confinement = await sandbox.confine(signal);
  await writeFile(join(home, 'work', 'ca.pem'), authority.pem);
  await confinement.own(join(home, 'work'));
  const ours = await opening(company.withCredentials, confinement.own);
  const tools = await confinement.open(join(home, 'work'), join(home, 'git'));
  tools.configure({ egressSocket: ours.socket, afterCommand: ours.news, env: proxyVariables(egressPort) });
  const run = async (command: string) => (await tools.call('run_command', { command, timeoutSeconds: 60 })).text;
  expect(await run('curl -sS --cacert ca.pem https://registry.example.org/a')).toContain('GET /a ');
  expect(await run('curl -sS http://registry.example.org/b')).toContain('GET /b ');
  expect(await run('env')).not.toMatch(new RegExp(`hidden|:${company.port}`));
  await tools.close();
  await confinement.close();
  await ours.close();
  expect(company.seen).toEqual(['CONNECT registry.example.org:443', 'GET http://registry.example.org/b']);
});
