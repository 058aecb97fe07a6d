import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serveGit } from '../../../demo/github/git/git-server.ts';
import { proposePrd } from '../../../src/github/planning/propose-prd.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { gitOut, serveSampleRepository } from '../../support/git.ts';

let sample: Awaited<ReturnType<typeof serveSampleRepository>>;
let host: Server;
let service: TestApp;
let token: string;
let url: string;
let project: string;
let repository: string;
/** The pull requests that were opened. */
let opened: { title: string; body: string; head: string; draft: boolean }[] = [];

const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const commit = (text: string) => {
  writeFileSync(join(sample.work, '.deckhand.yml'), text);
  gitOut(sample.work, 'add', '-A');
  gitOut(sample.work, 'commit', '-q', '--allow-empty', '-m', 'change');
  gitOut(sample.work, 'push', '-q', '-f', sample.bare, 'HEAD:main');
};
const branches = () =>
  gitOut(sample.bare, 'for-each-ref', '--format=%(refname:short)')
    .split('\n')
    .filter((name) => name.startsWith('agent/'));

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += chunk;
  const isPulls = /^\/repos\/octocat\/sample\/pulls(\?|$)/.test(req.url ?? '');
  const reply = (status: number, body: unknown) =>
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  if (req.url === '/repos/octocat/sample') return void reply(200, { id: 1, private: true });
  if (isPulls && req.method === 'GET') return void reply(200, []);
  if (!isPulls || req.method !== 'POST') return void reply(404, { message: 'Not Found' });
  const wanted = JSON.parse(text);
  opened.push(wanted);
  reply(201, {
    number: 1,
    html_url: `${url}/octocat/sample/pull/1`,
    draft: wanted.draft,
    head: { sha: 'a'.repeat(40) },
  });
}

beforeAll(async () => {
  sample = await serveSampleRepository();
  const git = {
    find: async (_name: string, given: string | undefined) => (given === 'writer' ? sample.bare : undefined),
    beforeAdvertising: async () => {},
    push: (_name: string, _token: string, receive: () => Promise<Buffer>) => receive(),
  };
  host = createServer(async (req, res) => {
    if (req.url?.startsWith('/repos/')) await answer(req, res);
    else if (!(await serveGit(git, req, res))) res.writeHead(404).end('{}');
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  service = await openTestApp({ SANDBOX: 'off', GITHUB_SERVER_URL: url, GITHUB_API_URL: url });
  token = await service.token('octocat');
});
afterAll(async () => {
  await service.close();
  host.close();
  host.closeAllConnections();
  sample.close();
});
beforeEach(async () => {
  for (const name of branches()) gitOut(sample.bare, 'branch', '-q', '-D', name);
  opened = [];
  commit('{}\n');
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
  await call('POST', `/projects/${project}/git-token`, { token: 'writer' });
  const body = { projectId: project, name: 's', url: `${url}/octocat/sample`, isDocsRepo: true };
  repository = (await call('POST', '/repositories', body)).body.id;
});

/** Writes the requirements of a plan and proposes them. */
async function propose(markdown: string, title = 'Greeting by name', goal = 'Greet people'): Promise<void> {
  const { sessionId } = (await call('POST', `/projects/${project}/wizard/initialize`, { goal })).body;
  const prd = JSON.stringify({ title, markdown });
  await service.app.db.manager.query('update wizard_sessions set prd = $1 where id = $2', [prd, sessionId]);
  const userId = (await call('GET', '/me')).body.id;
  await proposePrd(service.app, { projectId: project, sessionId, userId });
}

test.each([
  ['nothing', '{}\n', false],
  ['checks', 'checks: npm test\n', true],
  ['a proof', 'proof: required\n', true],
  ['an approval of pushes', 'push: approved\n', true],
])('where the repository wants %s, the requirements are a draft or not', async (_what, settings, draft) => {
  commit(settings);
  await propose('People are strangers.');
  expect(opened).toMatchObject([{ title: 'Requirements: Greeting by name', draft }]);
  expect(branches()).toEqual([opened[0]?.head]);
  expect(gitOut(sample.bare, 'show', `${opened[0]?.head}:docs/requirements/greeting-by-name.md`)).toContain(
    'strangers',
  );
});

test('where the project wants an approval of pushes, the requirements are a draft', async () => {
  expect((await call('PATCH', `/projects/${project}`, { push: 'approved' })).status).toBe(200);
  await propose('People are strangers.');
  expect(opened).toMatchObject([{ draft: true }]);
});

const secret = 'correct horse battery';
const ghToken = `ghp_${'a1B2'.repeat(10)}`;

test.each([
  ['a secret in the document', '{}\n', [`Sign in with ${Buffer.from(secret).toString('base64')}.`]],
  ['what looks like a token in the document', '{}\n', [`Sign in with ${ghToken}.`]],
  ['a secret in the goal', '{}\n', ['Fine.', 'Fine', `Use ${secret}`]],
  ['a secret in the title', '{}\n', ['Fine.', secret]],
  ['a protected folder', 'protected: docs/requirements\n', ['Fine.']],
  ['settings that cannot be used', 'checks: { a: b }\n', ['Fine.']],
] as [
  string,
  string,
  [string, string?, string?],
][])('with %s, nothing is pushed or opened', async (_what, settings, plan) => {
  await call('PUT', `/projects/${project}/environment-secrets/PASSWORD`, { value: secret, repositories: [repository] });
  commit(settings);
  await propose(...plan);
  expect([branches(), opened]).toEqual([[], []]);
});
