import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openGate } from '../../src/egress/gate.ts';
import { lookUpOnce } from '../../src/egress/look-up.ts';
import { paced } from '../../src/egress/pace.ts';
import { proxyServer } from '../../src/egress/proxy-server.ts';
import { refusalLog } from '../../src/egress/refusals.ts';
import { helloOf, openProxied, type Proxied, throughTunnel } from './proxied.ts';

const closing: Proxied[] = [];
const opened = async (...given: Parameters<typeof openProxied>) => {
  const proxied = await openProxied(...given);
  closing.push(proxied);
  return proxied;
};
afterEach(async () => {
  for (const proxied of closing.splice(0)) await proxied.close();
});

const open = 'allowed.example.org';
const get = (url: string, more = 'Connection: close\r\n') =>
  `GET ${url} HTTP/1.1\r\nHost: ${new URL(url, `http://${open}`).host}\r\n${more}\r\n`;

describe('what is allowed', () => {
  test.each([open, 'ALLOWED.example.ORG', 'a.wild.example.org'])('TLS to %s', async (host) => {
    const { socket, dialled } = await opened();
    const text = 'x'.repeat(3_000_000);
    expect((await throughTunnel(socket, host, text)) === text).toBe(true);
    expect(dialled).toEqual([`${host.toLowerCase()}:443`]);
  });

  test('a hello that arrives byte by byte, or together with the request, reaches the host unchanged', async () => {
    const { say, received } = await opened();
    const hello = await helloOf(open);
    const request = `CONNECT ${open}:443 HTTP/1.0\r\n\r\n`;
    // The host has no certificate for this hello and hangs up.
    await say(request, ...Array.from(hello, (byte) => Buffer.of(byte)));
    await say(Buffer.concat([Buffer.from(request), hello]));
    expect(received()).toBe(hello.toString('latin1').repeat(2));
  });

  test('plain requests on port 80, several in a connection', async () => {
    const { say, dialled } = await opened();
    const kept = get(`http://${open}/a?b=%20c`, '');
    const head = get(`HTTP://${open}:80/x`).replace('GET', 'HEAD');
    const reply = await say(kept + get('http://second.example.org?q', '') + head);
    expect(reply).toMatch(/GET \/a\?b=%20c from the host.*GET \/\?q from the host.*HTTP\/1.1 200 .*\r\n\r\n$/s);
    expect(new Set(dialled)).toEqual(new Set([`${open}:80`, 'second.example.org:80']));
  });

  test('plain requests in a tunnel to port 80, as Node sends them', async () => {
    const { say } = await opened();
    expect(await say(`CONNECT ${open}:80 HTTP/1.1\r\n\r\n${get('/early', '')}`, get('/late'))).toMatch(
      /^HTTP\/1.1 200 Connection.*GET \/early from.*GET \/late from/s,
    );
  });

  test('headers of the request and of the answer arrive, except those that concern the connection', async () => {
    const { say, received } = await opened({
      answer: (_req, res) => {
        res.writeHead(404, { 'Set-Cookie': ['a=1', 'b=2'], 'X-Own': '1', Connection: 'X-Own', 'Content-Length': 2 });
        res.end('no');
      },
    });
    const more =
      'Accept: text/x\r\nRange: bytes=1-\r\nProxy-Authorization: Basic secret\r\nX-Hop: 1\r\nConnection: close, X-Hop\r\n';
    const reply = (await say(get(`http://${open}/`, more))).toLowerCase();
    expect(received().toLowerCase()).toMatch(/accept: text\/x\r\nrange: bytes=1-\r\nhost: allowed.example.org\r\n/);
    expect(received().toLowerCase()).not.toMatch(/secret|x-hop/);
    expect(reply).toMatch(/^http\/1.1 404 not found\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n/);
    expect(reply).toMatch(/\r\ncontent-length: 2\r\n.*\r\n\r\nno$/s);
    expect(reply).not.toContain('x-own');
  });
});

