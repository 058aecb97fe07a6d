import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { placeOf } from '../../../client/src/cli/git.ts';
import { createTask, DeckhandError, deleteTask, follow, getMe, service } from '../../../client/src/index.ts';

/** What the server does with each request, in order; undefined breaks the connection. */
type Reply = { status: number; headers?: Record<string, string>; body?: unknown } | undefined;
let replies: Reply[] = [];
let requests: IncomingMessage[] = [];
const answer = (req: IncomingMessage, res: ServerResponse) => {
  requests.push(req);
  const reply = replies.shift();
  if (reply === undefined) return void req.socket.destroy();
  const { status, headers = {}, body } = reply;
  const isText = typeof body === 'string';
  res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(isText ? body : JSON.stringify(body));
};
const server = createServer((req, res) => void req.resume().once('end', () => answer(req, res))).listen(0, '127.0.0.1');
let url = '';
beforeAll(async () => {
  if (!server.listening) await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  [replies, requests] = [[], []];
});

const open = (more = {}) => service({ url, token: 'a-token', ...more });
const me = { id: 'u', login: 'mona', name: 'Mona', avatarUrl: '' };
const caught = (work: Promise<unknown>): Promise<DeckhandError> =>
  work.then(
    () => Promise.reject(new Error('it was not refused')),
    (error) => error,
  );

test('a GET is repeated after a broken connection, and after 429 and 503 that say when', async () => {
  const later = { 'Retry-After': '0' };
  replies = [
    undefined,
    { status: 429, headers: later, body: { message: 'later' } },
    { status: 503, headers: later },
    { status: 200, body: me },
  ];
  expect(await getMe(open())).toEqual(me);
  expect(requests.map((r) => [r.url, r.headers.authorization])).toEqual(
    Array(4).fill(['/api/v1/me', 'Bearer a-token']),
  );
});

test('a POST is repeated with the same Idempotency-Key, also while its first try is under way', async () => {
  const underWay = { message: 'A request with this Idempotency-Key is still under way; repeat it later' };
  replies = [undefined, { status: 409, body: underWay }, { status: 201, body: { id: 't' } }];
  expect(await createTask('p', { title: 't' }, {}, open())).toEqual({ id: 't' });
  const keys = requests.map((r) => r.headers['idempotency-key']);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(keys).size).toBe(1);
  replies = [{ status: 201, body: {} }];
  await createTask('p', { title: 't' }, { idempotencyKey: 'mine' }, open());
  expect(requests.at(-1)?.headers['idempotency-key']).toBe('mine');
});

test('tries and pauses are bounded, and a DELETE is not repeated', async () => {
  replies = [];
  expect(await caught(getMe(open()))).toMatchObject({
    status: 0,
    message: expect.stringContaining('cannot be reached'),
  });
  expect(requests).toHaveLength(4);
  requests = [];
  expect((await caught(deleteTask('t', open()))).status).toBe(0);
  expect(requests).toHaveLength(1);
  replies = [{ status: 429, headers: { 'Retry-After': '61' }, body: { message: 'too many' } }];
  expect(await caught(getMe(open()))).toMatchObject({ status: 429, retryAfter: 61, message: 'too many' });
  // Without Retry-After, such as when no model is configured, waiting changes nothing.
  replies = [{ status: 503, body: { message: 'no model' } }];
  expect(await caught(getMe(open()))).toMatchObject({ status: 503, message: 'no model' });
});

test('errors are typed, whoever sent them', async () => {
  const errors = [{ path: 'title', message: 'title is required' }];
  replies = [{ status: 400, body: { statusCode: 400, message: 'bad', errors } }];
  const error = await caught(createTask('p', { title: '' }, {}, open()));
  expect(error).toBeInstanceOf(DeckhandError);
  expect(error).toMatchObject({ status: 400, message: 'bad', errors });
  replies = [{ status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>Bad gateway</h1>' }];
  expect(await caught(getMe(open()))).toMatchObject({
    status: 502,
    message: expect.stringContaining('not as Deckhand'),
    errors: [],
  });
  replies = [{ status: 302, headers: { Location: 'https://login.example.com/' } }];
  expect(await caught(getMe(open()))).toMatchObject({
    status: 302,
    message: expect.stringContaining('login.example.com'),
  });
  replies = [{ status: 200, headers: { 'Content-Type': 'text/html' }, body: '<h1>Wi-Fi</h1>' }];
  expect(await caught(getMe(open()))).toMatchObject({ message: expect.stringContaining('web page') });
  for (const token of ['', 'a b', 'a\nb', 'ü']) {
    expect(() => open({ token })).toThrow(DeckhandError);
    if (token !== '') expect(() => open({ token })).not.toThrow(token);
  }
  for (const bad of ['x', 'ftp://x', 'https://user:secret@x'])
    expect(() => open({ url: bad })).toThrow(/must look like/);
});

test('a stream continues after the last event, and ends when it is refused', async () => {
  const event = (id: number) => `id: ${id}\nevent: task\ndata: {"n":${id}}\n\n`;
  const headers = { 'Content-Type': 'text/event-stream' };
  replies = [
    { status: 200, headers, body: `: ping\n\n${event(1)}${event(2)}id: 3\nevent: ta` },
    { status: 200, headers, body: event(3) },
    { status: 200, headers, body: 'event: error\ndata: {"statusCode":404,"message":"gone"}\n\n' },
  ];
  const seen: unknown[] = [];
  let lost = 0;
  const reading = (async () => {
    for await (const { id, data } of follow(open(), '/x/events', { onLost: () => lost++ })) seen.push([id, data]);
  })();
  expect(await caught(reading)).toMatchObject({ status: 404, message: 'gone' });
  expect(seen).toEqual([1, 2, 3].map((n) => [String(n), { n }]));
  expect(requests.map((r) => r.headers['last-event-id'])).toEqual([undefined, '2', '3']);
  expect(lost).toBe(2);
  replies = [{ status: 403, body: { message: 'no' } }];
  expect(await caught(follow(open(), '/x/events').next())).toMatchObject({ status: 403 });
});

test.each([
  ['https://github.com/Mona/sample', 'github.com/mona/sample'],
  ['https://github.com/mona/sample.git/', 'github.com/mona/sample'],
  ['https://x-access-token:t@github.com/mona/sample.git', 'github.com/mona/sample'],
  ['git@github.com:mona/sample.git', 'github.com/mona/sample'],
  ['ssh://git@github.com:22/mona/sample', 'github.com/mona/sample'],
  ['https://git.corp.example:8443/a/b/c', 'git.corp.example:8443/a/b/c'],
  ['/srv/sample.git', '/srv/sample'],
])('%s is the repository %s', (remote, place) => {
  expect(placeOf(remote)).toBe(place);
});
