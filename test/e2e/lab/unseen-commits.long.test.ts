import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { offers } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { gitAsync } from '../../support/git.ts';
import { openWorld, type World } from '../../support/world.ts';
import type { Benchmark } from './history.ts';

const secret = 'npm_canary_of_the_harvest_0123456789_xyz';
const patienceMs = 500_000;

/** What the agent of a trial finds in its home folder. */
let seen = '';
let world: World;
let root: string;
beforeEach(async () => {
  seen = '';
  root = await mkdtemp(join(tmpdir(), 'deckhand-unseen-'));
  world = await openWorld((request, turn) => {
    if (!offers(request, 'finish')) return 'ok';
    if (turn === 0) return [{ name: 'run_command', arguments: { command: 'echo "found $(cat ~/length)"' } }];
    seen ||= JSON.stringify(request.messages.filter(({ role }) => role === 'tool'));
    return [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];
  });
});
afterEach(async () => {
  await world.close();
  await rm(root, { recursive: true, force: true });
});

const module = (name: string) => ({
  [`src/${name}.js`]: `export const ${name} = () => 1;\n`,
  [`test/${name}.test.js`]: `import assert from 'node:assert';\nimport test from 'node:test';\nimport { ${name} } from '../src/${name}.js';\ntest('${name}', () => assert.equal(${name}(), 1));\n`,
});

const count = 'printf %s "$NPM_TOKEN" | wc -c';
const needsSecret = 'test -n "$NPM_TOKEN"\n';

/**
 * Pushes what a pull request of three commits leaves that was merged by rebasing. Its diff shows neither what the first does
 * to set-up nor that the last takes it back. Then harvests it, and returns the log.
 */
async function harvestRebased(settings: string, unseen: string) {
  const clone = join(root, 'clone');
  const url = world.github.url.replace('http://', 'http://x:person-mona@');
  await gitAsync(root, 'clone', '-q', `${url}/mona/sample.git`, clone);
  const commit = async (message: string, files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(clone, path)), { recursive: true });
      await writeFile(join(clone, path), text);
    }
    await gitAsync(clone, 'add', '-A');
    await gitAsync(clone, 'commit', '-q', '-m', message);
  };
  await commit('Settings', {
    '.deckhand.yml': `setup: [sh tools/install.sh]\nsecrets: [NPM_TOKEN]\nchecks: ["node --test --test-isolation=none"]\n${settings}`,
    'package.json': '{"type":"module"}\n',
    'tools/install.sh': needsSecret,
    ...module('a'),
  });
  await commit('Prepare', { 'tools/install.sh': unseen });
  await commit('Add b', module('b'));
  await commit('Tidy', { 'tools/install.sh': needsSecret });
  await gitAsync(clone, 'push', '-q', 'origin', 'HEAD:main');
  const [{ id } = { id: '' }] = await world.get<{ id: string }[]>('/repositories');
  await world.service.api(world.token, 'PUT', `/projects/${world.project.id}/environment-secrets/NPM_TOKEN`, {
    value: secret,
    repositories: [id],
  });
  const path = `/repositories/${id}/benchmark`;
  const { runId } = await world.service.api<Benchmark>(world.token, 'POST', path, { most: 5 });
  const ended = async () => {
    const now = await world.get<Benchmark>(path);
    return now.status !== 'harvesting' && now;
  };
  const found = await until('the harvest', ended, patienceMs);
  const log = await world.get<{ text: string }[]>(`/runs/${runId}/events`);
  const text = log.map((each) => each.text).join('\n');
  expect(text).not.toMatch(new RegExp(`\\b${secret.length}\\b`));
  return { repositoryId: id, item: found.items.find(({ title }) => title === 'Add b'), text };
}

test('a commit that nobody saw gets the environment of the newest one where both are set up alike', async () => {
  const { item, text } = await harvestRebased('', `exit $(${count})\n`);
  expect(item).toMatchObject({ state: 'usable', reason: null });
  expect(text).toContain('sh tools/install.sh: exit code 0');
});

test('set-up of a commit that nobody saw has no secret, in a harvest and in a trial', async () => {
  const { item, repositoryId } = await harvestRebased(
    'cache: ["tools/**"]\n',
    `echo "length $(${count})" > ~/length\n`,
  );
  expect(item).toMatchObject({ state: 'usable', reason: null });
  const agents = await world.get<{ id: string; name: string }[]>(`/agents?projectId=${world.project.id}`);
  const agentId = agents.find(({ name }) => name === 'Developer')?.id ?? '';
  const { id } = await world.service.api<{ id: string }>(world.token, 'POST', `/agents/${agentId}/trials`, {
    ...{ repositoryId, items: 1, budget: { costUsd: 5 } },
  });
  await until(
    'the trial',
    async () => (await world.get<{ status: string }>(`/trials/${id}`)).status !== 'running',
    patienceMs,
  );
  expect(seen).toContain('found length 0');
});

test('an item says why it is unusable when its set-up needs a secret or the network of set-up', async () => {
  const settings = 'cache: ["tools/**"]\nnetwork: { setup: [packages.example.com] }\n';
  const { item, text } = await harvestRebased(settings, 'curl -sS --fail http://packages.example.com/\n');
  expect(item).toMatchObject({
    state: 'rejected',
    reason: 'Set-up fails on the commit before it, which gets no secrets and no network of set-up for its own code.',
  });
  expect(text).toContain('sh tools/install.sh: it failed without the network of set-up');
});