describe('what fails', () => {
  test('a name that is unknown, and a host that refuses connections', async () => {
    const unknown = 'unknown.example.org';
    const { say } = await opened({ hosts: [unknown] });
    const says = `host ${unknown} could not be resolved (ENOTFOUND)`;
    for (const request of [`CONNECT ${unknown}:443 HTTP/1.1\r\n\r\n`, get(`http://${unknown}/`)])
      expect(await say(request)).toMatch(new RegExp(`^HTTP/1.1 502 .*${says.replace(/[()]/g, '\\$&')}`, 's'));
    expect((await opened()).egress.refused()).toEqual([]);
  });

  test.each([
    ['hangs up', (socket: NodeJS.WritableStream) => socket.end()],
    [
      'upgrades unasked',
      (socket: NodeJS.WritableStream) =>
        socket.end('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
    [
      'has an impossible status',
      (socket: NodeJS.WritableStream) => socket.end('HTTP/1.1 000 x\r\nContent-Length: 0\r\n\r\n'),
    ],
    [
      'sends endless headers',
      (socket: NodeJS.WritableStream) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`),
    ],
    ['is no HTTP', (socket: NodeJS.WritableStream) => socket.end('SSH-2.0-x\r\n')],
  ])('a host that %s', async (_what, answer) => {
    const { say } = await opened({ answer: (req) => void answer(req.socket) });
    expect(await say(get(`http://${open}/`))).toMatch(/^HTTP\/1.1 502 .*could not be reached/s);
  });
});

/** A proxy with other limits than usual. */
const proxyWith = async (limits: Parameters<typeof proxyServer>[2]) => {
  const log = refusalLog();
  const addresses = [{ address: '127.0.0.1', family: 4 }];
  const gate = openGate({
    ...{ isOn: true, list: 'setup' as const, isAllowed: () => true, isClosed: () => false, log },
    lookUp: async () => addresses,
  });
  const folder = await mkdtemp(join(tmpdir(), 'egress-'));
  const host = proxyServer(gate, () => connect('/nowhere'));
  const { server, end } = proxyServer(gate, () => connect(join(folder, 'host')), limits);
  await new Promise<void>((resolve) => host.server.listen(join(folder, 'host'), resolve));
  await new Promise<void>((resolve) => server.listen(join(folder, 'proxy'), resolve));
  const close = async () => {
    for (const each of [{ server, end }, host]) {
      each.server.close();
      each.end();
    }
    await rm(folder, { recursive: true });
  };
  return { path: join(folder, 'proxy'), log, close };
};

/** Sends something, and resolves with the reply when the proxy hangs up. */
const told = (path: string, text: string | Buffer) =>
  new Promise<string>((resolve) => {
    let reply = '';
    const client = connect({ path }, () => client.write(text));
    client
      .on('error', () => {})
      .on('data', (chunk) => {
        reply += chunk.toString('latin1');
      });
    client.once('close', () => resolve(reply));
  });

describe('limits', () => {
  test('a client that does not finish its request is disconnected', async () => {
    const { path, close } = await proxyWith({ headMs: 100, checkMs: 20 });
    expect(await told(path, `GET http://${open}/ HTTP/1.1\r\nX: `)).toMatch(/^HTTP\/1.1 408 /);
    expect(await told(path, '')).toMatch(/^(HTTP\/1.1 408 |$)/);
    await close();
  });

  test('a client that does not finish its hello is disconnected', async () => {
    const { path, log, close } = await proxyWith({ helloMs: 100 });
    const hello = (await helloOf(open)).subarray(0, 100);
    const request = Buffer.from(`CONNECT ${open}:443 HTTP/1.1\r\n\r\n`);
    expect(await told(path, Buffer.concat([request, hello]))).toMatch(/^HTTP\/1.1 200 /);
    expect(log.news()).toMatch(/its TLS hello was not complete after 0.1 s/);
    // A browser may open a tunnel that it does not use.
    expect(await told(path, request)).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
    expect(log.news()).toBeUndefined();
    await close();
  });

  const refused = 'CONNECT x:22 HTTP/1.1\r\n\r\n';

  test('connections beyond the limit are closed', async () => {
    const { path, close } = await proxyWith({ headMs: 100, checkMs: 20, connections: 3 });
    const [last, ...first] = (await Promise.all(['', '', '', refused].map((text) => told(path, text)))).reverse();
    expect([last, first.length]).toEqual(['', 3]);
    await close();
  });

  test('requests beyond the rate wait', async () => {
    const { path, close } = await proxyWith({ perSecond: 20, burst: 1 });
    const began = performance.now();
    for (let i = 0; i < 5; i++) expect(await told(path, refused)).toMatch(/^HTTP\/1.1 403 /);
    // At 20 a second, after the first.
    expect(performance.now() - began).toBeGreaterThan(150);
    await close();
  });

  test('a client that sends many requests in advance is disconnected', async () => {
    const { say, received } = await opened({ answer: () => {} });
    expect(await say(get(`http://${open}/`, '').repeat(17))).toBe('');
    expect(received().split('GET').length).toBeLessThanOrEqual(17);
  });

  test('nothing is left of clients that disconnect immediately', async () => {
    const { socket, say, connections } = await opened({ answer: (req, res) => req.url === '/' && res.end('here') });
    for (const request of [`CONNECT ${open}:443 HTTP/1.1\r\n\r\n`, get(`http://${open}/silent`, '').repeat(10)])
      for (let i = 0; i < 20; i++) {
        const client = connect({ path: socket }, () => client.write(request, () => client.destroy()));
        await new Promise((resolve) => client.once('close', resolve));
      }
    expect(await say(get(`http://${open}/`))).toMatch(/here/);
    // Kept for further requests: one connection, of the honest client.
    while (connections.size > 1) await nextTurn();
  });

  test('requests whose turn would come too late are refused', async () => {
    const turn = paced(20, 1, 120);
    const began = performance.now();
    expect(await Promise.all([turn(), turn(), turn(), turn(), turn()])).toEqual([true, true, true, false, false]);
    expect(performance.now() - began).toBeGreaterThan(90);
  });

  test('a few names wait for their look-up, and further ones fail', async () => {
    let asked = 0;
    const lookUp = lookUpOnce(() => {
      asked += 1;
      return new Promise(() => {});
    });
    for (let i = 0; i < 64; i++) lookUp(`n${i}.example.org`).catch(() => {});
    await expect(lookUp('more.example.org')).rejects.toMatchObject({ code: 'EBUSY' });
    expect(asked).toBe(1);
  });

  test('simultaneous connections share a look-up', async () => {
    const { say, lookedUp } = await opened();
    await Promise.all(Array.from({ length: 20 }, () => say(get(`http://${open}/`))));
    expect(lookedUp).toEqual([open]);
  });
});

describe('refusals', () => {
  test('are counted by host, told rarely, and shown once', async () => {
    const told: unknown[] = [];
    const { say, egress } = await opened({ list: 'setup', onRefusal: (refusal) => told.push(refusal) });
    expect(egress.news()).toBeUndefined();
    for (let i = 0; i < 11; i++) await say('CONNECT one.example.com:443 HTTP/1.1\r\n\r\n');
    await say(get('http://two.example.com/'));
    const reason = 'host one.example.com is not allowed; add it to network.setup in .deckhand.yml';
    expect(told).toEqual([
      { host: 'one.example.com', port: 443, reason, times: 1 },
      { host: 'one.example.com', port: 443, reason, times: 10 },
      expect.objectContaining({ host: 'two.example.com', port: 80, times: 1 }),
    ]);
    expect(egress.news()).toBe(`[network] ${reason} (11 times)\n[network] ${reason.replace('one', 'two')}`);
    expect(egress.news()).toBeUndefined();
    await say('CONNECT one.example.com:443 HTTP/1.1\r\n\r\n');
    expect(egress.news()).toBe(`[network] ${reason}`);
    expect(egress.refused()).toEqual([
      { host: 'one.example.com', times: 12 },
      { host: 'two.example.com', times: 1 },
    ]);
  });

  test('of further hosts are summed up after the first 100', () => {
    const told: number[] = [];
    const log = refusalLog(({ times }) => told.push(times));
    for (let i = 0; i < 1100; i++) log.note({ host: `h${i}.example.com`, port: 443, reason: `host h${i} …` });
    expect(log.all()).toHaveLength(101);
    expect(log.all().at(-1)).toEqual({ host: 'other hosts', times: 1000 });
    expect(told.slice(100)).toEqual([1, 10, 100, 1000]);
    const lines = log.news()?.split('\n') ?? [];
    expect([lines[0], lines.at(-1), lines.length]).toEqual(['[network] host h0 …', '[network] and 91 more', 11]);
  });

  test('show a strange host in printable ASCII, cut', async () => {
    const { say, egress } = await opened();
    await say(`CONNECT ${'€'.repeat(10)}:443 HTTP/1.1\r\n\r\n`, '');
    await say(`CONNECT ${'%'.repeat(300)}:443 HTTP/1.1\r\n\r\n`);
    expect(egress.refused()).toEqual([{ host: `${'%'.repeat(253)}...`, times: 1 }]);
  });
});

describe('the socket', () => {
  /** Opens a tunnel. */
  const waitingIn = async (path: string) => {
    const client = connect({ path }, () => client.write(`CONNECT ${open}:443 HTTP/1.1\r\n\r\n`));
    const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
    await new Promise((resolve) => client.once('data', resolve));
    return { closed };
  };

  test('belongs to the owner alone, and goes with the proxy', async () => {
    const owned: string[] = [];
    const { egress } = await opened({ own: async (path) => void owned.push(path) });
    expect(owned).toEqual([egress.socket]);
    expect([egress.socket, dirname(egress.socket)].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o711]);
    const waiting = await waitingIn(egress.socket);
    await egress.close();
    await waiting.closed;
    expect(existsSync(dirname(egress.socket))).toBe(false);
  });

  test('closes when the run ends', async () => {
    const run = new AbortController();
    const { egress } = await opened({ signal: run.signal });
    const waiting = await waitingIn(egress.socket);
    run.abort();
    await waiting.closed;
    await egress.close();
    expect(existsSync(dirname(egress.socket))).toBe(false);
  });

  test('needs a short path', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'x'.repeat(90)));
    await expect(openProxied({ folder })).rejects.toThrow('at most 107 bytes are possible');
    expect(readdirSync(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  });

  test.each([
    ['an address', { hosts: ['10.0.0.1'] }, /addresses cannot be allowed/],
    ['a protocol', { hosts: ['https://example.org'] }, /must be a host name such as/],
    ['everything', { hosts: ['*'] }, /must be a host name such as/],
    ['a wildcard inside', { hosts: ['a.*.org'] }, /must be a host name such as/],
    ['capitals', { hosts: ['Example.org'] }, /in lower case/],
  ])('%s in the list of hosts is refused', async (_what, given, message) => {
    await expect(openProxied(given)).rejects.toThrow(message);
  });
});
