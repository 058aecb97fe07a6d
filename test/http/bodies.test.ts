import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { AppError } from '../../src/errors.ts';
import { bodyBudget } from '../../src/http/limits/body-budget.ts';
import { answerAndHangUp } from '../../src/http/limits/hang-up.ts';
import { isModest, readBytes } from '../../src/http/limits/read-body.ts';
import { headOf, openRaw } from '../support/http/raw-http.ts';

const kB = 1024;
const budget = bodyBudget({ total: 512 * kB, each: 256 * kB });
/** Bodies that were read and are held until they are released. */
const held: { release(): void }[] = [];
let server: Server;
let port: number;

beforeAll(async () => {
  const app = express();
  app.set('trust proxy', 1);
  app.post('/', async (req, res) => {
    const withinMs = Number(req.headers['x-within'] ?? 200_000);
    try {
      const body = await readBytes(req, String(req.ip), { maxBytes: 200 * kB, withinMs, budget });
      held.push(body);
      res.json(body.size);
    } catch (error) {
      res.status((error as AppError).status);
      answerAndHangUp(req, res, '');
    }
  });
  server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  for (const body of held.splice(0)) body.release();
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** Sends the beginning of a body. */
function begin(bytes: number, headers: Record<string, string> = {}) {
  const raw = openRaw(port, headOf('POST /', { 'Content-Length': String(bytes + 1), ...headers }));
  raw.socket.write(Buffer.alloc(bytes));
  return raw;
}
async function post(bytes: number, from = '10.0.0.1'): Promise<number> {
  const raw = begin(bytes - 1, { 'Content-Length': String(bytes), 'X-Forwarded-For': from });
  raw.socket.write('x');
  const status = await raw.status;
  raw.socket.destroy();
  return status;
}

test('a body that stops half-way is a 408, and its memory is freed', async () => {
  for (let i = 0; i < 5; i++) {
    const raw = begin(150 * kB, { 'X-Within': '100' });
    expect(await raw.status).toBe(408);
    raw.socket.destroy();
  }
  expect(await post(200 * kB)).toBe(200);
});

test('chunks count against the budget as they arrive', async () => {
  const raw = openRaw(port, headOf('POST /', { 'Transfer-Encoding': 'chunked' }));
  raw.socket.write(`${(201 * kB).toString(16)}\r\n`);
  raw.socket.write(Buffer.alloc(201 * kB));
  expect(await raw.status).toBe(413);
  raw.socket.end();
  expect(await raw.ended).toContain('Connection: close');
});

test('the memory of a body is freed when its sender disconnects', async () => {
  for (let i = 0; i < 5; i++) {
    const raw = begin(150 * kB);
    await new Promise<void>((resolve) => raw.socket.end(resolve));
    raw.socket.destroy();
    await raw.ended;
  }
  expect(await post(200 * kB)).toBe(200);
});

test('within an address, the largest body is dismissed and small ones get through', async () => {
  const large = begin(190 * kB, { 'X-Forwarded-For': '10.0.0.1' });
  const statuses = [];
  for (let i = 0; i < 5; i++) statuses.push(await post(40 * kB));
  expect(await large.status).toBe(503);
  expect(statuses).toEqual(Array(5).fill(200));
  large.socket.destroy();
});

describe('the budget', () => {
  const open = (given: ReturnType<typeof bodyBudget>, payer: string, dismissed: string[], name: string) =>
    given.enter(payer, () => dismissed.push(name));

  test('over the total limit, a body of the address that uses the most is dismissed', () => {
    const own = bodyBudget({ total: 100, each: 60 });
    const dismissed: string[] = [];
    for (const name of ['a', 'b', 'c']) open(own, 'hostile', dismissed, name).take(18);
    open(own, 'honest', dismissed, 'honest').take(40);
    expect(dismissed).toEqual([]);
    open(own, 'another', dismissed, 'another').take(10);
    expect(dismissed).toEqual(['a']);
  });

  test('complete bodies are kept, and freed memory can be used again', () => {
    const own = bodyBudget({ total: 100, each: 60 });
    const dismissed: string[] = [];
    const first = open(own, 'one', dismissed, 'first');
    first.take(50);
    first.settle();
    open(own, 'one', dismissed, 'second').take(20);
    expect(dismissed).toEqual(['second']);
    first.leave();
    first.leave();
    open(own, 'one', dismissed, 'third').take(60);
    expect(dismissed).toEqual(['second']);
  });

  test('announcing a large body without sending it costs nothing', () => {
    const own = bodyBudget({ total: 100, each: 60 });
    const dismissed: string[] = [];
    for (let i = 0; i < 1000; i++) open(own, 'idle', dismissed, 'idle');
    open(own, 'honest', dismissed, 'honest').take(60);
    expect(dismissed).toEqual([]);
  });
});

test.each([
  ['text', JSON.stringify({ a: '[{,"\\'.repeat(100_000) }), true],
  ['15,000 numbers', `[${'1,'.repeat(14_998)}1]`, true],
  ['16,000 numbers', `[${'1,'.repeat(16_000)}1]`, false],
  ['16,000 objects', `[${'{},'.repeat(16_000)}{}]`, false],
  ['32 levels', '['.repeat(32) + ']'.repeat(32), true],
  ['33 levels', '['.repeat(33) + ']'.repeat(33), false],
  ['an open string', '{"a', true],
  ['a backslash at the end', '"\\', true],
])('%s is judged by its values', (_name, json, isFine) => {
  expect(isModest(Buffer.from(json))).toBe(isFine);
});
