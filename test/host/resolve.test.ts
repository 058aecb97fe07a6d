import { createSocket, type Socket } from 'node:dgram';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lookUpOnce } from '../../src/egress/egress.ts';
import { type LookUp, openResolver } from '../../src/host/resolve.ts';

/** What the name server answers: addresses, an error code (RFC 1035, 4.1.1), or nothing at all. */
type Answer = { a?: number[]; aaaa?: number[]; code?: number } | 'silence';
const zone: Record<string, Answer> = {
  'both.test': { a: [192, 0, 2, 1], aaaa: [0x20, 1, ...new Array(13).fill(0), 1] },
  'four.test': { a: [192, 0, 2, 4] },
  'six.test': { aaaa: [0x20, 1, ...new Array(13).fill(0), 6] },
  'none.test': {},
  'broken.test': { code: 2 },
  'db.inner.test': { a: [10, 0, 0, 1] },
  'api.shop.inner.test': { a: [10, 0, 0, 2] },
  plain: { a: [10, 0, 0, 3] },
};
const missing: Answer = { code: 3 };
const asked: string[] = [];

function reply(query: Buffer): Buffer | undefined {
  const labels = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString());
    at += length + 1;
  }
  const name = labels.join('.').toLowerCase();
  const type = query.readUInt16BE(at + 1);
  asked.push(name);
  const answer = name.endsWith('silent.test') ? 'silence' : (zone[name] ?? missing);
  if (answer === 'silence') return undefined;
  const data = type === 1 ? answer.a : answer.aaaa;
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(0x8180 | (answer.code ?? 0), 2);
  head.writeUInt16BE(data === undefined ? 0 : 1, 6);
  head.writeUInt32BE(0, 8);
  const question = query.subarray(12, at + 5);
  if (data === undefined) return Buffer.concat([head, question]);
  const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]);
  return Buffer.concat([head, question, record]);
}

let server: Socket;
let folder: string;
let resolve: LookUp;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deckhand-resolve-'));
  server = createSocket('udp4', (query, { port, address }) => {
    const answer = reply(query);
    if (answer !== undefined) server.send(answer, port, address);
  });
  await new Promise<void>((done) => server.bind(0, '127.0.0.1', done));
  await writeFile(join(folder, 'hosts'), '127.0.0.1 localhost\n10.1.1.1 Box.example box # a comment\nfd00::1 box\n');
  await writeFile(join(folder, 'resolv.conf'), 'nameserver 192.0.2.53\nsearch inner.test .\noptions ndots:2\n');
  resolve = openResolver({
    hosts: join(folder, 'hosts'),
    config: join(folder, 'resolv.conf'),
    servers: [`127.0.0.1:${(server.address() as AddressInfo).port}`],
    serverMs: 100,
  });
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  asked.length = 0;
});

const addresses = async (host: string) => (await resolve(host)).map(({ address }) => address);

test.each([
  ['both.test', ['192.0.2.1', '2001::1']],
  ['FOUR.test', ['192.0.2.4']],
  ['six.test.', ['2001::6']],
  ['db', ['10.0.0.1']],
  ['api.shop', ['10.0.0.2']],
  ['plain', ['10.0.0.3']],
])('name servers know %s', async (host, found) => {
  expect((await addresses(host)).sort()).toEqual(found);
});

test.each([
  ['192.0.2.9', ['192.0.2.9']],
  ['2001:db8::1', ['2001:db8::1']],
  ['localhost', ['127.0.0.1']],
  ['a.localhost', ['127.0.0.1', '::1']],
  ['box', ['10.1.1.1', 'fd00::1']],
  ['BOX.example.', ['10.1.1.1']],
])('%s needs no name server', async (host, found) => {
  expect(await addresses(host)).toEqual(found);
  expect(asked).toEqual([]);
});

test.each([
  ['unknown.test', 'ENOTFOUND'],
  ['none.test', 'ENOTFOUND'],
  ['broken.test', 'ESERVFAIL'],
  ['silent.test', 'ETIMEOUT'],
  ['db.', 'ENOTFOUND'],
])('%s fails with %s', async (host, code) => {
  await expect(resolve(host)).rejects.toMatchObject({ code });
});

test('a complete name is not completed, and one that a server refuses is not asked for with other domains', async () => {
  await expect(resolve('a.b.unknown')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await expect(resolve('broken.test')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  expect(asked.filter((name) => name.endsWith('inner.test'))).toEqual([]);
});

test('a changed file of hosts is read again', async () => {
  const path = join(folder, 'hosts');
  await writeFile(path, '10.1.1.2 box\n');
  await utimes(path, 1, 1);
  expect(await addresses('box')).toEqual(['10.1.1.2']);
});

test('runs whose name servers are silent delay no look-up of another run', async () => {
  const late: string[] = [];
  const silent = Array.from({ length: 3 }, (_, run) => {
    const lookUp = lookUpOnce(resolve);
    return Array.from({ length: 16 }, (_, i) => lookUp(`n${i}.run${run}.silent.test`).catch(() => late.push('late')));
  });
  expect(await lookUpOnce(resolve)('four.test')).toEqual([{ address: '192.0.2.4', family: 4 }]);
  expect(late).toEqual([]);
  await Promise.all(silent.flat());
});
