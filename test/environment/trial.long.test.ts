import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '../../demo/real-service.ts';
import { noFindings } from '../../src/db/tables/environment.ts';
import { setSecret } from '../../src/environment/secrets/secrets.ts';
import { startEnvironmentTrial } from '../../src/environment/trial.ts';
import { trialText } from '../../src/github/commands/notices.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';
import { withClockAhead } from '../support/machine/clock.ts';

let service: TestApp;
let token: string;
let host: Awaited<ReturnType<typeof serveSampleRepository>>;
let projectId: string;
let path: string;

beforeAll(async () => {
  host = await serveSampleRepository();
  service = await openTestApp({ SANDBOX: 'auto', ALLOW_PRIVATE_HOSTS: 'true', GIT_HOSTS: new URL(host.url).origin });
  token = await service.token('octocat');
  const post = (to: string, body: object) => service.call('POST', to, { token, body });
  projectId = (await post('/projects', { name: 'One' })).body.id;
  await post(`/projects/${projectId}/git-token`, { token: 'good-token' });
  const repository = await post('/repositories', { projectId, name: 'sample', url: host.url });
  path = `/repositories/${repository.body.id}/environment`;
});
afterAll(async () => {
  await service.close();
  host.close();
});

function push(settings: string): void {
  writeFileSync(join(host.work, '.deckhand.yml'), settings);
  writeFileSync(join(host.work, '.gitignore'), 'deps/\n');
  gitOut(host.work, 'add', '-A');
  gitOut(host.work, 'commit', '-q', '-m', 'settings');
  gitOut(host.work, 'push', '-q', host.bare, 'main');
}

const get = () => service.call('GET', path, { token });
const start = () => service.call('POST', path, { token });
const ended = () =>
  until('the end of the trial', async () => {
    const { body } = await get();
    return body.status !== 'running' && body;
  });

test('a trial is 404 before the first; one runs at a time, and its worker may be lost', async () => {
  expect((await get()).status).toBe(404);
  const first = await start();
  expect([first.status, first.body]).toEqual([202, { id: expect.stringMatching(/^trial_/), status: 'running' }]);
  expect((await get()).body).toMatchObject({
    ...first.body,
    beganAt: null,
    finishedAt: null,
    commands: [],
    refusedHosts: [],
  });
  const second = await start();
  expect([second.status, second.body.message]).toEqual([409, expect.stringContaining('is running')]);
  expect((await withClockAhead(2 * 3_600_000, start)).status).toBe(409);
  await service.app.db.manager.query(`update environment_trials set seen_at = now() - interval '61 minutes'`);
  const third = await start();
  expect(third.status).toBe(202);
  expect(third.body.id).not.toBe(first.body.id);
  const rows = await service.app.db.manager.query('select status, problem from environment_trials order by started_at');
  expect(rows).toEqual([
    { status: 'failed', problem: expect.stringContaining('worker of this trial was lost') },
    { status: 'running', problem: null },
  ]);
});

test('a trial runs set-up and checks, shows output while they run, and hides secrets', async () => {
  await setSecret(service.app, projectId, 'NPM_TOKEN', { value: 'canary of a trial', hosts: [] });
  push(
    'setup: ["mkdir deps && echo $NPM_TOKEN"]\nnetwork: { setup: [] }\nsecrets: NPM_TOKEN\nchecks: [test -d deps, "echo wrong; exit 4", "true"]\n',
  );
  await service.work();
  const trial = await ended();
  expect(trial).toMatchObject({ status: 'failed', image: null, problem: null, beganAt: expect.any(String) });
  expect(trial.setupCommands).toBe(1);
  expect(trial.commands.map((c: { exitCode: number }) => c.exitCode)).toEqual([0, 0, 4, 0]);
  expect(trial.commands[2]).toEqual({
    command: 'echo wrong; exit 4',
    exitCode: 4,
    seconds: expect.any(Number),
    output: 'wrong\n',
  });
  expect(JSON.stringify(trial)).not.toContain('canary');
  // The second trial sets up again, although the result of the first was kept.
  push('setup: mkdir deps\nnetwork: { setup: [] }\nchecks: test -d deps\n');
  for (const _ of [1, 2]) {
    await start();
    expect(await ended()).toMatchObject({ status: 'ready', commands: [{ command: 'mkdir deps' }, { exitCode: 0 }] });
  }
});

