import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../demo/real-service.ts';
import { setSecret } from '../../src/environment/secrets/secrets.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';
import { type MadeImage, makeImage, smallSystem } from './stand-ins/made-image.ts';
import { startRegistry } from './stand-ins/registry.ts';

const auth = { user: 'somebody', password: 'canary of a registry' };
const basic = `Basic ${Buffer.from(`${auth.user}:${auth.password}`).toString('base64')}`;

let service: TestApp;
let token: string;
let host: Awaited<ReturnType<typeof serveSampleRepository>>;
let registry: Awaited<ReturnType<typeof startRegistry>>;
let path: string;

beforeAll(async () => {
  host = await serveSampleRepository();
  registry = await startRegistry({}, (req, res) => {
    if (req.headers.authorization === basic) return false;
    res.writeHead(401, { 'WWW-Authenticate': 'Basic realm="tests"' }).end();
    return true;
  });
  service = await openTestApp({ SANDBOX: 'auto', ALLOW_PRIVATE_HOSTS: 'true', GIT_HOSTS: new URL(host.url).origin });
  token = await service.token('octocat');
  const post = (to: string, body: object) => service.call('POST', to, { token, body });
  const projectId = (await post('/projects', { name: 'One' })).body.id;
  await post(`/projects/${projectId}/git-token`, { token: 'good-token' });
  const repository = await post('/repositories', { projectId, name: 'sample', url: host.url });
  const hosts = [registry.host];
  await setSecret(service.app, projectId, 'REGISTRY_USER', { value: auth.user, hosts });
  await setSecret(service.app, projectId, 'REGISTRY_PASSWORD', { value: auth.password, hosts });
  await setSecret(service.app, projectId, 'OTHER_PASSWORD', { value: auth.password, hosts: ['registry.example.org'] });
  path = `/repositories/${repository.body.id}/environment`;
  await service.work();
});
afterAll(async () => {
  await service.close();
  registry.close();
  host.close();
});

/** Commits these settings and tries them. Returns undefined where images cannot be used. */
async function tried(settings: object) {
  const { images } = service.app;
  if (!images.state.works) console.warn(`skipped: ${images.state.says}`);
  if (!images.state.works) return undefined;
  // JSON is YAML too.
  writeFileSync(join(host.work, '.deckhand.yml'), JSON.stringify(settings));
  gitOut(host.work, 'add', '-A');
  gitOut(host.work, 'commit', '-q', '--allow-empty', '-m', 'settings');
  gitOut(host.work, 'push', '-q', host.bare, 'main');
  await service.call('POST', path, { token });
  return until('the end of the trial', async () => {
    const { body } = await service.call('GET', path, { token });
    return body.status !== 'running' && body;
  });
}

const version = (text: string): MadeImage =>
  makeImage([smallSystem(), [{ name: 'etc/version', content: `${text}\n` }]]);
const imageAuth = { username: 'REGISTRY_USER', password: 'REGISTRY_PASSWORD' };

test('set-up and checks run on the image, which is pulled again when its tag has moved', async () => {
  const image = `${registry.host}/team/tools:1`;
  const look = 'read v < /etc/version; echo $v; [ -e /usr/bin/git ] || echo only the image; set';
  const settings = { image, imageAuth, setup: look, checks: 'echo checked on; read v < /etc/version; echo $v' };
  registry.images['team/tools:1'] = version('one');
  const first = await tried(settings);
  if (first === undefined) return;
  expect(first).toMatchObject({ status: 'ready', image, commands: [{ exitCode: 0 }, { output: 'checked on\none\n' }] });
  expect(first.commands[0].output).toMatch(/^one\nonly the image\n/);
  expect(JSON.stringify(first)).not.toContain('canary');
  registry.images['team/tools:1'] = version('two');
  expect((await tried(settings)).commands[1].output).toBe('checked on\ntwo\n');
});

test.each<[string, object, RegExp]>([
  ['does not exist', { image: '/team/other', imageAuth }, /has no image 127\.0\.0\.1:\d+\/team\/other/],
  [
    'needs credentials of another registry',
    { image: '/team/tools:1', imageAuth: { ...imageAuth, password: 'OTHER_PASSWORD' } },
    /the secret OTHER_PASSWORD, which must not be sent to 127\.0\.0\.1:\d+; an admin of the project can add/,
  ],
  ['needs credentials', { image: '/team/tools:1' }, /requires credentials .* imageAuth/],
  ['is for another processor', { image: '/team/foreign', imageAuth }, /is not made for linux\//],
  ['has no shell', { image: '/team/empty', imageAuth }, /has no shell/],
])('a trial fails when the image %s', async (_, { image, ...settings }: { image?: string }, problem) => {
  registry.images['team/tools:1'] = version('one');
  registry.images['team/foreign:latest'] = makeImage([smallSystem()], { architecture: 's390x' });
  registry.images['team/empty:latest'] = makeImage([[{ name: 'etc/version' }]]);
  const trial = await tried({ ...settings, image: `${registry.host}${image}`, setup: 'true' });
  if (trial === undefined) return;
  expect(trial).toMatchObject({ status: 'failed', problem: expect.stringMatching(problem), commands: [] });
});
