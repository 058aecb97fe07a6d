import { gitAsync, gitOut } from '../../support/git.ts';
import { tokenBySignIn } from '../../support/world.ts';
import { type Open, openReviewWorld } from './review-world.ts';

/** Reviews whose checks really run, in the sandbox. Each test says what the reviewer says. */
let world: Open;
let comments: object[] = [];
beforeAll(async () => {
  world = await openReviewWorld(() => [{ name: 'review', arguments: { summary: 'Read it.', comments } }], {
    settings: { SANDBOX: 'bwrap' },
  });
});
afterAll(() => world?.close());

const remark = (path: string, line: number, text: string, suggestion: string) => ({
  path,
  line,
  severity: 'major',
  text,
  suggestion,
});
const code = (...steps: string[]) =>
  [
    'export function slugify(title) {',
    '  return title',
    ...["'NFKD'"].map((form) => `    .normalize(${form})`),
    ...steps,
    '    .toLowerCase()',
    "    .replace(/[^a-z0-9]+/g, '-')",
    "    .replace(/^-+|-+$/g, '');",
    '}',
    '',
  ].join('\n');
const accents = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugify } from '../src/slugify.js';

test('keeps the letters under accents', () => {
  assert.equal(slugify('Crème brûlée'), 'creme-brulee');
});
`;
const lineAt = async (number: number, line: number) =>
  (await world.lineComments(number)).find((each) => each.line === line)?.body;
const log = async (runId: string) =>
  (await world.get<{ type: string; text: string }[]>(`/runs/${runId}/events`)).map(
    ({ type, text }) => `${type}: ${text}`,
  );

test('the summary says what the tests prove, and only suggestions that pass the checks are posted', async () => {
  await world.push('main', { '.deckhand.yml': 'checks: node --test\n' });
  const number = await world.pull('accents', {
    'src/slugify.js': code("    .replace(/[\\u0300-\\u036f]/g, '')"),
    'test/accents.test.js': accents,
  });
  comments = [
    remark('src/slugify.js', 3, 'This form is shorter.', "    .normalize('NFC')"),
    remark('src/slugify.js', 4, 'Name the marks.', "    .replace(/\\p{M}/gu, '')"),
  ];
  await world.ended((await world.review(number)).id, 'succeeded');
  const [summary] = await world.summaries(number);
  expect(summary?.body).toMatch(/- ✅ `node --test` \(\d+ s\)/);
  expect(summary?.body).toContain('✅ Its tests fail without it, and the earlier tests pass with it.');
  const breaking = await lineAt(number, 3);
  expect(breaking).toContain('This form is shorter.');
  expect(breaking).not.toContain('```suggestion');
  expect(await lineAt(number, 4)).toContain("```suggestion\n    .replace(/\\p{M}/gu, '')\n```");
  expect(JSON.stringify(world.model.requests.at(-1))).toContain('node --test: passed');
});

test('when the checks fail already, the summary says so, and nothing is suggested', async () => {
  const number = await world.pull('broken', { 'src/slugify.js': code(), 'test/accents.test.js': accents });
  comments = [remark('src/slugify.js', 3, 'Remove the marks, too.', "    .normalize('NFKD').replace(/\\p{M}/gu, '')")];
  await world.ended((await world.review(number)).id, 'succeeded');
  const [summary] = await world.summaries(number);
  expect(summary?.body).toContain('- ❌ `node --test`');
  expect(summary?.body).toContain('The proof by tests did not run: the check "node --test" fails.');
  expect(await lineAt(number, 3)).toMatch(/Remove the marks, too\.$/);
  // The reviewer sees why.
  expect(JSON.stringify(world.model.requests.at(-1))).toContain('creme-brulee');
});

test('checks and set-up of a fork run only for somebody with write permission, and get no secret', async () => {
  const canary = 'canary-of-the-set-up';
  const { api, url } = { api: world.service.api, url: world.service.url };
  await api(world.token, 'PUT', `/projects/${world.project.id}/environment-secrets/DEPLOY_KEY`, {
    value: canary,
    repositories: [world.repositoryId],
  });
  await world.push('main', {
    '.deckhand.yml': JSON.stringify({
      setup: 'sh tools/setup.sh',
      cache: ['tools/setup.sh'],
      secrets: 'DEPLOY_KEY',
      checks: 'node --test',
    }),
    'tools/setup.sh': 'test -n "$DEPLOY_KEY" && touch of-base\n',
    // What set-up makes is kept for checks where git ignores it.
    '.gitignore': 'seen\n',
  });
  // The set-up of the fork keeps what it sees, and its test looks for a secret there and in its own environment.
  const number = await world.pull('theirs', {
    'tools/setup.sh':
      'env > seen; touch of-fork; for p in /proc/[0-9]*; do cat $p/environ >> seen 2>/dev/null; done; true\n',
    'test/theirs.test.js': `import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';

test('finds no secret and no network', async () => {
  const config = existsSync('.git/config') ? readFileSync('.git/config', 'utf8') : '';
  const seen = readFileSync('seen', 'utf8') + JSON.stringify(process.env) + config;
  assert.doesNotMatch(seen, /DEPLOY_KEY|canary-of-the-[s]et-up|ghs_|person-mona/);
  await assert.rejects(new Promise((ok, no) => connect(${new URL(world.github.url).port}, '127.0.0.1').on('connect', ok).on('error', no)));
});
`,
  });
  const bare = world.github.folderOf('mona/sample');
  await gitAsync(bare, 'update-ref', `refs/pull/${number}/head`, gitOut(bare, 'rev-parse', 'theirs'));
  world.github.rare.forks.add(number);
  comments = [remark('tools/setup.sh', 1, 'Why?', 'true')];

  await tokenBySignIn(world.service, world.github, 'stranger');
  await api(world.token, 'POST', `/projects/${world.project.id}/members`, { login: 'stranger', role: 'member' });
  const stranger = await tokenBySignIn({ ...world.service, url }, world.github, 'stranger');
  const first = await world.review(number, stranger);
  await world.ended(first.id, 'succeeded');
  const lines = await log(first.id);
  expect(lines.filter((line) => /^check: |the change alters files/.test(line))).toEqual([]);
  const [before] = await world.summaries(number);
  expect(before?.body).toContain('nobody with write permission has asked for this review');
  expect(await lineAt(number, 1)).not.toContain('```suggestion');

  await world.push('theirs', { 'README.md': 'More of theirs.\n' });
  await gitAsync(bare, 'update-ref', `refs/pull/${number}/head`, gitOut(bare, 'rev-parse', 'theirs'));
  const second = await world.review(number);
  await world.ended(second.id, 'succeeded');
  expect(await log(second.id)).toContain(
    'setup: the change alters files that decide about set-up, so set-up runs again for the checks',
  );
  const [after] = await world.summaries(number);
  expect(after?.body).toMatch(/- ✅ `node --test` \(\d+ s\)/);
  expect(JSON.stringify(world.model.requests)).not.toContain(canary);
});