test.each([
  ['cheks: x\n', /^.deckhand.yml on the default branch cannot be used: line 1/, 0],
  ['setup: "true"\nsecrets: OTHER\n', /names the secret OTHER, which does not belong to this repository; an admin/, 0],
  [
    'setup: "echo no; exit 1"\nnetwork: { setup: [] }\n',
    /^set-up failed: "echo no; exit 1" ended with exit code 1\nno$/,
    1,
  ],
])('a trial of %j says what is wrong', async (settings, problem, commands) => {
  push(settings);
  await start();
  const trial = await ended();
  expect([trial.status, trial.problem, trial.commands.length]).toEqual([
    'failed',
    expect.stringMatching(problem),
    commands,
  ]);
});

test('the answer knows whether the repository had secrets while the trial ran', async () => {
  push('setup: "true"\nnetwork: { setup: [] }\n');
  const repositoryId = path.split('/')[2] ?? '';
  const { app } = service;
  const hadSecrets = async () => {
    const { id } = await startEnvironmentTrial(app, { repositoryId, userId: 'user_x', issueNumber: 1 });
    await ended();
    const [job] = await app.db.manager.query(
      `select data ->> 'hadSecrets' as had from pgboss.job where name = 'trialAnswer' and data ->> 'trialId' = $1`,
      [id],
    );
    return job.had;
  };
  const assign = (repositories: string[]) =>
    setSecret(app, projectId, 'NPM_TOKEN', { value: 'canary of a trial', repositories, hosts: [] });
  await assign([repositoryId]);
  expect(await hadSecrets()).toBe('true');
  await assign([]);
  expect(await hadSecrets()).toBe('false');
});

test('a trial does not wait until that of another project has ended', async () => {
  const post = (to: string, body: object) => service.call('POST', to, { token, body });
  const { body: other } = await post('/projects', { name: 'Two' });
  await post(`/projects/${other.id}/git-token`, { token: 'good-token' });
  const { body: repository } = await post('/repositories', { projectId: other.id, name: 'sample', url: host.url });
  const slow = `/repositories/${repository.id}/environment`;
  push('setup: echo begun && sleep 600\nnetwork: { setup: [] }\n');
  await post(slow, {});
  const ofSlow = async () => (await service.call('GET', slow, { token })).body;
  await until('the slow set-up', async () => (await ofSlow()).commands[0]?.output.includes('begun'));
  push('setup: "true"\nnetwork: { setup: [] }\n');
  await start();
  expect(await ended()).toMatchObject({ status: 'ready' });
  expect(await ofSlow()).toMatchObject({ status: 'running' });
});

