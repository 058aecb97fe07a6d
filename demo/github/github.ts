import { generateKeyPair } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAppAuth } from '@octokit/auth-app';
import { request } from '@octokit/request';
import { createEmulator } from 'emulate';
import { openFace } from '../face/face.ts';
import { freePort } from '../settings.ts';
import { Allowance, spareToken } from './allowance.ts';
import { appId, emulatorSeed, installationId, type Seed, webhookSecret } from './emulator-seed.ts';
import { Front } from './front.ts';
import type { Faults, Reaction } from './front-extras.ts';
import type { FrontLinks } from './front-links.ts';
import type { FrontMerges } from './front-merges.ts';
import type { Push } from './git/git-host.ts';
import type { Call } from './git/git-objects.ts';
import type { RareStates } from './rare-states.ts';
import type { Delivery } from './webhook-sender.ts';

/**
 * GitHub for the demo and the tests: the emulator, a git server with the same contents, and the endpoints that the
 * emulator lacks.
 */
export interface DemoGitHub {
  url: string;
  appId: number;
  privateKey: string;
  webhookSecret: string;
  pushes: Push[];
  /** Every webhook that was sent, with the status of the service's response. */
  deliveries: Delivery[];
  reactions: Reaction[];
  /** Who resolved a thread of a review, by the number of its first comment. */
  resolved: Map<number, string>;
  /** Attachments of issues, by their path. Only callers with a token get them, as in a private repository. */
  attachments: Map<string, Buffer>;
  /** Logs of GitHub Actions jobs, by their id, which is that of their check run. */
  jobLogs: Map<number, string>;
  /** Makes calls of the App fail. */
  fail(faults: Faults): void;
  /** Makes new tokens expire after this many seconds; without an argument restores the emulator's expiry. */
  tokensEndIn(seconds?: number): void;
  /**
   * Sets whether `mergeable` is null when a pull request is read for the first time after a push, as on GitHub. The service
   * then asks again after 15 s.
   */
  decideLate(isLate: boolean): void;
  /** Rare states, which tests set and take back. */
  rare: RareStates;
  /** Auto-merge and the merge queue: tests settle what waits, and take pull requests out of the queue. */
  merges: Pick<FrontMerges, 'settle' | 'dequeue'>;
  /** Sub-issues, dependencies and types of issues: tests choose what this GitHub lacks. */
  links: Pick<FrontLinks, 'lacks' | 'types' | 'of'>;
  /** Renames the first repository. */
  rename(to: string): Promise<void>;
  /** Moves an issue of the first repository to another one (`owner/name`). Returns its path there. */
  transfer(number: number, to: string): Promise<string>;
  /** Returns the bare repository of `owner/name`. */
  folderOf(name: string): string;
  /** Shows the branches of `owner/name` as git has them, after a test moved them with git itself. */
  showBranches(name: string): Promise<void>;
  /** Returns a function that calls the API as a person. */
  as(login: string): Call;
  deliverTo(url: string): void;
  /** Sends an event again, with a new delivery id. */
  redeliver(guid: string): Promise<void>;
  /** Sends an event with this body. */
  deliver(event: string, body: string): Promise<void>;
  /** Sends a repository event that the emulator does not support; `sender` is a login. */
  send(event: string, payload: { sender: string; [field: string]: unknown }): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the demo GitHub with the seed's repositories, each a copy of the sample project, and the App installed on
 * their owner.
 */
export async function startGitHub(seed: Seed): Promise<DemoGitHub> {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-github-'));
  const server = createServer();
  const { path = '' } = seed;
  const url = `http://127.0.0.1:${await listen(server)}${path}`;
  const shownUrl = seed.publicUrl ?? url;
  const emulator = await startEmulator(seed, shownUrl);
  const front = new Front(emulator.url, root, {
    ...seed,
    url: shownUrl,
    name: `${seed.owner}/${seed.repository}`,
    more: (seed.more ?? []).map((other) => `${seed.owner}/${other}`),
    webhookSecret,
    installationId,
    ownerToken: `person-${seed.isOrganization ? seed.people[0] : seed.owner}`,
    allowance: emulator.allowance,
  });
  const attachments = new Map<string, Buffer>();
  const people = [...new Set(seed.isOrganization ? seed.people : [seed.owner, ...seed.people])];
  const { folderOf, as } = controlsOf(front);
  const reactionsTo = (subject: string) =>
    front.reactions.filter((each) => each.subject === subject).map(({ content }) => content);
  const isShown = openFace({ names: () => front.names, people, as, folderOf, reactionsTo });
  server.on('request', (req, res) => {
    if (!req.url?.startsWith(`${path}/`)) return res.writeHead(404).end();
    req.url = req.url.slice(path.length);
    const attached = attachments.get(req.url ?? '');
    const hasToken = /^Bearer ghs_/.test(req.headers.authorization ?? '');
    if (attached !== undefined) return res.writeHead(hasToken ? 200 : 404).end(hasToken ? attached : undefined);
    const answer = async () => (await isShown(req, res)) || front.answer(req, res);
    answer().catch((error: Error) => {
      if (!res.headersSent) res.writeHead(500);
      res.end(JSON.stringify({ message: error.message }));
    });
  });
  for (const each of front.names) await front.seedRepository(each);
  return {
    url,
    appId,
    privateKey: emulator.privateKey,
    webhookSecret,
    attachments,
    ...controlsOf(front),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await emulator.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

let key: Promise<string> | undefined;

/** Returns the App's private key. All emulators of this process share it, because the emulator would take 100 ms for each. */
function keyOfApp(): Promise<string> {
  key ??= promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }).then(({ privateKey }) => privateKey);
  return key;
}

/** Starts the emulator on a separate port; it reports `publicUrl` as its address. */
async function startEmulator(seed: Seed, publicUrl: string) {
  // The emulator needs to know its port before it starts.
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const privateKey = await keyOfApp();
  const { close } = await createEmulator({
    service: 'github',
    port,
    baseUrl: publicUrl,
    seed: emulatorSeed(seed, { url: publicUrl, privateKey }),
  });
  const appAuth = createAppAuth({ appId, privateKey, request: request.defaults({ baseUrl: url }) });
  const allowance = new Allowance(async (used, count) =>
    used.startsWith('person-')
      ? spareToken(used, count)
      : (await appAuth({ type: 'installation', installationId, refresh: true })).token,
  );
  return { url, privateKey, allowance, close };
}

/** Returns the controls for tests and the demo. */
function controlsOf(front: Front) {
  return {
    pushes: front.pushes,
    deliveries: front.hooks.deliveries,
    reactions: front.reactions,
    resolved: front.resolved,
    jobLogs: front.jobLogs,
    rare: front.rare,
    merges: front.merges,
    links: front.links,
    rename: (to: string) => front.rename(to),
    transfer: (number: number, to: string) => front.transfer(number, to),
    folderOf: (name: string) => front.folderOf(name),
    showBranches: (name: string) => front.showBranches(name),
    as: (login: string) => front.caller(`person-${login}`),
    deliverTo: (target: string) => {
      front.hooks.target = target;
    },
    fail: (faults: Faults) => {
      front.faults = faults;
    },
    tokensEndIn: (seconds?: number) => {
      front.tokenSeconds = seconds;
    },
    decideLate: (isLate: boolean) => front.decideLate(isLate),
    redeliver: (guid: string) => front.hooks.repeat(guid),
    deliver: (event: string, body: string) => front.hooks.send(event, body),
    send: (event: string, payload: { sender: string; [field: string]: unknown }) => front.send(event, payload),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
