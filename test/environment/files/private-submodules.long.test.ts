import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '../../../src/app.ts';
import type { RepositoryRow } from '../../../src/db/tables/project.ts';
import { assertSubmodules, type Choosing } from '../../../src/environment/files/choose-files.ts';
import type { Readers } from '../../../src/environment/files/private-submodules.ts';
import { AppError } from '../../../src/errors.ts';
import type { RepoName } from '../../../src/git/remote-url.ts';
import {
  asked,
  choosing,
  clone,
  commit,
  hostSubmodules,
  open,
  redirects,
  section,
  tokens,
  url,
} from './submodule-host.ts';

hostSubmodules();

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
