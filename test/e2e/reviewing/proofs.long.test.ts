import { until } from '../../../demo/real-service.ts';
import { gitAsync, gitOut } from '../../support/git.ts';
import { type Open, openReviewWorld } from './review-world.ts';

/** Proofs of people's pull requests, which run in the sandbox, in a service without a model. */
let world: Open;
beforeAll(async () => {
  world = await openReviewWorld(() => [], { settings: { SANDBOX: 'bwrap', OPENAI_API_KEY: '', OPENAI_MODEL: '' } });
  await world.push('main', {
    '.deckhand.yml': 'checks: node --test\nprove: { everyone: required, minutesPerDay: 90 }\n',
  });
});
afterAll(() => world?.close());

interface CheckRun {
  name: string;
  status: string;
  conclusion: string | null;
  output: { title: string; summary: string; annotations_count: number };
}
interface Listed {
  pullRequest: number;
  headSha: string;
  author: string | null;
  status: string;
  reason: string | null;
  seconds: number;
  at: string;
}

const repo = '/repos/mona/sample';
const proofs = () => world.get<Listed[]>(`/repositories/${world.repositoryId}/proofs`);
const checksOf = async (sha: string) => {
  const path = `${repo}/commits/${sha}/check-runs?per_page=100`;
  const { check_runs } = await world.github.as('mona')<{ check_runs: CheckRun[] }>('GET', path);
  return check_runs.filter(({ name }) => name === 'Deckhand proof');
};
const completed = (sha: string) =>
  until(`the proof of ${sha}`, async () => (await checksOf(sha)).findLast(({ status }) => status === 'completed'));
const headOf = (branch: string) => gitOut(world.github.folderOf('mona/sample'), 'rev-parse', branch);
const comment = (number: number, body: string) =>
  world.github.as('mona')('POST', `${repo}/issues/${number}/comments`, { body });

const slugify = (step: string) =>
  `export function slugify(title) {\n  return title\n    .normalize('NFKD')\n${step}    .toLowerCase()\n    .replace(/[^a-z0-9]+/g, '-')\n    .replace(/^-+|-+$/g, '');\n}\n`;
const accents = (expected: string) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugify } from '../src/slugify.js';

test('keeps the letters under accents', () => {
  assert.equal(slugify('Crème brûlée'), '${expected}');
});
`;
const marks = "    .replace(/[\\u0300-\\u036f]/g, '')\n";

test('a pull request opened by hand gets its proof, without a model', async () => {
  const number = await world.pull('accents', {
    'src/slugify.js': slugify(marks),
    'test/accents.test.js': accents('creme-brulee'),
  });
  const sha = headOf('accents');
  const check = await completed(sha);
  expect(check).toMatchObject({ conclusion: 'neutral' });
  expect(check.output.title).toBe('Its tests fail without it, and the earlier tests pass with it.');
  const [proof, ...others] = await proofs();
  expect(others).toEqual([]);
  expect(proof).toMatchObject({ pullRequest: number, headSha: sha, author: 'mona', status: 'proved', reason: null });
  expect(proof?.seconds).toBeGreaterThan(0);

  // A program may read any file, so even another document has everything run again. For the same files as before, nothing runs.
  const documented = await world.push('accents', { 'docs/use.md': 'What it does.\n' });
  expect((await completed(documented)).output.title).toBe(check.output.title);
  const second = await world.push('accents', { 'docs/use.md': undefined });
  expect((await completed(second)).output.title).toBe(check.output.title);
  const heads = [second, documented, sha].map((headSha) => ({ headSha, status: 'proved' }));
  expect(await proofs()).toMatchObject(heads);
  const runs = await world.sql<{ id: string }>(`select id from runs where kind = 'prove' order by created_at desc`, []);
  const log = await world.get<{ type: string; text: string }[]>(`/runs/${runs[0]?.id}/events`);
  expect(log.filter(({ type }) => type === 'check')).toEqual([]);
});

test('weakened tests fail the check run, with a note at the test', async () => {
  const before = gitOut(world.github.folderOf('mona/sample'), 'show', 'main:test/slugify.test.js');
  await world.pull('weaker', {
    'src/slugify.js': slugify('').replace('.toLowerCase()', '.toUpperCase()'),
    'test/slugify.test.js': before.replace(/assert\.\w+\(.*\);/g, 'assert.ok(true);'),
  });
  const check = await completed(headOf('weaker'));
  expect(check.conclusion).toBe('failure');
  expect(check.output.title).toMatch(/^Tests were weakened: /);
  expect(check.output.annotations_count).toBeGreaterThan(0);
});

test('a fork waits for somebody with write permission', async () => {
  const number = await world.pull('theirs', {
    'src/slugify.js': slugify("    .replaceAll('&', ' and ')\n"),
    'test/and.test.js': accents('creme-brulee').replace("'Crème brûlée'), 'creme-brulee'", "'a&b'), 'a-and-b'"),
  });
  // The emulator has no forks. The events of this one say so from now on.
  world.github.rare.forks.add(number);
  await world.push('theirs', { 'src/more.js': 'export const more = 1;\n' });
  const sha = headOf('theirs');
  await gitAsync(world.github.folderOf('mona/sample'), 'update-ref', `refs/pull/${number}/head`, sha);
  const waiting = await until('the check that waits', async () =>
    (await checksOf(sha)).find(({ conclusion }) => conclusion === 'action_required'),
  );
  expect(waiting.output.summary).toContain('`/agent prove`');
  // A command in the second of the push would count as one that has not seen it.
  await world.sql(`update pull_heads set since = since - interval '5 seconds' where number = $1`, [number]);
  await comment(number, '/agent prove');
  const check = await until('the proof of the fork', async () =>
    (await checksOf(sha)).find(({ conclusion }) => conclusion === 'neutral'),
  );
  expect(check.output.title).toBe('Its tests fail without it, and the earlier tests pass with it.');
});
