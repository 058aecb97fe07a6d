import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAppAuth } from '@octokit/auth-app';
import { request } from '@octokit/request';
import { createEmulator } from 'emulate';
import { Allowance, spareToken } from './allowance.ts';
import { appId, emulatorSeed, installationId, type Seed, webhookSecret } from './emulator-seed.ts';
import { Front, type Push } from './front.ts';
import type { Faults, Reaction } from './front-extras.ts';
import type { Call } from './git-objects.ts';
import type { Delivery } from './webhook-sender.ts';

/** A GitHub of our own: the emulator, a git server fed from and into it, and the few addresses the emulator lacks. */
export interface DemoGitHub {
  url: string;
  appId: number;
  privateKey: string;
  webhookSecret: string;
  pushes: Push[];
  /** Every webhook that was sent, with the status the service answered. */
  deliveries: Delivery[];
  reactions: Reaction[];
  /** Lets calls of the App go wrong. */
  fail(faults: Faults): void;
  /** Says of new tokens that they end that soon; without a number as the emulator says. */
  tokensEndIn(seconds?: number): void;
  /** The bare repository behind `owner/name`. */
  folderOf(name: string): string;
  /** Calls the API as a person. */
  as(login: string): Call;
  deliverTo(url: string): void;
  /** Sends an event again, under another delivery. */
  redeliver(guid: string): Promise<void>;
  /** Sends an event as it is. */
  deliver(event: string, body: string): Promise<void>;
  /** Sends an event of the repository that the emulator does not know; `sender` is a login. */
  send(event: string, payload: { sender: string; [field: string]: unknown }): Promise<void>;
  close(): Promise<void>;
}

/** Starts it, with one repository that holds the sample project and the App installed on its owner. */
export async function startGitHub(seed: Seed): Promise<DemoGitHub> {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-github-'));
  const server = createServer();
  const url = `http://127.0.0.1:${await listen(server)}`;
  const innerPort = await freePort();
  const emulator = await createEmulator({
    service: 'github',
    port: innerPort,
    baseUrl: url,
    seed: emulatorSeed(seed, url),
  });
  const privateKey = emulator.generatedSecrets.find((s) => s.kind === 'github.app_private_key')?.value ?? '';
  const appAuth = createAppAuth({
    appId,
    privateKey,
    request: request.defaults({ baseUrl: `http://127.0.0.1:${innerPort}` }),
  });
  const ownerToken = `person-${seed.isOrganization ? seed.people[0] : seed.owner}`;
  const name = `${seed.owner}/${seed.repository}`;
  const front = new Front(`http://127.0.0.1:${innerPort}`, root, {
    name,
    more: (seed.more ?? []).map((other) => `${seed.owner}/${other}`),
    webhookSecret,
    installationId,
    ownerToken,
    allowance: new Allowance(async (used, count) =>
      used.startsWith('person-')
        ? spareToken(used, count)
        : (await appAuth({ type: 'installation', installationId, refresh: true })).token,
    ),
  });
  server.on('request', (req, res) => {
    front.answer(req, res).catch((error: Error) => {
      if (!res.headersSent) res.writeHead(500);
      res.end(JSON.stringify({ message: error.message }));
    });
  });
  for (const each of front.names) await front.seedRepository(each);
  return {
    url,
    appId,
    privateKey,
    webhookSecret,
    pushes: front.pushes,
    deliveries: front.hooks.deliveries,
    reactions: front.reactions,
    folderOf: (name) => front.folderOf(name),
    as: (login) => front.caller(`person-${login}`),
    deliverTo: (target) => {
      front.hooks.target = target;
    },
    fail: (faults) => {
      front.faults = faults;
    },
    tokensEndIn: (seconds) => {
      front.tokenSeconds = seconds;
    },
    redeliver: (guid) => front.hooks.repeat(guid),
    deliver: (event, body) => front.hooks.send(event, body),
    send: (event, payload) => front.send(event, payload),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await emulator.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** The emulator tells its own address from the port it is given, so one is picked for it. */
async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listen(probe);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
