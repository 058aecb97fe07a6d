import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../../../demo/real-service.ts';
import { assertReadsReplies, countUnsent } from '../../../src/http/limits/replies.ts';

// The memory of replies that their clients have not read.

const megabyte = 1024 * 1024;
let server: Server;
beforeAll(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

async function replyTo(user: string, megabytes: number) {
  const request = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const ended = request.then(
    () => 'sent',
    () => 'closed',
  );
  const [, res] = (await once(server, 'request')) as [unknown, ServerResponse];
  const setBytes = countUnsent(res, user);
  setBytes(megabytes * megabyte);
  return { res, setBytes, ended };
}

test('a user with 16 MB of unread replies is refused until they are read or closed', async () => {
  const [one, two] = [await replyTo('mona', 9), await replyTo('mona', 8)];
  expect(() => assertReadsReplies('mona')).toThrow('16 MB');
  expect(() => assertReadsReplies('octocat')).not.toThrow();
  one.setBytes(megabyte);
  expect(() => assertReadsReplies('mona')).not.toThrow();
  one.setBytes(9 * megabyte);
  expect(() => assertReadsReplies('mona')).toThrow('16 MB');
  one.res.end();
  await until('the end of the reply', async () => one.res.closed);
  expect(() => assertReadsReplies('mona')).not.toThrow();
  two.res.destroy();
  expect([await one.ended, await two.ended]).toEqual(['sent', 'closed']);
});

test('over 64 MB in total, the largest reply to the user with the most is closed', async () => {
  const large = await replyTo('mona', 25);
  const small = await replyTo('mona', 10);
  const other = await replyTo('octocat', 26);
  const last = await replyTo('hubot', 4);
  expect(await large.ended).toBe('closed');
  expect([small, other, last].map(({ res }) => res.destroyed)).toEqual([false, false, false]);
  for (const { res } of [small, other, last]) res.end();
  expect(await Promise.all([small.ended, other.ended, last.ended])).toEqual(['sent', 'sent', 'sent']);
});
