import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTestApp, type TestApp } from '../support/app.ts';

const suite = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** Runs scenarios of the official conformance suite and returns what it printed. @throws Error when one fails */
async function conform(side: 'server' | 'client', scenario: string, args: string[]): Promise<string> {
  // It writes its results into the current folder.
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-conformance-'));
  const command = [suite, side, '--scenario', scenario, ...args];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(process.execPath, command, { cwd: folder, timeout: 120_000 }, (error, stdout, stderr) =>
    error ? reject(new Error(`${scenario}: ${stdout}\n${stderr}`)) : resolve(`${stdout}${stderr}`),
  );
  return promise.finally(() => rm(folder, { recursive: true }));
}

describe('our server', () => {
  let service: TestApp;
  let address: string;
  const front = createServer();
  beforeAll(async () => {
    await new Promise<void>((resolve) => front.listen(0, 'localhost', resolve));
    address = `http://localhost:${(front.address() as AddressInfo).port}`;
    service = await openTestApp({ BASE_URL: address });
    forward(front, service.url, await service.token('owner'));
  });
  afterAll(async () => {
    front.close();
    front.closeAllConnections();
    await service.close();
  });

  // The others call tools, prompts and resources of a server made for the suite, or use features that ours does not have
  // (prompts, sampling, elicitation, subscriptions, sessions).
  test.each([
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'dns-rebinding-protection',
  ])('passes %s', async (scenario) => {
    const { port } = front.address() as AddressInfo;
    expect(await conform('server', scenario, ['--url', `http://localhost:${port}/api/v1/mcp`])).toMatch(/0 failed/);
  });
});

describe('our client', () => {
  const client = fileURLToPath(new URL('../support/stand-ins/conformance-client.ts', import.meta.url));

  // The others are about OAuth and elicitation, which it does not offer to servers: people give it a fixed header.
  test.each(['initialize', 'tools_call'])('passes %s', async (scenario) => {
    const printed = await conform('client', scenario, ['--command', `${process.execPath} ${client}`]);
    expect(printed).toMatch(/0 failed/);
  });
});

/** Forwards the requests to a server to another one, with a token, because the suite sends none. */
function forward(from: Server, to: string, token: string): void {
  from.on('request', (req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${token}` };
    const onward = request(`${to}${req.url}`, { method: req.method, headers }, (reply) => {
      res.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(res);
    });
    onward.once('error', () => res.destroy());
    req.pipe(onward);
  });
}
