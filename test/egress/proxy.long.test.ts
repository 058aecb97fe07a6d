import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { helloOf } from './hello.ts';
import { closingProxied, openProxied, throughTunnel } from './proxied.ts';
import { get, open } from './requests.ts';

const opened = closingProxied();

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

  test('hosts that something reached are named, and no others', async () => {
    const reached: string[] = [];
    const { socket, say, attack } = await opened({ onReached: (host) => reached.push(host) });
    await throughTunnel(socket, 'a.wild.example.org', 'x');
    await say(get('http://second.example.org/', ''));
    await attack('CONNECT other.example.org:443 HTTP/1.1\r\n\r\n');
    // The hello names another server, so nothing of it reaches the one that was dialled.
    await say(
      Buffer.concat([Buffer.from(`CONNECT ${open}:443 HTTP/1.1\r\n\r\n`), await helloOf('second.example.org')]),
    );
    expect(reached).toEqual(['a.wild.example.org', 'second.example.org']);
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

test('an answer in tiny chunks arrives in larger ones, and is cut when there are too many', async () => {
  const tiny = '1\r\nx\r\n';
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
  const few = await opened({ answer: (req) => void req.socket.end(`${head}${tiny.repeat(8_000)}0\r\n\r\n`) });
  const whole = await few.say(get(`http://${open}/`));
  expect(whole).toMatch(/\r\n0\r\n\r\n$/);
  expect(whole.length).toBeLessThan(20_000);
  const many = await opened({ answer: (req) => void req.socket.write(head + tiny.repeat(500_000)) });
  const cut = await many.say(get(`http://${open}/`));
  expect(cut).not.toMatch(/\r\n0\r\n\r\n$/);
  expect(cut.length).toBeLessThan(200_000);
});

test.each([
  ['informs without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)],
  ['sends endless chunks', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(50_000)}`],
])('a host that %s ends all connections for a while', async (_what, text) => {
  const { say, socket, egress } = await opened({ answer: (req) => void req.socket.write(text) });
  const other = connect({ path: socket });
  await once(other, 'connect');
  const ended = once(
    other.on('error', () => {}),
    'close',
  );
  expect(await say(get(`http://${open}/`))).not.toMatch(/ 502 /);
  await ended;
  expect(await say(get(`http://${open}/`))).toBe('');
  expect(egress.news()).toMatch(/so all connections of the run were closed for a while/);
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
