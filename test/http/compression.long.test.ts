import { randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import express, { type Response } from 'express';
import { until } from '../../demo/real-service.ts';
import { readConfig } from '../../src/config.ts';
import { httpServer } from '../../src/http/limits/listener.ts';
import { dashboard } from '../../src/http/pages.ts';
import { compressed, maxAtOnce } from '../../src/http/server.ts';
import { headOf, openRaw } from '../support/http/raw-http.ts';

const long = JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ number: i })));
/** Random text: even compressed, it is larger than the socket buffers. */
const huge = randomBytes(15_000_000).toString('base64');

const app = express();
const replies: Response[] = [];
app.use((_req, res, next) => {
  replies.push(res);
  next();
});
const held: Response[] = [];
let sendEvent = (_text: string) => {};
app.use(compressed());
app.get('/long', (_req, res) => res.type('json').send(long));
app.get('/short', (_req, res) => res.json({ status: 'ok' }));
app.get('/huge', (_req, res) => res.type('text').send(huge));
app.get('/held', (_req, res) => {
  res.type('text').write(long);
  held.push(res);
});
app.get('/events', (_req, res) => {
  res.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  sendEvent = (text) => res.write(text);
  res.flushHeaders();
});
app.use(dashboard({ config: readConfig({}) }, async () => ({ signIn: false, installUrl: null })));

const server = httpServer(app);
const listen = (on: Server) => new Promise<void>((resolve) => on.listen(0, '127.0.0.1', resolve));
const portOf = (on: Server) => (on.address() as AddressInfo).port;
beforeAll(() => listen(server));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** Sends a request without Node's fetch, which would decompress the reply. */
function get(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) =>
    request({ port: portOf(server), path, headers, agent: false }, resolve)
      .once('error', reject)
      .end(),
  );
}

test.each([
  ['gzip, deflate, br', 'br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
] as const)('a client that accepts %s gets a long reply as %s', async (accepted, encoding, decompress) => {
  const reply = await get('/long', { 'Accept-Encoding': accepted });
  expect(reply.headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding' });
  const bytes = await buffer(reply);
  expect(bytes.length).toBeLessThan(long.length / 3);
  expect(decompress(bytes).toString()).toBe(long);
});

test('a short reply, and a reply to a client that accepts no compression, are sent uncompressed', async () => {
  for (const reply of [await get('/short', { 'Accept-Encoding': 'br' }), await get('/long')]) {
    expect(reply.headers['content-encoding']).toBeUndefined();
    reply.resume();
  }
});

test('events arrive one by one', async () => {
  const reply = await get('/events', { 'Accept-Encoding': 'gzip, br', Accept: 'text/event-stream' });
  expect(reply.headers['content-encoding']).toBeUndefined();
  for (const text of ['data: one\n\n', 'data: two\n\n']) {
    const arrived = new Promise((resolve) => reply.once('data', resolve));
    sendEvent(text);
    expect(String(await arrived)).toBe(text);
  }
  reply.destroy();
});

test('the dashboard loads less than 400 kB, and its hashed files may be cached for a year', async () => {
  const accept = { 'Accept-Encoding': 'br', Accept: 'text/html' };
  const page = await get('/', { Accept: 'text/html' });
  expect(page.headers['cache-control']).toBe('no-cache');
  const html = (await buffer(page)).toString();
  const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((found) => found[1] as string);
  expect(files.length).toBeGreaterThan(1);
  let size = 0;
  for (const file of files) {
    const reply = await get(file, accept);
    expect(reply.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'br',
      vary: 'Accept-Encoding',
      'content-type': expect.stringMatching(/^text\/(javascript|css)/),
    });
    size += (await buffer(reply)).length;
  }
  expect(size).toBeLessThan(400_000);
  const plain = await get(files[0] as string);
  expect([plain.statusCode, plain.headers['content-encoding'], plain.headers.vary]).toEqual([
    200,
    undefined,
    'Accept-Encoding',
  ]);
  expect((await buffer(plain)).toString()).toContain('function');
  expect((await get('/assets/nothing.js', accept)).statusCode).toBe(404);
});

test('clients that do not read the files of the dashboard hold none of them open', async () => {
  const html = (await buffer(await get('/', { Accept: 'text/html' }))).toString();
  const [, script] = /src="(\/assets\/[^"]+\.js)"/.exec(html) ?? [];
  replies.splice(0);
  const clients = Array.from({ length: 10 }, () => {
    const raw = openRaw(portOf(server), headOf(`GET ${script}`, {}).repeat(4));
    raw.socket.pause();
    return raw;
  });
  await until('all replies', async () => replies.length === 40 && replies.every(({ headersSent }) => headersSent));
  const open = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  expect(open.filter((file) => file.includes('/assets/'))).toEqual([]);
  for (const { socket } of clients) socket.destroy();
});

test('a client that does not read a compressed reply is disconnected', async () => {
  const hasty = httpServer(app, { unreadMs: 200 });
  await listen(hasty);
  const raw = openRaw(portOf(hasty), headOf('GET /huge', { 'Accept-Encoding': 'gzip' }));
  await new Promise((resolve) => raw.socket.once('readable', resolve));
  raw.socket.pause();
  const connections = () => new Promise<number>((resolve) => hasty.getConnections((_error, count) => resolve(count)));
  await until('the end of the connection', async () => (await connections()) === 0);
  raw.socket.destroy();
  hasty.close();
});

test('while many replies are being compressed, others are sent uncompressed', async () => {
  const encoding = async () => {
    const reply = await get('/long', { 'Accept-Encoding': 'gzip' });
    await buffer(reply);
    return reply.headers['content-encoding'];
  };
  const slow = Array.from({ length: maxAtOnce }, () => get('/held', { 'Accept-Encoding': 'gzip' }));
  await until('all of them', async () => held.length === maxAtOnce);
  expect(await encoding()).toBeUndefined();
  for (const reply of held) reply.end();
  for (const reply of await Promise.all(slow)) await buffer(reply);
  expect(await encoding()).toBe('gzip');
});
