import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serveGit } from '../../demo/github/git/git-server.ts';
import { Repositories, type RepositoryRow } from '../../src/db/tables/project.ts';
import { validateRepository } from '../../src/environment/validate.ts';
import { isomorphicProcess } from '../../src/git/javascript/isomorphic-process.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';

let sample: Awaited<ReturnType<typeof serveSampleRepository>>;
let host: Server;
let service: TestApp;
let token: string;
let project: string;
let repository: string;
/** Anybody may read the repository. */
let isPublic = false;
/** What GitHub's API answers, by the end of the address. Everything else is a 404. */
const api = new Map<string, unknown>();

const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const validate = async () => (await call('POST', `/repositories/${repository}/validate`)).body;
const commit = (file: string, text: string) => {
  writeFileSync(join(sample.work, file), text);
  gitOut(sample.work, 'add', '-A');
  gitOut(sample.work, 'commit', '-q', '-m', 'change');
  gitOut(sample.work, 'push', '-q', '-f', sample.bare, 'HEAD:main');
};

beforeAll(async () => {
  sample = await serveSampleRepository();
  gitOut(sample.bare, 'branch', 'trunk', 'main');
  host = createServer((req, res) => {
    const find = async (_name: string, given: string | undefined, kind: string) => {
      const mayRead = kind === 'git-upload-pack' && (given === 'reader' || isPublic);
      const mayUse = given === 'writer' || mayRead;
      return mayUse ? sample.bare : undefined;
    };
    serveGit(
      {
        find,
        beforeAdvertising: async () => {},
        push: (_name: string, _token: string, receive: () => Promise<Buffer>) => receive(),
      },
      req,
      res,
    ).then((isGit) => {
      if (isGit) return;
      const answer = api.get((req.url ?? '').replace(/^\/repos\/octocat\/sample|\?.*$/g, ''));
      res.writeHead(answer === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify(answer ?? { message: 'Not Found' }));
    });
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  service = await openTestApp({ SANDBOX: 'auto', GITHUB_SERVER_URL: url, GITHUB_API_URL: url });
  token = await service.token('octocat');
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
  await call('POST', `/projects/${project}/git-token`, { token: 'writer' });
  const made = await call('POST', '/repositories', { projectId: project, name: 's', url: `${url}/octocat/sample` });
  repository = made.body.id;
});
afterAll(async () => {
  await service.close();
  host.close();
  host.closeAllConnections();
  sample.close();
});
beforeEach(async () => {
  isPublic = false;
  await service.app.db.manager.query('update repositories set is_installed = false, github_id = null');
  api.clear();
  api.set('', { id: 1, private: false, archived: false, permissions: { push: true } });
  await call('POST', `/projects/${project}/git-token`, { token: 'writer' });
  await call('PATCH', `/repositories/${repository}`, { defaultBranch: 'main' });
});

test('a repository that agents can use: its branches, and that its environment was never tried', async () => {
  expect(await validate()).toEqual({
    valid: true,
    message:
      'Reached. It has 2 branches, and agents can push. Its environment was never tried. Try it before the first run.',
    branches: ['main', 'trunk'],
    canPush: true,
  });
});

test('a missing default branch is invalid', async () => {
  await call('PATCH', `/repositories/${repository}`, { defaultBranch: 'gone' });
  expect(await validate()).toEqual({
    valid: false,
    message: 'Reached, but the default branch gone does not exist.',
    error: 'The repository has no branch gone. Change the default branch of the repository to one that exists',
    branches: ['main', 'trunk'],
    canPush: true,
  });
});

test.each([
  [
    'the host refuses a push',
    async () => call('POST', `/projects/${project}/git-token`, { token: 'reader' }),
    /host refuses/,
  ],
  [
    'GitHub knows that the token only reads',
    async () => api.set('', { id: 1, permissions: { push: false } }),
    /only read/,
  ],
  [
    'the repository is archived',
    async () => api.set('', { id: 1, archived: true, permissions: { push: true } }),
    /archived/,
  ],
  [
    'pull requests are switched off',
    async () => api.set('', { id: 1, has_pull_requests: false, permissions: { push: true } }),
    /pull requests are switched off in octocat\/sample. Switch them on .* under General > Features\./i,
  ],
])('agents cannot push when %s', async (_why, change, message) => {
  await change();
  expect(await validate()).toMatchObject({ valid: true, canPush: false, message: expect.stringMatching(message) });
});

test('agents cannot push without a credential, even if everybody may read', async () => {
  isPublic = true;
  await call('DELETE', `/projects/${project}/git-token`);
  expect(await validate()).toMatchObject({
    valid: true,
    canPush: false,
    message: expect.stringContaining('there is no git credential: install the GitHub App'),
  });
});

test('agents cannot push when the App may only read', async () => {
  const { manager } = service.app.db;
  await manager.query(
    `insert into installations (installation_id, account_login, account_id, account_type, status, project_id)
     values (7, 'octocat', 7, 'User', 'active', $1)`,
    [project],
  );
  await manager.query('update repositories set is_installed = true where id = $1', [repository]);
  // GitHub refuses a token with permissions that the installation does not have.
  const mintToken = async (_id: number, _name: object, { contents }: { contents?: string }) => {
    if (contents === 'write') throw Object.assign(new Error('not granted'), { status: 422 });
    return { token: 'reader', endsAt: new Date(Date.now() + 3_600_000) };
  };
  const asInstallation = async () => service.app.githubWithToken('reader');
  const app = { ...service.app, github: { mintToken, asInstallation } } as never;
  const [row] = await manager.find(Repositories, { where: { id: repository } });
  expect(await validateRepository(app, row as RepositoryRow)).toMatchObject({
    valid: true,
    canPush: false,
    message: expect.stringContaining('the GitHub App may not write contents and pull requests here'),
  });
});

test('protected branches and rulesets are named', async () => {
  api.set('/branches/main', { name: 'main', protected: true });
  api.set('/rules/branches/agent%2Fvalidation', [{ type: 'creation' }, { type: 'deletion' }]);
  const { valid, message, canPush } = await validate();
  expect([valid, canPush]).toEqual([true, true]);
  expect(message).toContain('A ruleset restricts branches such as agent/… (creation)');
  expect(message).toContain('The default branch main is protected');
});

test('a settings file that runs could not use is invalid', async () => {
  commit('.deckhand.yml', 'checks: { a: b }\n');
  const { valid, message, error, canPush } = await validate();
  commit('.deckhand.yml', 'checks: npm test\n');
  expect([valid, canPush]).toEqual([false, true]);
  for (const text of [message, error])
    expect(text).toMatch(/\.deckhand\.yml on the default branch cannot be used: line 1/);
  expect((await validate()).valid).toBe(true);
});

test('a failed trial of the environment is reported, and a successful one is not', async () => {
  const end = (status: string) =>
    service.app.db.manager.query(
      `insert into environment_trials (id, repository_id, status, commands, refused_hosts, started_at)
       values ($1, $2, $3, '[]', '[]', clock_timestamp())`,
      [`trial_${status}`, repository, status],
    );
  await end('failed');
  expect((await validate()).message).toMatch(/The last trial of its environment failed\.$/);
  await end('ready');
  expect((await validate()).message).toBe('Reached. It has 2 branches, and agents can push.');
});

test('validations of one project wait for each other, two at a time', async () => {
  const [row] = await service.app.db.manager.find(Repositories, { where: { id: repository } });
  let atOnce = 0;
  let most = 0;
  const both = Promise.withResolvers<void>();
  const listBranches = async () => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    // The first one waits for the second, however long that takes to begin.
    if (atOnce === 2) both.resolve();
    await both.promise;
    // Any further one would have begun by the time that the database has answered so often.
    for (let i = 0; i < 50; i++) await service.app.db.manager.query('select 1');
    atOnce -= 1;
    return new Map();
  };
  const app = { ...service.app, git: { ...service.app.git, listBranches } };
  const all = await Promise.all(Array.from({ length: 6 }, () => validateRepository(app, row as RepositoryRow)));
  expect([all.length, most]).toEqual([6, 2]);
});

test('folders to check out exist on the base branch, and need the installed git', async () => {
  commit('.deckhand.yml', 'checkout: { paths: [src, lib] }\n');
  const unusable = '.deckhand.yml on the default branch cannot be used: checkout.paths';
  expect(await validate()).toMatchObject({
    valid: false,
    error: `${unusable}: there is no folder lib on the branch main.`,
  });
  const { git } = service.app;
  service.app.git = isomorphicProcess();
  try {
    expect(await validate()).toMatchObject({
      valid: false,
      error: `${unusable} needs git, and git in JavaScript is in use; install git (GIT_ENGINE=native).`,
    });
  } finally {
    service.app.git = git;
  }
  commit('.deckhand.yml', 'checkout: { paths: [src] }\n');
  expect(await validate()).toMatchObject({ valid: true });
});

test('a submodule that no run could fetch makes the repository invalid', async () => {
  gitOut(sample.work, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},lib`);
  gitOut(sample.work, 'commit', '-q', '-m', 'a link without an address');
  writeFileSync(join(sample.work, '.deckhand.yml'), 'checkout: { submodules: true }\n');
  gitOut(sample.work, 'add', '.deckhand.yml');
  gitOut(sample.work, 'commit', '-q', '-m', 'submodules');
  gitOut(sample.work, 'push', '-q', '-f', sample.bare, 'HEAD:main');
  expect(await validate()).toMatchObject({
    valid: false,
    error: 'the submodule lib: .gitmodules names no address for it.',
  });
});
