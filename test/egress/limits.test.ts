import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { until } from '../../demo/real-service.ts';
import { openGate } from '../../src/egress/dial.ts';
import { lookUpOnce } from '../../src/egress/egress.ts';
import { paced, proxyServer } from '../../src/egress/proxy-server.ts';
import { refusalLog } from '../../src/egress/refusals.ts';
import { noProxies } from '../../src/host/proxies.ts';
import { helloOf } from './hello.ts';
import { closingProxied } from './proxied.ts';
import { get, open } from './requests.ts';

const opened = closingProxied();

/** A proxy with other limits than usual. */
const proxyWith = async (limits: Parameters<typeof proxyServer>[2]) => {
  const log = refusalLog();
  const addresses = [{ address: '127.0.0.1', family: 4 }];
  const gate = openGate({
    ...{
      isOn: true,
      list: 'setup' as const,
      isAllowed: () => true,
      isClosed: () => false,
      allowPrivateHosts: false,
      proxies: noProxies,
      log,
    },
    lookUp: async () => addresses,
  });
  const folder = await mkdtemp(join(tmpdir(), 'egress-'));
  const host = proxyServer(gate, () => connect('/nowhere'));
  const { server, end } = proxyServer(gate, () => connect(join(folder, 'host')), limits);
  await new Promise<void>((resolve) => host.server.listen(join(folder, 'host'), resolve));
  await new Promise<void>((resolve) => server.listen(join(folder, 'proxy'), resolve));
  const close = async () => {
    for (const each of [{ server, end }, host]) {
      each.server.close();
      each.end();
    }
    await rm(folder, { recursive: true });
  };
  return { path: join(folder, 'proxy'), log, close };
};

/** Sends something, and resolves with the reply when the proxy hangs up. */
const told = (path: string, text: string | Buffer) =>
  new Promise<string>((resolve) => {
    let reply = '';
    const client = connect({ path }, () => client.write(text));
    client
      .on('error', () => {})
      .on('data', (chunk) => {
        reply += chunk.toString('latin1');
      });
    client.once('close', () => resolve(reply));
  });

