import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { until } from '../../demo/real-service.ts';
import { httpServer } from '../../src/http/limits/listener.ts';
import { headOf, openRaw } from '../support/http/raw-http.ts';

let server: Server;
let port: number;
/** Answers the request for `/held`. */
let release: (() => void) | undefined;
beforeAll(async () => {
  const app = express();
  app.get('/large', (_req, res) => res.send(Buffer.alloc(20_000_000)));
  app.get('/late', (_req, res) => setTimeout(() => res.send('late'), 500));
  app.post('/now', (_req, res) => res.send('now'));
  app.get('/held', (_req, res) => {
    release = () => res.send('held');
  });
  // Long enough for requests that arrive while the machine is busy.
  server = httpServer(app, { headersMs: 1000, requestMs: 1500, checkMs: 50, unreadMs: 500 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

test('connections that do not complete a request in time are closed; a reply may take longer', async () => {
  const held = openRaw(port, headOf('GET /held', { Connection: 'close' }));
  await until('the request', async () => release !== undefined);
  const nothing = '';
  const partOfHead = 'GET /late HTTP/1.1\r\nHost: x\r\n';
  const partOfBody = headOf('POST /', { 'Content-Length': '9' });
  await Promise.all([nothing, partOfHead, partOfBody].map((text) => openRaw(port, text).ended));
  release?.();
  expect(await held.ended).toMatch(/held$/);
});

test('a connection whose client does not read the reply is closed', async () => {
  const raw = openRaw(port, headOf('GET /large', {}));
  await new Promise((resolve) => raw.socket.once('readable', resolve));
  raw.socket.pause();
  const connections = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  await until('the end of the connection', async () => (await connections()) === 0);
  raw.socket.destroy();
});

test.each([
  ['requests', headOf('GET /late', {})],
  ['requests that expect something unknown', headOf('GET /late', { Expect: 'x' })],
  ['requests without a Host header', 'GET /late HTTP/1.1\r\n\r\n'],
])('a flood of %s on one connection closes it', async (_name, request) => {
  const raw = openRaw(port, request.repeat(5) + headOf('GET /late', { Connection: 'close' }));
  expect(await raw.ended).toBe('');
});

test('of thousands of requests that were sent at once, Node parses no more than the first ones', async () => {
  let parsed = 0;
  const count = () => {
    parsed += 1;
  };
  server.on('request', count);
  await openRaw(port, headOf('GET /late', {}).repeat(2000)).ended;
  server.off('request', count);
  // Four may be pending; the next one ends the connection. By then, those of the first 16 kB are parsed.
  expect(parsed).toBeLessThan(600);
});

test('a body in thousands of tiny pieces ends the connection, also when nobody reads it', async () => {
  const chunked = { 'Transfer-Encoding': 'chunked' };
  const tiny = '1\r\nx\r\n'.repeat(5000);
  const answered = openRaw(port, headOf('POST /now', chunked));
  expect(await answered.status).toBe(200);
  answered.socket.write(tiny);
  expect(await answered.ended).toMatch(/now$/);
  // Express answers this when the body is over.
  expect(await openRaw(port, headOf('POST /nowhere', chunked) + tiny).ended).toBe('');
  const usual = `64\r\n${'x'.repeat(100)}\r\n`.repeat(5000);
  const next = headOf('POST /now', { Connection: 'close' });
  const large = openRaw(port, `${headOf('POST /now', chunked)}${usual}0\r\n\r\n${next}`);
  expect((await large.ended).match(/HTTP\/1.1 200 /g)).toHaveLength(2);
});

async function listening(limits: Parameters<typeof httpServer>[1]) {
  const few = httpServer(express(), limits);
  await new Promise<void>((resolve) => few.listen(0, '127.0.0.1', resolve));
  return { few, port: (few.address() as AddressInfo).port };
}

test('when an address has too many connections, the one that was idle for longest is closed', async () => {
  const { few, port } = await listening({ maxOfAddress: 3 });
  const connections = Array.from({ length: 3 }, () => openRaw(port, headOf('GET /', {})));
  expect(await Promise.all(connections.map((c) => c.status))).toEqual([404, 404, 404]);
  const [first, second] = connections;
  const again = new Promise((resolve) => first?.socket.once('data', resolve));
  first?.socket.write(headOf('GET /', {}));
  await again;
  expect(await openRaw(port, headOf('GET /', {})).status).toBe(404);
  await second?.ended;
  expect(first?.socket.destroyed).toBe(false);
  few.close();
  few.closeAllConnections();
});

test('connections that send nothing do not lock others out', async () => {
  const { few, port } = await listening({ maxConnections: 6, maxOfAddress: 4 });
  const silent = ['127.0.0.2', '127.0.0.3'].flatMap((from) => Array.from({ length: 3 }, () => openRaw(port, '', from)));
  await Promise.all(silent.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
  expect(await openRaw(port, headOf('GET /', {})).status).toBe(404);
  expect(await openRaw(port, headOf('GET /', {})).status).toBe(404);
  few.close();
  few.closeAllConnections();
});

test('connections that wait for their replies are not closed for others', async () => {
  const waiting = Array.from({ length: 3 }, () => openRaw(port, headOf('GET /late', { Connection: 'close' })));
  await Promise.all(waiting.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
  expect((await Promise.all(waiting.map((c) => c.ended))).every((text) => text.includes('late'))).toBe(true);
});

test('a few requests may be sent at the same time', async () => {
  const raw = openRaw(port, headOf('GET /late', {}).repeat(3) + headOf('GET /late', { Connection: 'close' }));
  expect((await raw.ended).match(/late/g)).toHaveLength(4);
});
