import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { appSettings } from '../support/github-app.ts';
import { headOf, openRaw } from '../support/http/raw-http.ts';
import { startWebProcess, type WebProcess } from '../support/http/web-process.ts';

const secret = 'a secret of the flooded service';
let web: WebProcess;
beforeAll(async () => {
  web = await startWebProcess(appSettings('http://127.0.0.1:1', secret));
});
afterAll(() => web.close());

const sign = (body: string | Buffer) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
const wrong = `sha256=${'0'.repeat(64)}`;

/** Sends a request on a separate connection. Returns the status, or 0 when the connection ends without one. */
async function send(headers: Record<string, string>, body: Buffer | string, from?: string): Promise<number> {
  const { socket, status } = post(headers, body, from);
  await status;
  socket.destroy();
  return status;
}

function post(headers: Record<string, string>, body: Buffer | string, from?: string) {
  const all = { 'X-GitHub-Event': 'ping', 'X-GitHub-Delivery': randomUUID(), ...headers };
  const raw = openRaw(web.port, headOf('POST /api/github/webhooks', all), from);
  raw.socket.write(body);
  return raw;
}

/** Sends a valid delivery and returns the reply. A slow database on a busy machine is not caused by the flood. */
async function deliver(payload: object, from?: string): Promise<string> {
  const body = JSON.stringify(payload);
  const headers = { 'Content-Length': String(body.length), 'X-Hub-Signature-256': sign(body), Connection: 'close' };
  const answer = await post(headers, body, from).ended;
  return answer.includes('The database is unavailable') ? 'stored late' : answer.slice(0, 'HTTP/1.1 202'.length);
}
const taken = expect.stringMatching(/^(HTTP\/1\.1 202|stored late)$/);

const resident = () =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${web.service.process.pid}/status`, 'utf8'))?.[1]) / 1024;

/** Sends requests at the same time, by default 600 MB of them. Returns their statuses and by how many MB the service's memory grew at most. */
async function flood(attack: (nth: number) => Promise<number>, count = 24) {
  const before = resident();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, resident());
  }, 10);
  const statuses = await Promise.all(Array.from({ length: count }, (_, nth) => attack(nth)));
  clearInterval(watch);
  return { statuses, grown: Math.round(Math.max(most, resident()) - before) };
}

test('unsigned bodies of 53 bytes that decompress to bombs', async () => {
  const bomb = brotliCompressSync(Buffer.alloc(25_000_000, ' '));
  expect(bomb.length).toBeLessThan(100);
  const headers = { 'Content-Encoding': 'br', 'Content-Length': String(bomb.length) };
  const { statuses, grown } = await flood(() => send(headers, bomb));
  expect(new Set(statuses)).toEqual(new Set([415]));
  expect(grown).toBeLessThan(100);
});

/** These attacks send up to 600 MB. How much garbage is in memory at a time depends on the machine. */
const mostMb = 250;
const large = Buffer.alloc(25_000_000, ' ');
const claims = { 'Content-Length': String(large.length), 'X-Hub-Signature-256': wrong };

test('bodies of 25 MB with a wrong signature; deliveries from the same address get through', async () => {
  const attack = flood(() => send(claims, large));
  const signed = [];
  for (let i = 0; i < 20; i++) signed.push(await deliver({ i, zen: 'x'.repeat(10_000) }));
  const { statuses, grown } = await attack;
  expect(grown).toBeLessThan(mostMb);
  expect(signed).toEqual(Array(20).fill(taken));
  expect(statuses.filter((s) => s === 503).length).toBeGreaterThan(12);
  for (const status of statuses) expect([0, 401, 503]).toContain(status);
});

test('the same from as many addresses', async () => {
  const attack = flood((nth) => send(claims, large, `127.0.1.${nth + 1}`));
  const signed = [];
  for (let i = 0; i < 20; i++) signed.push(await deliver({ i }, '127.0.2.1'));
  const { grown } = await attack;
  expect(grown).toBeLessThan(mostMb);
  expect(signed).toEqual(Array(20).fill(taken));
});

test('bodies in chunks of one byte, each of which would cost far more memory and time than a byte', async () => {
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(200_000));
  const headers = { 'Transfer-Encoding': 'chunked', 'X-Hub-Signature-256': wrong };
  const ended = Buffer.concat([chunks, Buffer.from('0\r\n\r\n')]);
  const { statuses, grown } = await flood(() => send(headers, ended), 10);
  // What is left of a body is not read, so the connection may be reset before its answer is.
  for (const status of statuses) expect([400, 0]).toContain(status);
  expect(grown).toBeLessThan(mostMb);
});

test('after the floods, a delivery of the maximum size is accepted', async () => {
  expect(await deliver({ zen: 'x'.repeat(26_000_000) })).toEqual(taken);
});
