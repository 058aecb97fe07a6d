import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../demo/real-service.ts';
import { gitAsync } from '../../support/git.ts';
import { type Open, openReviewWorld } from '../reviewing/review-world.ts';

// A pull request that is harmless beside a commit below it, and not once its base branch has taken that in.

let world: Open;
const importing = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n";
const repo = '/repos/mona/sample';
const settings = 'checks: node --test\nprove: { everyone: required, minutesPerDay: 90 }\n';
beforeAll(async () => {
  world = await openReviewWorld(() => [], { settings: { SANDBOX: 'bwrap', OPENAI_API_KEY: '', OPENAI_MODEL: '' } });
  await world.push('main', { '.deckhand.yml': settings });
  await world.push('main', {
    'src/guard.js': "export const guard = () => 'on';\n",
    'test/guard.test.js': `${importing}import { guard } from '../src/guard.js';\ntest('guards', () => assert.equal(guard(), 'on'));\n`,
  });
});
afterAll(() => world?.close());

interface Pull {
  number: number;
  head: { sha: string };
}
const ask = <T = unknown>(method: string, path: string, body?: object) =>
  world.github.as('mona')<T>(method, path, body);
const open = (head: string) => ask<Pull>('POST', `${repo}/pulls`, { title: head, head, base: 'main', body: '' });
const change = ({ number }: Pull, state: 'open' | 'closed') => ask('PATCH', `${repo}/pulls/${number}`, { state });
const merge = ({ number }: Pull) => ask('PUT', `${repo}/pulls/${number}/merge`, { merge_method: 'merge' });

/** Waits until the latest check run of a pull request's proof says this. */
async function says({ head }: Pull, wanted: string): Promise<void> {
  const path = `${repo}/commits/${head.sha}/check-runs?per_page=100`;
  await until(`the proof to be ${wanted}`, async () => {
    const { check_runs: all } = await ask<{
      check_runs: { name: string; status: string; conclusion: string | null }[];
    }>('GET', path);
    const latest = all.findLast(({ name }) => name === 'Deckhand proof');
    return latest?.conclusion === wanted || latest?.status === wanted;
  });
}

const person = ['-c', 'user.name=w', '-c', 'user.email=w@example.com'];

async function inClone<T>(
  work: (git: (...args: string[]) => Promise<string>, clone: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'taken-'));
  const clone = join(folder, 'c');
  const url = world.github.url.replace('http://', 'http://x:person-mona@');
  await gitAsync(folder, 'clone', '-q', `${url}/mona/sample.git`, clone);
  const git = (...args: string[]) => gitAsync(clone, ...person, ...args);
  return work(git, clone).finally(() => rmSync(folder, { recursive: true, force: true }));
}

/**
 * Opens a pull request that adds a tested function, and one above it that breaks the function and removes its test. `waits` is
 * a line of a test of the upper one.
 */
async function stack(name: string, waits = '') {
  const tests = `${importing}import { mul } from '../src/${name}.js';\ntest('${name}', () => assert.equal(mul(2, 3), 6));\n`;
  await world.push(`lower-${name}`, {
    [`src/${name}.js`]: 'export const mul = (a, b) => a * b;\n',
    [`test/${name}.test.js`]: tests,
  });
  const lower = await open(`lower-${name}`);
  await says(lower, 'neutral');
  await inClone(async (git, clone) => {
    await git('checkout', '-q', '-b', `upper-${name}`, `origin/lower-${name}`);
    writeFileSync(join(clone, `src/${name}.js`), 'export const mul = () => 0;\n');
    rmSync(join(clone, `test/${name}.test.js`));
    writeFileSync(join(clone, `src/up-${name}.js`), 'export const up = (n) => n + 1;\n');
    const test = `${importing}import { up } from '../src/up-${name}.js';\ntest('up', async () => { ${waits} assert.equal(up(1), 2); });\n`;
    writeFileSync(join(clone, `test/up-${name}.test.js`), test);
    await git('add', '-A');
    await git('commit', '-q', '-m', 'upper');
    await git('push', '-q', 'origin', `upper-${name}`);
  });
  return { lower, upper: await open(`upper-${name}`) };
}

test('the commit below is merged while the pull request is being proved', async () => {
  const { lower, upper } = await stack('during', 'await new Promise((resolve) => setTimeout(resolve, 15_000));');
  await says(upper, 'in_progress');
  await merge(lower);
  await says(upper, 'failure');
});

test('the commit below is merged while the pull request is closed', async () => {
  const { lower, upper } = await stack('closed');
  await says(upper, 'neutral');
  await change(upper, 'closed');
  await merge(lower);
  await change(upper, 'open');
  await says(upper, 'failure');
});

test('the commit below is merged while the branch is at another head', async () => {
  const { lower, upper } = await stack('away');
  await says(upper, 'neutral');
  await inClone(async (git) => {
    const other = (await git('commit-tree', 'origin/main^{tree}', '-p', 'origin/main', '-m', 'empty')).trim();
    await git('push', '-q', '-f', 'origin', `${other}:refs/heads/upper-away`);
    await says({ ...upper, head: { sha: other } }, 'neutral');
    await merge(lower);
    await git('fetch', '-q', 'origin', upper.head.sha);
    await git('push', '-q', '-f', 'origin', `${upper.head.sha}:refs/heads/upper-away`);
  });
  await says(upper, 'failure');
});

test('a commit that removes a test is taken out of the base branch, and belongs to the pull request then', async () => {
  const before = await inClone(async (git) => (await git('rev-parse', 'origin/main')).trim());
  await inClone(async (git, clone) => {
    await git('rm', '-q', 'test/guard.test.js');
    writeFileSync(join(clone, 'src/guard.js'), "export const guard = () => 'off';\n");
    await git('commit', '-q', '-a', '-m', 'no test');
    await git('push', '-q', 'origin', 'HEAD:main');
    await git('checkout', '-q', '-b', 'above');
    writeFileSync(join(clone, 'src/more.js'), 'export const more = 1;\n');
    await git('add', '-A');
    await git('commit', '-q', '-m', 'above');
    await git('push', '-q', 'origin', 'above');
  });
  const above = await open('above');
  await says(above, 'neutral');
  await inClone((git) => git('push', '-q', '-f', 'origin', `${before}:refs/heads/main`));
  await says(above, 'failure');
});

test('the commit below is merged while the settings cannot be used', async () => {
  const { lower, upper } = await stack('broken');
  await says(upper, 'neutral');
  await world.push('main', { '.deckhand.yml': 'checks: [\n' });
  await merge(lower);
  await says(upper, 'action_required');
  await world.push('main', { '.deckhand.yml': settings });
  await says(upper, 'failure');
});

test('settings become stricter while the pull request is closed', async () => {
  await world.push('lax', {
    'src/lax.js': 'export const lax = 1;\n',
    'test/lax.test.js': `${importing}import { lax } from '../src/lax.js';\ntest('lax', () => assert.equal(lax, 1));\n`,
  });
  const lax = await open('lax');
  await says(lax, 'neutral');
  await change(lax, 'closed');
  const stricter = 'checks: [node --test, "test ! -e src/lax.js"]\nprove: { everyone: required, minutesPerDay: 90 }\n';
  await world.push('main', { '.deckhand.yml': stricter });
  await change(lax, 'open');
  await says(lax, 'action_required');
});
