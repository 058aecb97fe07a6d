import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gitAsync } from '../../support/git.ts';
import type { World } from '../../support/world.ts';

export interface Benchmark {
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

/** The code and the tests of a module with functions that add these numbers. */
const module = (name: string, numbers: number[], more = '') => ({
  [`src/${name}.js`]: numbers.map((n) => `export function add${n}(value) {\n  return value + ${n};\n}\n`).join(''),
  [`test/${name}.test.js`]: `import assert from 'node:assert';\nimport test from 'node:test';\nimport * as own from '../src/${name}.js';\n${numbers.map((n) => `test('add${n} adds ${n}', () => {\n  assert.equal(own.add${n}(1), ${n + 1});\n});\n`).join('')}${more}`,
});
const codeOf = (files: Record<string, string>) => Object.fromEntries(Object.entries(files).slice(0, 1));

/** Pushes a history with changes of many kinds, the last of them with a pull request that closes an issue. */
export async function pushHistory(world: World, root: string): Promise<{ plain: string }> {
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
    body: 'We need to add five.\n\n[//]: # (HIDDEN)\n\n```js\n  return value + 5;\n```\n\nSee src/five.js.',
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
