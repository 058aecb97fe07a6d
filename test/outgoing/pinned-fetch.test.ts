import { EventEmitter, once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { whenUnanswered } from '../../src/host/strangers.ts';
import { boundedFetch } from '../../src/outgoing/bounded-fetch.ts';
import { pinnedFetch } from '../../src/outgoing/pinned-fetch.ts';
import { answeringServers } from '../support/http/answering.ts';

const serve = answeringServers(({ method, url, headers }) => `${method} ${headers.host} ${url}`);

/** Starts a server that calls this for the first bytes of each connection. */
async function raw(answer: (socket: Socket, data: Buffer) => void) {
  const server = createServer((socket) =>
    socket.on('error', () => {}).once('data', (data) => answer(socket, data as Buffer)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}

const here = async () => ({ address: '127.0.0.1', family: 4 });

test('a request goes to the checked address, whatever the name resolves to', async () => {
  const { port, asked } = await serve((_req, res) => res.writeHead(201, { 'X-Kind': 'x' }).end('hello'));
  const answer = await pinnedFetch(here)(`http://no-such-host.invalid:${port}/a`, { method: 'POST', body: '{}' });
  expect([answer.status, answer.headers.get('x-kind'), await answer.text()]).toEqual([201, 'x', 'hello']);
  expect(asked).toEqual([`POST no-such-host.invalid:${port} /a`]);
});

test('an address that is refused is not contacted, and neither is the target of a redirect', async () => {
  const other = await serve((_req, res) => res.end());
  const { port, asked } = await serve((_req, res) =>
    res.writeHead(302, { Location: `http://127.0.0.1:${other.port}/` }).end(),
  );
  const closed = pinnedFetch(async () => {
    throw new Error('it has a private address');
  });
  await expect(closed(`http://127.0.0.1:${port}/`)).rejects.toThrow('private address');
  expect(asked).toEqual([]);
  const moved = await pinnedFetch(here)(`http://127.0.0.1:${port}/`);
  expect([moved.status, moved.headers.get('location')]).toEqual([302, `http://127.0.0.1:${other.port}/`]);
  expect(other.asked).toEqual([]);
});

test('limits apply to size, time and compression', async () => {
  const { port } = await serve((req, res) => {
    if (req.url === '/large') return res.end('x'.repeat(100_001));
    if (req.url === '/gzip') return res.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('x'));
    if (req.url === '/none') return res.writeHead(204).end();
    res.write('x');
  });
  const ask = async (path: string, maxMs = 60_000) =>
    (await boundedFetch({ maxBytes: 100_000, maxMs }, pinnedFetch(here))(`http://127.0.0.1:${port}${path}`)).text();
  await expect(ask('/large')).rejects.toMatchObject({ name: 'AnswerRefused', what: 'is larger than 0.1 MB' });
  await expect(ask('/gzip')).rejects.toMatchObject({ what: 'is compressed, although that was not asked for' });
  await expect(ask('/slow', 300)).rejects.toMatchObject({ what: 'was not complete after 0.3 s' });
  expect(await ask('/none')).toBe('');
  const never = boundedFetch(
    { maxBytes: 1, maxMs: 300 },
    pinnedFetch(() => new Promise(() => {})),
  );
  await expect(never(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ what: 'was not complete after 0.3 s' });
  await expect(pinnedFetch(here)('http://127.0.0.1:9/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a server that switches to another protocol unasked has not answered', async () => {
  const { url, close } = await raw((socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  );
  try {
    await expect(pinnedFetch(here)(url)).rejects.toThrow('the server closed the connection without a response');
  } finally {
    close();
  }
});

test.each(['100 Continue', '103 Early Hints'])('responses %s are accepted, but not without end', async (status) => {
  const hint = `HTTP/1.1 ${status}\r\n\r\n`;
  const few = await raw((socket) => socket.end(`${hint}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`));
  const many = await raw((socket) => socket.write(hint.repeat(100)));
  try {
    expect(await (await pinnedFetch(here)(few.url)).text()).toBe('ok');
    await expect(pinnedFetch(here)(many.url)).rejects.toThrow('the server sent informational responses without end');
  } finally {
    few.close();
    many.close();
  }
});

test('an answer in tiny chunks is read in larger ones, and refused when there are too many', async () => {
  const chunks = (count: number) => '1\r\nx\r\n'.repeat(count);
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const some = await raw((socket) => socket.end(`${head}${chunks(8_000)}0\r\n\r\n`));
  const many = await raw((socket) => socket.end(`${head}${chunks(1_000_000)}0\r\n\r\n`));
  try {
    const answer = await pinnedFetch(here)(some.url);
    let read = 0;
    let bytes = 0;
    for await (const chunk of answer.body ?? []) {
      read += 1;
      bytes += chunk.length;
    }
    expect(bytes).toBe(8_000);
    expect(read).toBeLessThan(100);
    const refused = (await pinnedFetch(here)(many.url)).text();
    await expect(refused).rejects.toMatchObject({ what: 'consists of too many small chunks' });
  } finally {
    some.close();
    many.close();
  }
});

test('an answer that nobody wants is given up, before and after its first byte', async () => {
  const ended: Promise<unknown>[] = [];
  const { port } = await serve((_req, res) => {
    ended.push(once(res, 'close'));
    res.writeHead(200).write('x');
  });
  const url = `http://127.0.0.1:${port}`;
  await (await pinnedFetch(here)(url)).body?.cancel();
  const reader = (await pinnedFetch(here)(url)).body?.getReader();
  await reader?.read();
  await reader?.cancel();
  const over = new AbortController();
  const aborted = await pinnedFetch(here)(url, { signal: over.signal });
  over.abort(new Error('no longer wanted'));
  await expect(aborted.text()).rejects.toThrow('no longer wanted');
  expect(ended).toHaveLength(3);
  await Promise.all(ended);
});

test('a server that sends session tickets of TLS without end is given up', () => {
  // Neither Node nor a Debian without OpenSSL has such a server.
  const said: string[] = [];
  const say = (error: Error) => said.push(error.message);
  const sent = Object.assign(new EventEmitter(), { destroy: say });
  const socket = new EventEmitter();
  whenUnanswered(sent as unknown as ClientRequest, say);
  sent.emit('socket', socket);
  for (let i = 0; i < 50; i++) socket.emit('session');
  expect(said).toEqual([]);
  socket.emit('session');
  sent.emit('close');
  expect(said).toEqual([
    'the server sent session tickets without end',
    'the server closed the connection without a response',
  ]);
  expect(socket.listenerCount('session')).toBe(0);
});

test('what a server sends as the body of a 205 is not read', async () => {
  const ended = new Promise((resolve) => {
    void raw((socket) => {
      socket.once('close', resolve);
      socket.write('HTTP/1.1 205 Reset Content\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n');
    }).then(async ({ url, close }) => {
      expect((await pinnedFetch(here)(url)).status).toBe(205);
      close();
    });
  });
  await ended;
});

/** Reads which cipher suites the hello of a TLS client offers (RFC 8446, section 4.1.2). */
function suitesIn(hello: Buffer): number[] {
  const atSession = 5 + 4 + 2 + 32;
  const at = atSession + 1 + hello.readUInt8(atSession);
  return Array.from({ length: hello.readUInt16BE(at) / 2 }, (_, i) => hello.readUInt16BE(at + 2 + 2 * i));
}

test('TLS with Diffie-Hellman over numbers of the server is not offered', async () => {
  let hello: Buffer = Buffer.alloc(0);
  const { url, close } = await raw((socket, data) => {
    hello = data;
    socket.destroy();
  });
  await expect(pinnedFetch(here)(url.replace('http:', 'https:'))).rejects.toThrow();
  close();
  // TLS_AES_128_GCM_SHA256 and ECDHE-RSA-AES128-GCM-SHA256, but none of DHE-RSA (RFC 5246, 5288, 7905).
  expect(suitesIn(hello)).toEqual(expect.arrayContaining([0x1301, 0xc02f]));
  const ofServer = [0x33, 0x39, 0x67, 0x6b, 0x9e, 0x9f, 0xccaa];
  expect(suitesIn(hello).filter((suite) => ofServer.includes(suite))).toEqual([]);
});
