import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { serveGit } from '../../demo/github/git/git-server.ts';
import type { App } from '../../src/app.ts';
import type { RepositoryRow } from '../../src/db/tables/project.ts';
import { assertSubmodules, type Choosing, chooseFiles, toldOfFiles } from '../../src/environment/files/choose-files.ts';
import type { Readers } from '../../src/environment/files/private-submodules.ts';
import { Submodules } from '../../src/environment/files/submodules.ts';
import { AppError } from '../../src/errors.ts';
import type { Checkout } from '../../src/git/engine.ts';
import { isomorphicProcess } from '../../src/git/javascript/isomorphic-process.ts';
import { nativeGit } from '../../src/git/native/native.ts';
import type { RepoName } from '../../src/git/remote-url.ts';
import { noProxies } from '../../src/host/proxies.ts';
import { noSettings } from '../../src/repositories/settings/repository-settings.ts';
import { gitOut } from '../support/git.ts';

let root: string;
let server: Server;
let url: string;
/** Which repositories anybody may read. */
const open = new Set<string>();
const asked: string[] = [];
/** The token that opens a repository, instead of the run's. */
const tokens = new Map<string, string>();
/** Where the host redirects requests for a repository. */
const redirects = new Map<string, string>();
const checkouts: Checkout[] = [];

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

