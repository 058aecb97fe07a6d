import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { egressPort } from '../../src/domain/settings.ts';
import { proxyVariables } from '../../src/egress/tools/tools-configuration.ts';
import type { Confinement, ToolHost } from '../../src/sandbox/sandbox.ts';
import { openSandbox } from '../../src/sandbox/self-test.ts';
import { openProxied, type Proxied } from './proxied.ts';

// Attacks with the tools that agents have. The addresses are from the ranges for documentation, which lead nowhere.

let [folder, root] = ['', ''];
let proxied: Proxied;
let confinement: Confinement;
let host: ToolHost;
/** A service of the machine, on its loopback device and on an abstract socket. */
const services = [createServer((socket) => socket.end('reached')), createServer((socket) => socket.end('reached'))];
const abstract = `deckhand-test-${process.pid}`;
let port = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'egress-'));
  await chmod(root, 0o755);
  folder = join(root, 'run');
  for (const name of ['work', 'git/objects']) await mkdir(join(folder, name), { recursive: true });
  const limits = { memoryMb: 4096, diskMb: 10_240, processes: 1024 };
  const sandbox = await openSandbox({ setting: 'auto', toolsDir: join(root, 'tools'), limits });
  if (!sandbox.state.works && process.env.CI) throw new Error(sandbox.state.says);
  if (!sandbox.state.works) console.warn(`skipped: ${sandbox.state.says}`);
  confinement = await sandbox.confine(new AbortController().signal);
  await confinement.own(join(folder, 'work'));
  proxied = await openProxied({ folder: root, own: confinement.own });
  host = await confinement.open(join(folder, 'work'), join(folder, 'git'));
  const { socket: egressSocket, news: afterCommand } = proxied.egress;
  host.configure({ egressSocket, afterCommand, env: proxyVariables(egressPort) });
  for (const [i, at] of [{ port: 0, host: '127.0.0.1' }, { path: `\0${abstract}` }].entries())
    await new Promise<void>((resolve) => services[i]?.listen(at, resolve));
  port = (services[0]?.address() as AddressInfo).port;
});
afterAll(async () => {
  await host.close();
  await confinement.close();
  await proxied.close();
  for (const service of services) service.close();
  await rm(root, { recursive: true, force: true });
});

const run = async (command: string) => {
  if (!host.hasShell) return undefined;
  const { text } = await host.call('run_command', { command, timeoutSeconds: 200 });
  return text.split('\n').slice(1).join('\n');
};
const node = (script: string) => `node -e '${script}'`;
const show = '.then(console.log, (e) => console.log(String(e.cause?.code ?? e.code ?? e)))';

test.each([
  ['curl', 'curl -sS http://allowed.example.org/a', 'GET /a from the host'],
  ['fetch of Node', node(`fetch("http://allowed.example.org/b").then((r) => r.text())${show}`), 'GET /b from the host'],
  [
    'Python',
    `python3 -c 'import urllib.request as u; print(u.urlopen("http://allowed.example.org/c").read().decode())'`,
    'GET /c from the host',
  ],
])('an allowed host is reached by %s', async (_what, command, says) => {
  const answer = await run(command);
  if (answer !== undefined && !answer.includes('not found')) expect(answer.trim()).toBe(says);
});

test('the answer of a command ends with the hosts that were refused', async () => {
  const answer = await run(
    'curl -sS https://example.com; curl -sS https://example.com; curl -sSo /dev/null http://a.example.com',
  );
  if (answer === undefined) return;
  const lines = answer.split('\n');
  expect(lines.filter((line) => line.startsWith('curl: '))).toHaveLength(2);
  expect(lines.slice(-2)).toEqual([
    '[network] host example.com is not allowed; add it to network.agent in .deckhand.yml (2 times)',
    '[network] host a.example.com is not allowed; add it to network.agent in .deckhand.yml',
  ]);
  expect(await run('echo quiet')).toBe('quiet\n');
});

const unreachable = /unreachable/i;
/** Each has a description, a command, and what the command says. */
const attacks: [string, () => string, RegExp][] = [
  ['TCP to an address', () => 'exec 3<>/dev/tcp/192.0.2.1/443', unreachable],
  ['TCP to an IPv6 address', () => 'exec 3<>/dev/tcp/2001:db8::1/443', /unreachable|cannot assign/i],
  ['UDP, as QUIC uses it', () => 'echo x > /dev/udp/192.0.2.1/443', unreachable],
  ['a DNS query', () => 'echo x > /dev/udp/192.0.2.1/53', unreachable],
  ['the name server of the system', () => 'getent hosts allowed.example.org || echo none', /^none$/],
  [
    'the name server of Node',
    () => node(`require("dns/promises").resolve4("allowed.example.org")${show}`),
    /^E[A-Z]+$/,
  ],
  ['curl without the proxy', () => 'curl -sS --noproxy "*" http://192.0.2.1/', /curl: \(7\)/],
  ['curl without variables', () => 'env -i curl -sS http://allowed.example.org/', /curl: \(6\)/],
  ['the loopback device of the machine', () => `exec 3<>/dev/tcp/127.0.0.1/${port}`, /refused/],
  [
    'an abstract socket of the machine',
    () =>
      node(
        `require("net").connect("\\0${abstract}").on("error", (e) => console.log(e.code)).on("data", (d) => console.log(String(d)))`,
      ),
    /ECONNREFUSED/,
  ],
  ['the socket of the proxy', () => 'ls /opt/egress.sock', /No such file/],
  ['the process that leads to the proxy', () => 'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n" | grep -c "[r]elay"', /^0$/],
  [
    'a raw socket',
    () => `python3 -c 'import socket as s; s.socket(s.AF_PACKET, s.SOCK_RAW)'`,
    /not supported|not permitted|not found/,
  ],
  [
    'a virtual socket to the machine',
    () => `python3 -c 'import socket as s; s.socket(40, s.SOCK_STREAM)'`,
    /not supported|not found/,
  ],
  ['another interface', () => 'ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1', /^\s*lo\s*$/],
  [
    'a proxy inside',
    () =>
      `env -u NODE_USE_ENV_PROXY ${node(`
        const http = require("http");
        const pass = (_req, res) => fetch("http://192.0.2.1/").catch((e) => res.end(e.cause?.code ?? e.message));
        const ask = () => http.get("http://127.0.0.1:8080", (res) => res.pipe(process.stdout)).once("close", stop);
        const server = http.createServer(pass).listen(8080, "127.0.0.1", ask);
        const stop = () => server.close();`)}`,
    /^(ENETUNREACH|fetch failed)$/,
  ],
];

test('nothing else is reached', async () => {
  const mark = '@@@';
  const script = attacks.map(([, command]) => `( ${command()} ) 2>&1; echo ${mark}`).join('\n');
  const answers = (await run(script))?.split(mark) ?? [];
  for (const [i, [what, , says]] of attacks.entries()) {
    if (answers.length === 0) continue;
    expect([what, answers[i]?.trim()]).toEqual([what, expect.stringMatching(says)]);
    expect(answers[i]).not.toContain('reached');
  }
});

test('only the allowed requests reached the host', () => {
  expect(proxied.received().match(/^[A-Z]+ \S+/gm)).toEqual(['GET /a', 'GET /b', 'GET /c']);
});
