import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { PooledClient } from '../../src/db/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { openNamedLocks } from '../../src/db/locks.ts';
import { openPresence } from '../../src/db/presence.ts';
import { openQueue } from '../../src/queue/queue.ts';

/** A message of PostgreSQL's protocol: its type, its length and its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const welcome = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]);
const lastWords = message(
  'E',
  Buffer.from('SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0'),
);

/** The names of the parameters with which clients began. */
const startups: string[][] = [];

/** A server that accepts a client and dies, all in one packet. */
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', (startup) => {
    // Its length and the version of the protocol, then names and values.
    const texts = startup
      .subarray(8)
      .toString('utf8')
      .split('\0')
      .filter((text) => text !== '');
    startups.push(texts.filter((_text, i) => i % 2 === 0));
    socket.end(Buffer.concat([welcome, lastWords]));
  });
});
let url = '';
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `postgres://postgres@127.0.0.1:${(server.address() as AddressInfo).port}/postgres`;
});
afterAll(() => server.close());

// An unhandled `error` event would end the process, and with it this test.
test.each([
  ['a lock', () => openNamedLocks(url, 30).withLock('any', async () => {})],
  ['the tables', () => openDatabase(url, [])],
  [
    'the queue',
    () =>
      openQueue(url, {} as never, { isWorker: false, Client: PooledClient, tenantOf: () => 'null', onError: () => {} }),
  ],
])('a server that dies while it greets the client of %s fails the call, not the process', async (_, call) => {
  await expect(call()).rejects.toThrow();
});

test('clients begin only with parameters that PgBouncer knows', async () => {
  startups.length = 0;
  const presence = openPresence(url, 30);
  await Promise.allSettled([
    openDatabase(url, []),
    openNamedLocks(url, 30).withLock('any', async () => {}),
    presence.name(),
  ]);
  expect(startups.length).toBeGreaterThanOrEqual(3);
  // https://www.pgbouncer.org/config.html#ignore_startup_parameters
  const known = ['user', 'database', 'client_encoding', 'application_name'];
  expect(startups.flat().filter((name) => !known.includes(name))).toEqual([]);
});
