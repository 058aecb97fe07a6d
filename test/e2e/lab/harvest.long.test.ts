import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '../../../demo/real-service.ts';
import { gitAsync } from '../../support/git.ts';
import { openWorld, type World } from '../../support/world.ts';

interface Benchmark {
  status: string;
  reason: string | null;
  looked: number;
  usable: number;
  dropped: { reason: string; count: number }[];
  runId: string;
  items: {
    id: string;
    title: string;
    text: string;
    removed: string[];
    baseSha: string;
    solutionSha: string;
    tests: string[];
    singleTests: string[];
    state: string;
    reason: string | null;
    enabled: boolean;
  }[];
}

/** A dozen tries of the checks take half a minute on an idle machine. */
const patienceMs = 500_000;

let world: World;
let root: string;
afterEach(async () => {
  await world.close();
  await rm(root, { recursive: true, force: true });
});

/** The code and the tests of a module with functions that add these numbers. */
const module = (name: string, numbers: number[], more = '') => ({
  [`src/${name}.js`]: numbers.map((n) => `export function add${n}(value) {\n  return value + ${n};\n}\n`).join(''),
  [`test/${name}.test.js`]: `import assert from 'node:assert';\nimport test from 'node:test';\nimport * as own from '../src/${name}.js';\n${numbers.map((n) => `test('add${n} adds ${n}', () => {\n  assert.equal(own.add${n}(1), ${n + 1});\n});\n`).join('')}${more}`,
});
const codeOf = (files: Record<string, string>) => Object.fromEntries(Object.entries(files).slice(0, 1));

/** Pushes a history with changes of many kinds, the last of them with a pull request that closes an issue. */
async function pushHistory(): Promise<{ plain: string }> {
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
    return gitAsync(clone, 'rev-parse', 'HEAD');
  };
  const mona = world.github.as('mona');
  const repo = '/repos/mona/sample';
  const { number: issue } = await mona<{ number: number }>('POST', `${repo}/issues`, {
    title: 'Adding five is missing',
    body: 'We need to add five.\n\n```js\n  return value + 5;\n```\n\nSee src/five.js.',
  });
  await commit('Settings', {
    '.deckhand.yml': 'setup: []\nchecks: ["node --test --test-isolation=none"]\n',
    'package.json': '{"type":"module"}\n',
    ...module('a', [1]),
  });
  const plain = await commit('Add two', module('a', [1, 2]));
  await commit('Add three without a test', codeOf(module('a', [1, 2, 3])));
  await commit('Test more', module('a', [1, 2, 3]));
  await commit('Passes before', {
    ...module('a', [1, 2, 3], "test('it is there', () => {});\n"),
    'src/b.js': 'export {};\n',
  });
  await commit('Wrong', module('c', [4], "test('it is wrong', () => assert.equal(own.add4(1), 0));\n"));
  await commit('Right again', module('c', [4, 6]));
  await gitAsync(clone, 'push', '-q', 'origin', 'HEAD:main');
  await commit('Add five', module('five', [5]));
  await gitAsync(clone, 'push', '-q', 'origin', 'HEAD:five');
  const { number } = await mona<{ number: number }>('POST', `${repo}/pulls`, {
    ...{ title: 'Add five', head: 'five', base: 'main' },
    body: `Fixes #${issue}`,
  });
  await mona('PUT', `${repo}/pulls/${number}/merge`, { merge_method: 'squash' });
  return { plain };
}

test('a harvest finds the changes whose tests fail before and pass after them, with what people wrote before', async () => {
  world = await openWorld(() => []);
  root = await mkdtemp(join(tmpdir(), 'deckhand-harvest-'));
  const { plain } = await pushHistory();
  const [{ id } = { id: '' }] = await world.get<{ id: string }[]>('/repositories');
  const path = `/repositories/${id}/benchmark`;
  const call = <T>(method: string, at: string, body?: object) => world.service.api<T>(world.token, method, at, body);
  await expect(world.get(path)).rejects.toThrow(`Benchmark of repository ${id} not found`);
  const began = await call<Benchmark>('POST', path, { most: 5 });
  expect(began).toMatchObject({ status: 'harvesting', looked: 0, items: [] });
  await expect(call('POST', path)).rejects.toThrow('A harvest of this repository is running');
  const ended = () =>
    until(
      'the harvest',
      async () => {
        const now = await world.get<Benchmark>(path);
        return now.status !== 'harvesting' && now;
      },
      patienceMs,
    );
  const found = await ended();
  expect(found).toMatchObject({ status: 'ready', reason: null, usable: 2 });
  const usable = found.items.filter(({ state }) => state === 'usable');
  expect(usable.map(({ title }) => title)).toEqual(['Adding five is missing', 'Add two']);
  expect(usable[0]).toMatchObject({
    tests: ['test/five.test.js'],
    singleTests: [],
    text: expect.stringMatching(/^We need to add five\.\s+See \S+\.$/),
  });
  expect(usable[0]?.removed).toEqual(expect.arrayContaining([expect.stringContaining('return value + 5')]));
  expect(usable[0]?.text).not.toContain('five.js');
  expect(usable[1]).toMatchObject({ solutionSha: plain, singleTests: ['add2 adds 2'], enabled: true });
  const rejected = found.items.filter(({ state }) => state === 'rejected');
  expect(rejected.map(({ title, reason }) => [title, reason])).toEqual([
    ['Right again', 'The checks fail on the commit before it.'],
    ['Wrong', 'The checks fail with it.'],
    ['Passes before', 'Its tests pass without it.'],
  ]);
  expect(found.dropped).toContainEqual({ reason: 'It adds or changes no test.', count: 1 });
  const item = usable[1]?.id;
  expect(await call('PATCH', `${path}/items/${item}`, { enabled: false })).toMatchObject({ id: item, enabled: false });
  expect(await world.get(`/projects/${world.project.id}/tasks`)).toEqual([]);
  // A second harvest keeps what is usable, and whether it is switched on.
  await call('POST', path, { most: 2 });
  const again = await ended();
  expect(again).toMatchObject({ status: 'ready', usable: 2 });
  expect(again.items.find(({ id: one }) => one === item)).toMatchObject({ enabled: false });
});