test('without checks in .deckhand.yml, a trial tries the usual ones, and names what is missing', async () => {
  const lock = (name: string) => {
    const itself = { name, version: '1.0.0' };
    return JSON.stringify({ ...itself, lockfileVersion: 3, requires: true, packages: { '': itself } });
  };
  const manifest = (name: string, test?: string) => JSON.stringify({ name, version: '1.0.0', scripts: { test } });
  const files: Record<string, string> = {
    'package.json': manifest('x', 'echo connect ECONNREFUSED 127.0.0.1:6379; exit 3'),
    ...{ 'test_x.py': '', 'mix.exs': '', 'setup.py': '' },
    ...{ 'api/package.json': manifest('api', 'true'), 'api/package-lock.json': lock('api') },
    ...{
      'web/package.json': manifest('web', 'echo getaddrinfo ENOTFOUND store; exit 1'),
      'web/package-lock.json': lock('web'),
    },
    ...{ 'docs/package.json': manifest('docs'), 'docs/package-lock.json': lock('docs') },
    'compose.yaml':
      'services:\n  store: { image: postgres }\n  web: { environment: { STORE_URL: "postgres://postgres@store/x" } }\n',
  };
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(host.work, path)), { recursive: true });
    writeFileSync(join(host.work, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const network = 'network: { setup: [] } # ours\n';
  const tryWith = async (settings: string) => {
    push(settings);
    await start();
    return ended();
  };
  const trial = await tryWith(network);
  const missing = [{ program: 'mix', image: 'docker.io/library/elixir:1' }];
  expect(trial).toMatchObject({
    status: 'failed',
    problem: expect.stringMatching(/^mix is not installed where commands run, so "mix .*name an image that has it/),
    missing,
    unknown: ['setup.py'],
    unchecked: ['docs'],
    services: [{ port: 5432 }, { port: 6379, run: expect.stringContaining('redis-server') }],
  });
  const results = trial.tried.map(({ command, exitCode }: Record<string, unknown>) => [command, exitCode]);
  expect(results).toEqual([
    ['npm test', 3],
    ['python3 -m pytest', expect.any(Number)],
    ['python3 -m unittest', expect.any(Number)],
    ['mix test', 127],
    ['cd api && npm test', 0],
    ['cd web && npm test', 1],
  ]);
  expect(trial.draft).toMatch(
    /^network: \{ setup: \[\] \} # ours\nchecks:\n {2}- "cd api && npm test" # .* s in the trial\n# /,
  );
  expect(trial.draft).toContain('did not find the host "store"');
  expect(trial.draft).toContain('#   STORE_URL: "postgres://postgres@localhost/x"\n');
  // The draft does not hide what is missing. A set-up of its own may do without, which the trial says.
  const ofDraft = await tryWith(trial.draft);
  expect(ofDraft).toMatchObject({ status: 'failed', missing, draft: null });
  const ofOwn = await tryWith(`${network}setup: "true"\nchecks: "true"\n`);
  expect(ofOwn).toMatchObject({
    status: 'ready',
    problem: expect.stringMatching(/^mix is not installed .* which setup in \.deckhand\.yml does not list/),
    missing,
  });
  const ofNone = await tryWith(`${network}setup: []\nchecks: "true"\n`);
  expect(ofNone).toMatchObject({ status: 'ready', problem: null, missing: [] });
  for (const path of Object.keys(files)) rmSync(join(host.work, path));
});

test('a repository that cannot be read is a problem of the trial', async () => {
  rmSync(host.bare, { recursive: true });
  await start();
  expect(await ended()).toMatchObject({ status: 'failed', problem: expect.stringContaining('git') });
});

test('the comment shows output only in private repositories', () => {
  const trial = {
    status: 'failed' as const,
    problem: 'set-up failed: "npm ci" ended with exit code 1\ninternal.example said no',
    commands: [{ command: 'npm ci `x`', exitCode: 1, seconds: 2.5, output: 'internal.example said no' }],
  };
  const shown = {
    ...trial,
    id: '',
    repositoryId: '',
    startedAt: new Date(),
    beganAt: null,
    finishedAt: null,
    seenAt: new Date(),
  };
  const row = { ...shown, image: null, refusedHosts: [], missing: [], unknown: [], found: noFindings, issueNumber: 1 };
  expect(trialText(row, true)).toContain('internal.example');
  expect(trialText(row, false)).toBe(
    '❌ Set-up or checks failed.\nset-up failed: "npm ci" ended with exit code 1\n`npm ci \'x\'`: exit code 1, 2.5 s',
  );
  expect(trialText({ ...row, status: 'ready', problem: null, commands: [] }, false)).toBe(
    '✅ Set-up and checks succeeded.\nThere is nothing to set up or check.',
  );
});