/** Commits files and submodules to a repository of the host, and returns the commit. */
function commit(name: string, files: Record<string, string>, links: Record<string, string> = {}): string {
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

const section = (path: string, address: string, more = '') =>
  `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${address}\n${more}`;

function choosing(more: Partial<Choosing['settings']['checkout']> = {}, setup: string[] = []): Choosing {
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

async function clone(given = choosing()) {
  const place = mkdtempSync(join(root, 'c-'));
  const folders = { gitDir: join(place, 'git'), workTree: join(place, 'work') };
  const checkout = await given.app.git.open(given.remote, folders, given.signal);
  checkouts.push(checkout);
  const head = (await checkout.fetch('main')) ?? '';
  await chooseFiles(checkout, given);
  return { checkout, head, place, read: (path: string) => readFileSync(join(place, 'work', path), 'utf8') };
}

test('submodules, also nested ones, are written into the workspace and into copies of it', async () => {
  open.add('mona/lib').add('mona/deep');
  const deep = commit('mona/deep', { 'deep.txt': 'deep\n' });
  const lib = commit(
    'mona/lib',
    { 'lib.txt': 'lib\n', '.gitmodules': section('in/deep', '../deep') },
    { 'in/deep': deep },
  );
  const more = '\tupdate = !touch /tmp/deckhand-submodule-ran\n\tbranch = other\n\tshallow = false\n';
  commit(
    'mona/main',
    { 'a.txt': 'a\n', '.gitmodules': section('libs/lib', `${url}/mona/lib.git`, more) },
    { 'libs/lib': lib },
  );
  const { checkout, head, place, read } = await clone();
  await checkout.checkout(head);
  expect([read('libs/lib/lib.txt'), read('libs/lib/in/deep/deep.txt')]).toEqual(['lib\n', 'deep\n']);
  expect(existsSync('/tmp/deckhand-submodule-ran')).toBe(false);
  expect(existsSync(join(place, 'work/libs/lib/.git'))).toBe(false);
  const copy = join(place, 'copy');
  mkdirSync(copy);
  await checkout.export(await checkout.treeOf(head), copy);
  expect(readFileSync(join(copy, 'libs/lib/in/deep/deep.txt'), 'utf8')).toBe('deep\n');
  // Submodules get no token, and each commit is fetched once.
  expect(asked.filter((each) => each.startsWith('mona/lib')).every((each) => each === 'mona/lib undefined')).toBe(true);
  expect(asked.filter((each) => each.startsWith('mona/main')).every((each) => each.endsWith('run-token'))).toBe(true);
});

test('a change inside a submodule is not part of the change, and neither is its removal', async () => {
  open.add('mona/lib');
  const lib = commit('mona/lib', { 'lib.txt': 'lib\n' });
  commit('mona/main', { '.gitmodules': section('lib', '../lib') }, { lib });
  const { checkout, head, place } = await clone();
  await checkout.checkout(head);
  await checkout.remember();
  const before = await checkout.treeOf(head);
  writeFileSync(join(place, 'work/lib/lib.txt'), 'changed\n');
  writeFileSync(join(place, 'work/lib/new.txt'), 'new\n');
  expect(await checkout.snapshot()).toBe(before);
  rmSync(join(place, 'work/lib'), { recursive: true });
  expect(await checkout.snapshot()).toBe(before);
});

test('a private repository is not fetched with the token of the run', async () => {
  const lib = commit('mona/private', { 'secret.txt': 's\n' });
  commit('mona/main', { '.gitmodules': section('lib', '../private') }, { lib });
  const { checkout, head, place } = await clone();
  await expect(checkout.checkout(head)).rejects.toThrow(
    `the submodule lib: ${url}/mona/private cannot be fetched without credentials; if it is private, connect it to the project`,
  );
  expect(asked).not.toContain('mona/private run-token');
  expect(existsSync(join(place, 'work/lib/secret.txt'))).toBe(false);
});

/** Makes repositories of the host connected ones of the project. `right` is what GitHub answers about the people of the run. */
function connecting(
  names: string[],
  { right = async () => undefined, isPrivate = true, isInstalled = true }: Connecting = {},
): { given: Choosing; entered: string[]; minted: object[]; kept: string[]; readers: Readers } {
  const rows = ['mona/main', ...names].map((name) => ({
    ...{ id: name, projectId: 'project', name, url: `${url}/${name}`, defaultBranch: 'main' },
    ...{ isPrivate, isInstalled, isPrimary: name === 'mona/main', githubId: name.length, connectedBy: null },
  })) as unknown as RepositoryRow[];
  const [entered, minted, kept]: [string[], object[], string[]] = [[], [], []];
  const lookUp = async (_route: string, { owner, repo }: { owner: string; repo: string }) => ({
    data: { id: `${owner}/${repo}`.length, private: isPrivate },
  });
  const mintToken = async (_id: number, { owner, repo }: RepoName, permissions: object) => {
    minted.push({ repo: `${owner}/${repo}`, permissions });
    return { token: `only-${repo}`, endsAt: new Date() };
  };
  for (const name of names) tokens.set(name, `only-${name.split('/')[1]}`);
  const given = choosing();
  const query = {
    where: () => query,
    andWhere: () => query,
    getOne: async () => ({ installationId: 1, projectId: 'project' }),
  };
  const manager = {
    find: async () => rows,
    findOneBy: async () => null,
    findOneByOrFail: async () => ({ sharePrivateContext: false }),
    existsBy: async () => false,
    query: async () => [],
    createQueryBuilder: () => query,
  };
  const readers: Readers = {
    own: rows[0] as RepositoryRow,
    enter: (repository) => {
      entered.push(repository.name);
      return right(repository.name);
    },
    onToken: (token) => kept.push(token),
    entered: new Set(),
  };
  const app = {
    ...given.app,
    db: { manager },
    github: { asInstallation: async () => ({ request: lookUp }), mintToken },
  };
  return { given: { ...given, app: app as unknown as App, readers }, entered, minted, kept, readers };
}

interface Connecting {
  right?: (name: string) => Promise<AppError | undefined>;
  isPrivate?: boolean;
  isInstalled?: boolean;
}

/** Makes a repository with a private submodule that has another one inside it. */
function nestedPrivate(): void {
  const deep = commit('mona/deep', { 'deep.txt': 'deep\n' });
  const lib = commit('mona/lib', { 'lib.txt': 'lib\n', '.gitmodules': section('deep', '../deep') }, { deep });
  commit('mona/main', { '.gitmodules': section('lib', `${url}/Mona/Lib.git`) }, { lib });
}

test('a private submodule of the project is fetched with a token that can only read it, also a nested one', async () => {
  nestedPrivate();
  // GitHub does not distinguish the case of names.
  tokens.set('Mona/Lib', 'only-lib');
  const { given, entered, minted, kept, readers } = connecting(['mona/lib', 'mona/deep']);
  const { checkout, head, place, read } = await clone(given);
  await checkout.checkout(head);
  expect([read('lib/lib.txt'), read('lib/deep/deep.txt')]).toEqual(['lib\n', 'deep\n']);
  expect(entered).toEqual(['mona/lib', 'mona/deep']);
  expect([...readers.entered]).toEqual(entered);
  expect(kept).toEqual(['only-lib', 'only-deep']);
  expect(minted).toEqual(entered.map((repo) => ({ repo, permissions: { contents: 'read' } })));
  const withTokens = new Set(asked.filter((each) => !each.endsWith('undefined')));
  expect([...withTokens].sort()).toEqual(['mona/deep only-deep', 'mona/lib only-lib', 'mona/main run-token']);
  expect(spawnSync('grep', ['-rlE', 'only-(lib|deep)', place], { encoding: 'utf8' }).stdout).toBe('');
});

test('whoever may not write to a private submodule does not get it, and no token is made', async () => {
  nestedPrivate();
  const lack = 'bob has no write permission in the repository mona/deep.';
  const right = async (name: string) => (name === 'mona/deep' ? new AppError(403, lack) : undefined);
  const { given, minted, readers } = connecting(['mona/lib', 'mona/deep'], { right });
  const { checkout, head } = await clone(given);
  await expect(checkout.checkout(head)).rejects.toMatchObject({
    failure: { category: 'repository', retryable: false },
    message: `the submodule lib/deep: ${url}/Mona/deep is private: ${lack} Everybody whose words a run follows needs it there.`,
  });
  expect(minted).toHaveLength(1);
  expect([...readers.entered]).toEqual(['mona/lib']);
  expect(asked.filter((each) => each.startsWith('mona/deep'))).toEqual([]);
});

test('while GitHub cannot be asked, a private submodule is fetched later', async () => {
  nestedPrivate();
  const answers = [new AppError(502, 'GitHub could not be asked')];
  const { given, minted } = connecting(['mona/lib', 'mona/deep'], { right: async () => answers.pop() });
  const { checkout, head, read } = await clone(given);
  await expect(checkout.checkout(head)).rejects.toMatchObject({ fault: 'unreachable' });
  expect(minted).toEqual([]);
  await checkout.checkout(head);
  expect(read('lib/deep/deep.txt')).toBe('deep\n');
});

test('a connected submodule is fetched without a token while everybody may read it', async () => {
  const lib = commit('mona/lib', { 'lib.txt': 'lib\n' });
  commit('mona/main', { '.gitmodules': section('lib', '../lib') }, { lib });
  open.add('mona/lib');
  const { given, entered } = connecting(['mona/lib'], { isPrivate: false });
  const first = await clone(given);
  await first.checkout.checkout(first.head);
  expect([entered, asked.filter((each) => each === 'mona/lib only-lib')]).toEqual([[], []]);
  // It became private, and nobody has told us.
  open.clear();
  const { checkout, head, read } = await clone(given);
  await checkout.checkout(head);
  expect([read('lib/lib.txt'), entered]).toEqual(['lib\n', ['mona/lib']]);
});

test('a token does not follow a redirect, and git tokens are not used for submodules', async () => {
  const lib = commit('mona/lib', { 'lib.txt': 'lib\n' });
  commit('mona/main', { '.gitmodules': section('lib', '../lib') }, { lib });
  const seen: (string | undefined)[] = [];
  const other = createServer((req, res) => {
    seen.push(req.headers.authorization);
    res.writeHead(404).end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  for (const to of [`http://127.0.0.1:${(other.address() as AddressInfo).port}`, `${url}/elsewhere`]) {
    redirects.set('mona/lib', to);
    const { checkout, head } = await clone(connecting(['mona/lib']).given);
    await expect(checkout.checkout(head)).rejects.toThrow();
    redirects.clear();
  }
  other.close();
  expect(seen).toEqual([]);
  expect(asked.filter((each) => each.startsWith('elsewhere'))).toEqual([]);
  const { given, entered } = connecting(['mona/lib'], { isInstalled: false });
  const { checkout, head } = await clone(given);
  const refusal = 'is private: install the GitHub App on it';
  await expect(assertSubmodules(checkout, given, head)).rejects.toThrow(refusal);
  await expect(checkout.checkout(head)).rejects.toThrow(refusal);
  expect(entered).toEqual([]);
});

test('a commit that its repository does not have', async () => {
  open.add('mona/lib');
  commit('mona/lib', { 'lib.txt': 'lib\n' });
  commit('mona/main', { '.gitmodules': section('lib', '../lib') }, { lib: 'a'.repeat(40) });
  const { checkout, head } = await clone();
  await expect(checkout.checkout(head)).rejects.toThrow(
    /the submodule lib: .*\/mona\/lib has no commit a{40}; push it there/,
  );
});

test.each([
  ['file:///etc', 'must be an https address'],
  ['/etc', 'must be an https address'],
  ['git@github.com:a/b.git', 'must be an https address'],
  ['ssh://git@example.com/a/b', 'must be an https address'],
  ['ext::sh -c touch% /tmp/x', 'must be an https address'],
  ['--upload-pack=x', 'must be an https address'],
  ['https://user:pass@example.com/a/b', 'must not contain a user name'],
  ['https://127.0.0.1/a/b', 'must not name a private'],
  ['https://169.254.169.254/a/b', 'must not name a private'],
  ['http://example.com/a/b', 'must begin with https://'],
  ['https://other.example.com/a/b', 'add other.example.com to network.setup in .deckhand.yml'],
  ['https://mirror.example.org:8443/a/b', 'add mirror.example.org:8443 to network.setup'],
  ['../..//evil.example.com/x', 'must not have empty parts'],
])('the address %s is refused, before anything is fetched', async (address, why) => {
  commit('mona/main', { '.gitmodules': section('lib', address) }, { lib: 'a'.repeat(40) });
  const given = choosing({}, ['mirror.example.org']);
  const { checkout, head } = await clone(given);
  asked.splice(0);
  await expect(assertSubmodules(checkout, given, head)).rejects.toThrow(why);
  await expect(checkout.checkout(head)).rejects.toMatchObject({ failure: { category: 'repository' } });
  expect(asked).toEqual([]);
});

test('a host from which set-up may download is allowed', async () => {
  commit('mona/main', { '.gitmodules': section('lib', 'https://mirror.example.org/a/b') }, { lib: 'a'.repeat(40) });
  const given = choosing({}, ['mirror.example.org']);
  const { checkout, head } = await clone(given);
  await assertSubmodules(checkout, given, head);
});

test('a submodule without an address', async () => {
  commit('mona/main', { 'a.txt': 'a\n' }, { lib: 'a'.repeat(40) });
  const given = choosing();
  const { checkout, head } = await clone(given);
  await expect(assertSubmodules(checkout, given, head)).rejects.toThrow(
    'the submodule lib: .gitmodules names no address',
  );
});

test('submodules that are nested too deep, or are too many', async () => {
  let last = commit('mona/d0', { 'x.txt': 'x\n' });
  open.add('mona/d0');
  for (let i = 1; i <= 3; i++) {
    open.add(`mona/d${i}`);
    last = commit(`mona/d${i}`, { '.gitmodules': section('s', `../d${i - 1}`) }, { s: last });
  }
  commit('mona/main', { '.gitmodules': section('s', '../d3') }, { s: last });
  const nested = await clone();
  await expect(nested.checkout.checkout(nested.head)).rejects.toThrow('the submodule s/s/s/s: submodules are nested');
  const links = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`s${i}`, last]));
  commit('mona/main', { '.gitmodules': '' }, links);
  const many = await clone();
  await expect(many.checkout.checkout(many.head)).rejects.toThrow('there are more than 50 submodules');
});

test('what hosts send for all submodules of a run has a limit, whatever size their files have', async () => {
  // Their names fill the packs of these empty files.
  const empty = () => Object.fromEntries(Array.from({ length: 200 }, () => [randomBytes(60).toString('hex'), '']));
  const links: Record<string, string> = {};
  for (const name of ['one', 'two', 'three']) {
    open.add(`mona/${name}`);
    links[name] = commit(`mona/${name}`, empty());
  }
  commit(
    'mona/main',
    {
      '.gitmodules': Object.keys(links)
        .map((name) => section(name, `../${name}`))
        .join(''),
    },
    links,
  );
  const { app, remote, signal } = choosing();
  const place = async (maxBytes: number) => {
    const { checkout, head, place: folder } = await clone(choosing({ submodules: false }));
    const submodules = new Submodules({ app, remote, hosts: [], signal }, join(folder, 'modules'), maxBytes);
    await checkout.checkout(head);
    try {
      await submodules.placeInto(checkout.workTree, checkout, head, () => true);
      return readdirSync(join(folder, 'modules')).length;
    } finally {
      await submodules.close();
    }
  };
  expect(await place(200_000)).toBe(3);
  // The second or third pack no longer fits.
  for (const maxBytes of [25_000, 45_000])
    await expect(place(maxBytes)).rejects.toMatchObject({
      failure: { category: 'repository' },
      message: expect.stringMatching(/^the submodule (?:one|two|three): .* more than 0\.0\d+ MB$/),
    });
});

test('only submodules in the chosen folders are fetched', async () => {
  open.add('mona/lib');
  const lib = commit('mona/lib', { 'lib.txt': 'lib\n' });
  const modules = section('a/lib', '../lib') + section('b/lib', '../private');
  commit('mona/main', { '.gitmodules': modules, 'a/x': 'x', 'b/x': 'x' }, { 'a/lib': lib, 'b/lib': lib });
  const { checkout, head, read } = await clone(choosing({ paths: ['a'] }));
  await checkout.checkout(head);
  expect(read('a/lib/lib.txt')).toBe('lib\n');
});

test('git in JavaScript cannot do it, and the agent is told what it has', async () => {
  const given = choosing();
  const { checkout } = await clone(given);
  const app = { ...given.app, git: isomorphicProcess() };
  await expect(chooseFiles(checkout, { ...given, app })).rejects.toThrow('checkout.submodules needs git');
  expect(toldOfFiles(given.settings)).toMatch(/^Submodules are there to be read/);
  expect(toldOfFiles(noSettings)).toBe('');
});
