import { readFileSync } from 'node:fs';
import { until } from '../../../demo/real-service.ts';
import { headOf, openRaw, type RawConnection } from '../../support/http/raw-http.ts';
import { startWebProcess, type WebProcess } from '../../support/http/web-process.ts';

// Clients that ask for much and read nothing.

let web: WebProcess;
/** Of the user who reads nothing, and of another one. */
let token: string;
let other: string;
let list: string;
const opened: RawConnection[] = [];
beforeAll(async () => {
  web = await startWebProcess({ RATE_LIMIT_REQUESTS: '0' });
  token = await web.service.token('mallory');
  other = await web.service.token('octocat');
  const { id } = await web.service.api<{ id: string }>(token, 'POST', '/projects', { name: 'P' });
  const tasks = Array.from({ length: 15 }, (_, i) => ({ title: `t${i}`, description: 'x'.repeat(50_000) }));
  for (let i = 0; i < 7; i++) await web.service.api(token, 'POST', `/projects/${id}/tasks/bulk`, { tasks });
  list = `/projects/${id}/tasks?limit=100`;
});
afterEach(() => {
  for (const { socket } of opened.splice(0)) socket.destroy();
});
afterAll(() => web.close());

const request = (path: string) => headOf(`GET /api/v1${path}`, { Authorization: `Bearer ${token}` });

/** Sends requests on one connection, and reads nothing of the replies. */
function ask(...paths: string[]): void {
  const raw = openRaw(web.port, paths.map(request).join(''));
  raw.socket.pause();
  opened.push(raw);
}

const statusFor = async (as: string) =>
  (await fetch(`${web.service.url}/api/v1/me`, { headers: { Authorization: `Bearer ${as}` } })).status;

const batchOf = (path: string) =>
  `/batch?${Array(20)
    .fill(`get=${encodeURIComponent(path)}`)
    .join('&')}`;
const megabytes = (field: string) => {
  const status = readFileSync(`/proc/${web.service.process.pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
};

test('unread batches and lists take little memory and delay nobody else, and their user gets no more', async () => {
  expect(await statusFor(other)).toBe(200);
  const before = megabytes('VmRSS');
  for (const path of [batchOf(list), batchOf(list.replace('100', '2')), list]) for (let i = 0; i < 8; i++) ask(path);
  const times: number[] = [];
  for (let i = 0; i < 50; i++) {
    const start = performance.now();
    expect(await statusFor(other)).toBe(200);
    times.push(performance.now() - start);
  }
  expect(times.sort((a, b) => a - b)[25]).toBeLessThan(400);
  await until('the refusal', async () => (await statusFor(token)) === 429);
  // Each list takes several times its length until it is sent. Without limits these replies take 2 GB.
  expect(megabytes('VmHWM') - before).toBeLessThan(300);
  for (const { socket } of opened.splice(0)) socket.destroy();
  await until('an answer', async () => (await statusFor(token)) === 200);
});

test('a request occupies a slot of its user until the client has read the reply', async () => {
  for (let i = 0; i < 2; i++) ask(list, '/me', '/me', '/me');
  await until('the beginnings of the lists', async () => opened.every(({ socket }) => socket.bytesRead > 0));
  let isAnswered = false;
  const ninth = statusFor(token).finally(() => {
    isAnswered = true;
  });
  for (let i = 0; i < 30; i++) expect(await statusFor(other)).toBe(200);
  expect(isAnswered).toBe(false);
  for (const { socket } of opened.splice(0)) socket.destroy();
  expect(await ninth).toBe(200);
});
