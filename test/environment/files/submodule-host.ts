import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { serveGit } from '../../../demo/github/git/git-server.ts';
import type { App } from '../../../src/app.ts';
import { type Choosing, chooseFiles } from '../../../src/environment/files/choose-files.ts';
import type { Checkout } from '../../../src/git/engine.ts';
import { nativeGit } from '../../../src/git/native/native.ts';
import { noProxies } from '../../../src/host/proxies.ts';
import { noSettings } from '../../../src/repositories/settings/repository-settings.ts';
import { gitOut } from '../../support/git.ts';

// A git host for the tests of submodules.

let root: string;
let server: Server;
export let url: string;
/** Which repositories anybody may read. */
export const open = new Set<string>();
export const asked: string[] = [];
/** The token that opens a repository, instead of the run's. */
export const tokens = new Map<string, string>();
/** Where the host redirects requests for a repository. */
export const redirects = new Map<string, string>();
const checkouts: Checkout[] = [];

/** Call it once in a test file: the files of a worker share this module, and each needs a host of its own. */
export function hostSubmodules(): void {
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'deckhand-modules-'));
    const find = async (name: string, token: string | undefined) => {
      asked.push(`${name} ${token}`);
      const folder = join(root, `${name.replace('/', '+')}.git`);
      return existsSync(folder) && (open.has(name) || token === (tokens.get(name) ?? 'run-token')) ? folder : undefined;
    };
    const git = {
      find,
      beforeAdvertising: async () => {},
      push: (_n: string, _t: string, r: () => Promise<Buffer>) => r(),
    };
    server = createServer((req, res) => {
      const [, to] = [...redirects].find(([name]) => req.url?.startsWith(`/${name}`)) ?? [];
      if (to === undefined) return void serveGit(git, req, res);
      asked.push(`${req.url?.split('/').slice(1, 3).join('/')} redirected`);
      res.writeHead(301, { Location: `${to}${req.url}` }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
    rmSync(root, { recursive: true, force: true });
  });
  afterEach(async () => {
    for (const checkout of checkouts.splice(0)) await checkout.close();
    asked.splice(0);
    open.clear();
    tokens.clear();
    redirects.clear();
  });
}

/** Commits files and submodules to a repository of the host, and returns the commit. */
export function commit(name: string, files: Record<string, string>, links: Record<string, string> = {}): string {
  const work = join(root, 'work', name);
  const bare = join(root, `${name.replace('/', '+')}.git`);
  rmSync(work, { recursive: true, force: true });
  rmSync(bare, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  gitOut(work, 'init', '-q', '-b', 'main');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), text);
  }
  gitOut(work, 'add', '-A');
  for (const [path, oid] of Object.entries(links))
    gitOut(work, 'update-index', '--add', '--cacheinfo', `160000,${oid},${path}`);
  gitOut(work, 'commit', '-q', '-m', 'c');
  execFileSync('git', ['clone', '-q', '--bare', '-c', 'uploadpack.allowAnySHA1InWant=true', work, bare]);
  return gitOut(work, 'rev-parse', 'HEAD');
}

/** Adds a commit to a repository of the host, at some refs. A tag is annotated. Returns the commit. */
export function commitMore(name: string, files: Record<string, string | null>, ...refs: string[]): string {
  const work = join(root, 'work', name);
  for (const [path, text] of Object.entries(files))
    if (text === null) rmSync(join(work, path));
    else writeFileSync(join(work, path), text);
  // Only these: submodules have no folders here.
  gitOut(work, 'add', '-A', '--', ...Object.keys(files));
  gitOut(work, 'commit', '-q', '-m', 'more');
  for (const ref of refs) {
    const tag = /^refs\/tags\/(.*)/.exec(ref)?.[1];
    if (tag !== undefined) gitOut(work, 'tag', '-a', '-m', 'a tag', tag);
    gitOut(work, 'push', '-q', join(root, `${name.replace('/', '+')}.git`), tag === undefined ? `HEAD:${ref}` : ref);
  }
  return gitOut(work, 'rev-parse', 'HEAD');
}

export const section = (path: string, address: string, more = '') =>
  `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${address}\n${more}`;

export function choosing(more: Partial<Choosing['settings']['checkout']> = {}, setup: string[] = []): Choosing {
  const config = { GITHUB_SERVER_URL: url, ALLOW_PRIVATE_HOSTS: false, proxies: noProxies };
  const app = { git: nativeGit(), config, egress: { defaultHosts: async () => [] } } as unknown as App;
  const settings = {
    ...noSettings,
    network: { setup, agent: [] },
    checkout: { submodules: true, lfs: false, paths: [], ...more },
  };
  return {
    app,
    settings,
    remote: { url: `${url}/mona/main`, token: 'run-token' },
    signal: AbortSignal.timeout(60_000),
  };
}

export async function clone(given = choosing()) {
  const place = mkdtempSync(join(root, 'c-'));
  const folders = { gitDir: join(place, 'git'), workTree: join(place, 'work') };
  const checkout = await given.app.git.open(given.remote, folders, given.signal);
  checkouts.push(checkout);
  const head = (await checkout.fetch('main')) ?? '';
  await chooseFiles(checkout, given);
  return { checkout, head, place, read: (path: string) => readFileSync(join(place, 'work', path), 'utf8') };
}
