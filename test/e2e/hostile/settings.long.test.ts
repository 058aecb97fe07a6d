import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';
import { gitAsync, gitWith } from '../../support/git.ts';
import { lateAnswers } from '../../support/http/health.ts';
import { isThorough, testSome } from '../../support/thorough.ts';
import type { WorldTask } from '../../support/world.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace();
});
afterAll(() => face.world.close());

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const run = (command: string) => ({ name: 'run_command', arguments: { command } });

/** Commits files to main through git's objects, without a work tree. */
async function commitFiles(files: Record<string, string>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-person-'));
  try {
    const url = `${face.world.github.url.replace('http://', 'http://x:person-mona@')}/mona/sample.git`;
    await gitAsync(folder, 'clone', '-q', '--bare', url, 'c');
    const clone = join(folder, 'c');
    const oids = new Map<string, string>();
    for (const content of new Set(Object.values(files)))
      oids.set(content, gitWith(clone, content, 'hash-object', '-w', '--stdin'));
    gitWith(clone, '', 'read-tree', 'main');
    const index = Object.entries(files).map(([path, content]) => `100644 ${oids.get(content)}\t${path}\n`);
    gitWith(clone, index.join(''), 'update-index', '--add', '--index-info');
    const tree = gitWith(clone, '', 'write-tree');
    const commit = gitWith(clone, '', 'commit-tree', tree, '-p', 'main', '-m', 'by a stranger');
    await gitAsync(clone, 'push', '-q', url, `${commit}:refs/heads/main`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Plays a run on the current main branch, and expects that the service responds during the whole run. */
async function play(status: string, ...turns: Parameters<Face['plays']>) {
  const { world, plays, taskOf } = face;
  plays(...turns);
  let task: WorldTask | undefined;
  const late = await lateAnswers(world.service, async () => {
    const number = await world.issue('/agent start');
    const isOver = async () => {
      task = await taskOf(number);
      return task.runCount === 1 && task.status === status;
    };
    await until(`issue ${number} ${status}`, isOver);
  });
  expect(late).toBeLessThan(10);
  return task;
}

testSome<[string, string, RegExp]>(1, [
  ['32 kB of nested lists', '['.repeat(32_000), /nested too deeply|more than 2 s/],
  [
    'six patterns of 99,999 names each',
    `protected: [${Array(6).fill('"x{1..99999}y"').join(', ')}]\n`,
    /must not contain a range/,
  ],
  ['40,000 keys', Array.from({ length: 40_000 }, (_, i) => `k${i}:\n`).join(''), /larger than 32 kB/],
  ['32 kB of keys', Array.from({ length: 5400 }, (_, i) => `${i}:\n`).join(''), /there is no key "0"|more than 2 s/],
])('%s in .deckhand.yml: the run fails with the reason, and the service stays responsive', async (_what, text, why) => {
  await commitFiles({ '.deckhand.yml': text });
  const task = await play('ready', [finish]);
  expect(task?.failure).toMatchObject({ category: 'repository', message: expect.stringMatching(why) });
});

test('the service responds during a run with a file of 100,000 token-like strings and a comment of 64 kB', async () => {
  const tokens = Array.from({ length: 100_000 }, (_, i) => `AKIA${String(i).padStart(16, 'A')}\n`).join('');
  await commitFiles({ '.deckhand.yml': '{}\n', 'tokens.txt': tokens });
  await face.say(1, `${'` `` <pre>\n'.repeat(6000)}/agent start`.slice(-65_536));
  const task = await play('in_review', [run('echo more >> tokens.txt'), finish]);
  expect(task?.failure).toBeNull();
  expect(await face.mona('GET', `${repo}/pulls/${face.pullOf(task as never)}`)).toMatchObject({ state: 'open' });
});

// test/repositories/settings.long.test.ts shows it for the patterns alone.
(isThorough ? test : test.skip)(
  'the service responds while 32 kB of the slowest patterns are matched with 10,000 changed paths',
  async () => {
    const patterns = Array.from({ length: 200 }, (_, i) => `"**/*a*a*${'?'.repeat(130)}b${i}"`);
    const name = 'a'.repeat(180);
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`many/${i % 100}/${name}${i}`, 'x\n']));
    await commitFiles({ '.deckhand.yml': `protected:\n${patterns.map((p) => `  - ${p}\n`).join('')}`, ...many });
    const task = await play('ready', [run('rm -rf many'), finish]);
    expect(task?.failure).toMatchObject({
      category: 'repository',
      message: expect.stringMatching(/10000 paths takes more than 2 s; use fewer or simpler patterns/),
    });
  },
);