describe('limits', () => {
  test('a client that does not finish its request is disconnected', async () => {
    const { path, close } = await proxyWith({ headMs: 100, checkMs: 20 });
    expect(await told(path, `GET http://${open}/ HTTP/1.1\r\nX: `)).toMatch(/^HTTP\/1.1 408 /);
    expect(await told(path, '')).toMatch(/^(HTTP\/1.1 408 |$)/);
    await close();
  });

  test('a client that does not finish its hello is disconnected', async () => {
    const { path, log, close } = await proxyWith({ helloMs: 100 });
    const hello = (await helloOf(open)).subarray(0, 100);
    const request = Buffer.from(`CONNECT ${open}:443 HTTP/1.1\r\n\r\n`);
    expect(await told(path, Buffer.concat([request, hello]))).toMatch(/^HTTP\/1.1 200 /);
    expect(log.news()).toMatch(/its TLS hello was not complete after 0.1 s/);
    // A browser may open a tunnel that it does not use.
    expect(await told(path, request)).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
    expect(log.news()).toBeUndefined();
    await close();
  });

  const refused = 'CONNECT x:22 HTTP/1.1\r\n\r\n';

  test('connections beyond the limit are closed', async () => {
    const { path, close } = await proxyWith({ headMs: 100, checkMs: 20, connections: 3 });
    const [last, ...first] = (await Promise.all(['', '', '', refused].map((text) => told(path, text)))).reverse();
    expect([last, first.length]).toEqual(['', 3]);
    await close();
  });

  test('requests beyond the rate wait', async () => {
    const { path, close } = await proxyWith({ perSecond: 20, burst: 1 });
    const began = performance.now();
    for (let i = 0; i < 5; i++) expect(await told(path, refused)).toMatch(/^HTTP\/1.1 403 /);
    // At 20 a second, after the first.
    expect(performance.now() - began).toBeGreaterThan(150);
    await close();
  });

  test('a client that sends many requests in advance is disconnected', async () => {
    const { say, received } = await opened({ answer: () => {} });
    expect(await say(get(`http://${open}/`, '').repeat(17))).toBe('');
    expect(received().split('GET').length).toBeLessThanOrEqual(17);
  });

  test('nothing is left of clients that disconnect immediately', async () => {
    const { socket, say, connections } = await opened({ answer: (req, res) => req.url === '/' && res.end('here') });
    for (const request of [`CONNECT ${open}:443 HTTP/1.1\r\n\r\n`, get(`http://${open}/silent`, '').repeat(10)])
      for (let i = 0; i < 20; i++) {
        const client = connect({ path: socket }, () => client.write(request, () => client.destroy()));
        await new Promise((resolve) => client.once('close', resolve));
      }
    expect(await say(get(`http://${open}/`))).toMatch(/here/);
    // Kept for further requests: one connection, of the honest client.
    while (connections.size > 1) await nextTurn();
  });

  test('requests whose turn would come too late are refused', async () => {
    const turn = paced(10, 1, 240);
    const began = performance.now();
    expect(await Promise.all([turn(), turn(), turn(), turn(), turn()])).toEqual([true, true, true, false, false]);
    expect(performance.now() - began).toBeGreaterThan(190);
  });

  test('a few names wait for their look-up, and further ones fail', async () => {
    let asked = 0;
    const lookUp = lookUpOnce(() => {
      asked += 1;
      return new Promise(() => {});
    });
    for (let i = 0; i < 64; i++) lookUp(`n${i}.example.org`).catch(() => {});
    await expect(lookUp('more.example.org')).rejects.toMatchObject({ code: 'EBUSY' });
    expect(asked).toBe(4);
  });

  test('simultaneous connections share a look-up', async () => {
    const { say, lookedUp } = await opened();
    await Promise.all(Array.from({ length: 20 }, () => say(get(`http://${open}/`))));
    expect(lookedUp).toEqual([open]);
  });
});

test.each([
  ['usual', get(`http://${open}/`, '')],
  ['with an unknown expectation', `GET http://${open}/ HTTP/1.1\r\nHost: ${open}\r\nExpect: x\r\n\r\n`],
  ['that wait for 100 Continue', `GET http://${open}/ HTTP/1.1\r\nHost: ${open}\r\nExpect: 100-continue\r\n\r\n`],
  ['without a Host header', `GET http://${open}/ HTTP/1.1\r\n\r\n`],
])('many requests in advance, %s, close all connections', async (_name, one) => {
  const { path, close } = await proxyWith({ pipelined: 3, closedMs: 200, perSecond: 5, burst: 1 });
  const other = told(path, 'GET http://');
  expect(await told(path, one.repeat(500))).not.toContain('HTTP/1.1 2');
  expect(await other).toBe('');
  await until('an answer', async () => (await told(path, 'CONNECT x:22 HTTP/1.1\r\n\r\n')).startsWith('HTTP/1.1 403 '));
  await close();
});

test('a body in many pieces closes all connections for a while', async () => {
  const { path, close } = await proxyWith({ pieces: 10, closedMs: 200, perSecond: 5, burst: 1 });
  const refused = 'CONNECT x:22 HTTP/1.1\r\n\r\n';
  const post = 'POST http://x/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  expect(await told(path, `${post}${'1\r\nx\r\n'.repeat(5)}0\r\n\r\n`)).toMatch(/^HTTP\/1.1 403 /);
  const other = told(path, 'GET http://');
  expect(await told(path, post + '1\r\nx\r\n'.repeat(50))).toBe('');
  expect([await other, await told(path, refused)]).toEqual(['', '']);
  await until('an answer', async () => (await told(path, refused)).startsWith('HTTP/1.1 403 '));
  await close();
});
