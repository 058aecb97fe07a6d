import { execFile } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pinnedFetch } from '../../src/outgoing/pinned-fetch.ts';
import { type Authority, makeAuthority } from '../support/stand-ins/company-proxy.ts';

const authority = makeAuthority(['hooks.example.test']) as Authority;
const declare = authority === undefined ? describe.skip : describe;
const here = async () => ({ address: '127.0.0.1', family: 4 });

/** Answers in records of one byte. */
async function crumble(res: ServerResponse) {
  res.writeHead(200, { 'Content-Length': 10_000 });
  while (!res.destroyed) {
    res.write('x');
    await nextTurn();
  }
}

declare('TLS in a thread', () => {
  let server: Server;
  let port: number;
  beforeAll(async () => {
    server = createServer({ key: authority.key, cert: authority.cert }, (req, res) => {
      if (req.url === '/hang') return;
      if (req.url === '/dust') return void crumble(res);
      if (req.url === '/cut') return void res.write('x', () => req.socket.destroy());
      res.setHeader('X-Host', req.headers.host ?? '');
      req.pipe(res);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
    authority.remove();
  });

  /** Runs a program that trusts the authority, which Node reads only when a process starts. */
  const trusting = async (program: string) => {
    const source = new URL('../../src/outgoing/pinned-fetch.ts', import.meta.url).href;
    const script = `const { pinnedFetch } = await import(${JSON.stringify(source)});
      const ask = pinnedFetch(async () => ({ address: '127.0.0.1', family: 4 }));
      const url = (path, host = 'hooks.example.test') => 'https://' + host + ':${port}' + path;
      const why = (error) => error.code ?? error.message;
      ${program}`;
    const options = { env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: authority.file } };
    const args = ['-e', script];
    return JSON.parse((await promisify(execFile)(process.execPath, args, options)).stdout);
  };

  test('sends and receives much, and leaves the process when that is done', async () => {
    const said = await trusting(`
      const body = 'é'.repeat(1_000_000);
      const answer = await ask(url('/echo'), { method: 'POST', body });
      console.log(JSON.stringify([answer.status, answer.headers.get('x-host'), (await answer.text()) === body]));`);
    expect(said).toEqual([200, `hooks.example.test:${port}`, true]);
  });

  test('refuses the certificate of another host, and says when a connection is cut or given up', async () => {
    const said = await trusting(`
      const failures = await Promise.all([
        ask(url('/echo', 'other.example.test')).catch(why),
        ask(url('/cut')).then((answer) => answer.text()).catch((error) => error.name !== ''),
        ask(url('/hang'), { signal: AbortSignal.timeout(300) }).catch((error) => error.name),
      ]);
      console.log(JSON.stringify(failures));`);
    expect(said).toEqual(['ERR_TLS_CERT_ALTNAME_INVALID', true, 'TimeoutError']);
  });

  test('ends a connection whose records are tiny', async () => {
    const said = await trusting(`
      const answer = await ask(url('/dust'));
      console.log(JSON.stringify(await answer.text().catch((error) => error.message)));`);
    expect(said).toBe('aborted');
  });

  test('happens in a thread where every address is allowed, too', async () => {
    const said = await trusting(`
      let threads = 0;
      process.on('worker', () => threads++);
      const failure = await pinnedFetch(async () => undefined)(url('/echo', 'localhost')).catch(why);
      console.log(JSON.stringify([failure, threads]));`);
    expect(said).toEqual(['ERR_TLS_CERT_ALTNAME_INVALID', 1]);
  });

  test('refuses a certificate of an unknown authority', async () => {
    const asked = pinnedFetch(here)(`https://hooks.example.test:${port}/echo`);
    await expect(asked).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  });
});
