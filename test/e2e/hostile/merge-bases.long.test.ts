import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../demo/real-service.ts';
import { gitAsync, gitOut } from '../../support/git.ts';
import { type Open, openReviewWorld } from '../reviewing/review-world.ts';

let world: Open;
/** The base branch without and with a program and its test. */
let [before, guarded] = ['', ''];
const settings = 'checks: node --test\nprove: { everyone: required, minutesPerDay: 90 }\n';
const importing = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n";
beforeAll(async () => {
  world = await openReviewWorld(() => [], { settings: { SANDBOX: 'bwrap', OPENAI_API_KEY: '', OPENAI_MODEL: '' } });
  before = await world.push('main', { '.deckhand.yml': settings });
  guarded = await world.push('main', {
    'src/guard.js': "export const guard = () => 'on';\n",
    'test/guard.test.js': `${importing}import { guard } from '../src/guard.js';\ntest('guards', () => assert.equal(guard(), 'on'));\n`,
  });
});
afterAll(() => world?.close());

const repo = '/repos/mona/sample';
interface CheckRun {
  name: string;
  status: string;
  conclusion: string | null;
  output: { title: string };
}

async function checkOf(sha: string): Promise<CheckRun> {
  const path = `${repo}/commits/${sha}/check-runs?per_page=100`;
  return until(`the proof of ${sha}`, async () => {
    const { check_runs: all } = await world.github.as('mona')<{ check_runs: CheckRun[] }>('GET', path);
    return all.findLast(({ name, status }) => name === 'Deckhand proof' && status === 'completed');
  });
}

/** Commits a tree in a clone and returns the id. */
async function commitIn(clone: string, tree: string, ...parents: string[]): Promise<string> {
  const args = parents.flatMap((each) => ['-p', each]);
  return (await gitAsync(clone, 'commit-tree', tree, ...args, '-m', 'change')).trim();
}

async function inClone<T>(work: (clone: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'merge-bases-'));
  const clone = join(folder, 'c');
  const url = world.github.url.replace('http://', 'http://x:person-mona@');
  await gitAsync(folder, 'clone', '-q', `${url}/mona/sample.git`, clone);
  return work(clone).finally(() => rmSync(folder, { recursive: true, force: true }));
}

/** Opens a pull request that adds a tested function to the files of before, and returns its check. */
async function pullWith(branch: string, parents: (clone: string) => Promise<string[]>): Promise<CheckRun> {
  await inClone(async (clone) => {
    await gitAsync(clone, 'checkout', '-q', '-b', branch, before);
    writeFileSync(join(clone, `src/${branch}.js`), 'export const twice = (n) => 2 * n;\n');
    const tests = `import { twice } from '../src/${branch}.js';\ntest('twice', () => assert.equal(twice(2), 4));\n`;
    writeFileSync(join(clone, `test/${branch}.test.js`), `${importing}${tests}`);
    await gitAsync(clone, 'add', '-A');
    const tree = (await gitAsync(clone, 'write-tree')).trim();
    const commit = await commitIn(clone, tree, ...(await parents(clone)));
    await gitAsync(clone, 'push', '-q', 'origin', `${commit}:refs/heads/${branch}`);
  });
  await world.github.as('mona')('POST', `${repo}/pulls`, { title: branch, head: branch, base: 'main', body: '' });
  return checkOf(gitOut(world.github.folderOf('mona/sample'), 'rev-parse', branch));
}

test('a pull request that took in the base branch and removes a test of it is seen as what it is', async () => {
  expect(await pullWith('direct', async () => [before, guarded])).toMatchObject({ conclusion: 'failure' });
  // The way to the commit of the base is longer than the history that is fetched first.
  const long = await pullWith('long', async (clone) => {
    const tree = (await gitAsync(clone, 'rev-parse', `${guarded}^{tree}`)).trim();
    let last = guarded;
    for (let i = 0; i < 150; i++) last = await commitIn(clone, tree, last);
    return [before, last];
  });
  expect(long).toMatchObject({ conclusion: 'failure', output: { title: expect.stringContaining('weakened') } });
});

test('nothing is said of a change whose common ancestors disagree', async () => {
  const other = await inClone(async (clone) => {
    const treeOf = async (commit: string) => (await gitAsync(clone, 'rev-parse', `${commit}^{tree}`)).trim();
    const small = await commitIn(clone, await treeOf(before), before);
    const merged = await commitIn(clone, await treeOf('origin/main'), guarded, small);
    await gitAsync(clone, 'push', '-q', 'origin', `${merged}:refs/heads/main`);
    return small;
  });
  const check = await pullWith('crossed', async () => [other, guarded]);
  expect(check).toMatchObject({
    conclusion: 'action_required',
    output: { title: expect.stringContaining('crosswise') },
  });
});

test('a pull request is judged again when its base branch takes in a commit below it', async () => {
  const mona = world.github.as('mona');
  const program = 'export const mul = (a, b) => a * b;\n';
  const tests = `${importing}import { mul } from '../src/mul.js';\ntest('mul', () => assert.equal(mul(2, 3), 6));\n`;
  const open = (head: string) =>
    mona<{ number: number; head: { sha: string } }>('POST', `${repo}/pulls`, {
      title: head,
      head,
      base: 'main',
      body: '',
    });
  await world.push('lower', { 'src/mul.js': program, 'test/mul.test.js': tests });
  const lower = await open('lower');
  expect(await checkOf(lower.head.sha)).toMatchObject({ conclusion: 'neutral' });
  await inClone(async (clone) => {
    await gitAsync(clone, 'checkout', '-q', '-b', 'upper', 'origin/lower');
    writeFileSync(join(clone, 'src/mul.js'), 'export const mul = () => 0;\n');
    rmSync(join(clone, 'test/mul.test.js'));
    await gitAsync(clone, 'add', '-A');
    await gitAsync(clone, '-c', 'user.name=w', '-c', 'user.email=w@example.com', 'commit', '-q', '-m', 'upper');
    await gitAsync(clone, 'push', '-q', 'origin', 'upper');
  });
  const upper = await open('upper');
  // Compared with the base branch, no test is touched.
  expect(await checkOf(upper.head.sha)).toMatchObject({ conclusion: 'neutral' });
  await mona('PUT', `${repo}/pulls/${lower.number}/merge`, { merge_method: 'merge' });
  await until('the new verdict', async () => (await checkOf(upper.head.sha)).conclusion === 'failure');
});
