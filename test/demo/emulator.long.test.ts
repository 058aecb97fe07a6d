import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAppAuth } from '@octokit/auth-app';
import { request } from '@octokit/request';
import { installationId } from '../../demo/github/emulator-seed.ts';
import { type DemoGitHub, startGitHub } from '../../demo/github/github.ts';
import { until } from '../../demo/real-service.ts';
import { gitAsync } from '../support/git.ts';

// What the emulator's front does as GitHub does. test/truth compares the rest with GitHub's description.

let github: DemoGitHub;
let clone: string;
beforeAll(async () => {
  github = await startGitHub({ owner: 'mona', repository: 'sample', people: ['mona', 'bob'], more: ['other'] });
  clone = mkdtempSync(join(tmpdir(), 'deckhand-clone-'));
  const address = `${github.url.replace('http://', 'http://x:person-mona@')}/mona/sample.git`;
  await gitAsync(clone, 'clone', '-q', address, '.');
});
afterAll(async () => {
  rmSync(clone, { recursive: true });
  await github.close();
});
const repo = '/repos/mona/sample';
const mona = <T>(method: string, path: string, body?: object) => github.as('mona')<T>(method, `${repo}${path}`, body);

/** Pushes a new commit to a branch. Returns the commit. */
async function push(branch: string, file: string): Promise<string> {
  writeFileSync(join(clone, file), `${file}\n`);
  await gitAsync(clone, 'add', '-A');
  await gitAsync(clone, 'commit', '-q', '-m', file);
  await gitAsync(clone, 'push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
  return gitAsync(clone, 'rev-parse', 'HEAD');
}

interface Sent {
  action?: string;
  number?: number;
  before: string;
  after: string;
  ref?: string;
  pusher?: { name: string };
  sender: { login: string };
  pull_request: { number: number; head: { sha: string } };
}
const events = (event: string, action?: string) =>
  github.deliveries
    .filter((each) => each.event === event)
    .map(({ body }) => JSON.parse(body) as Sent)
    .filter((each) => each.action === action);

let opened = 0;
/** Opens a pull request of a new branch. */
async function propose() {
  const branch = `branch-${++opened}`;
  const before = await push(branch, `${branch}.txt`);
  const { number } = await mona<{ number: number }>('POST', '/pulls', { title: 't', head: branch, base: 'main' });
  return { branch, before, number };
}

test('a push tells of the pull requests of its own branch only, with its head before and after', async () => {
  const [first, second] = [await propose(), await propose()];
  const after = await push(first.branch, 'again.txt');
  await push('main', 'base.txt');
  const told = events('pull_request', 'synchronize');
  expect(told).toEqual([expect.objectContaining({ number: first.number, before: first.before, after })]);
  expect(told[0]).toMatchObject({
    pull_request: { number: first.number, head: { sha: after } },
    sender: { login: 'mona' },
  });
  const pushed = await until('the push to main', async () =>
    events('push').find(({ ref }) => ref === 'refs/heads/main'),
  );
  expect(pushed).toMatchObject({ forced: false, pusher: { name: 'mona' } });
  expect(second.number).not.toBe(first.number);
});

test.each([
  ['head', { head: 'missing', base: 'main' }],
  ['head', { head: 'mona:missing', base: 'main' }],
  ['base', { head: 'main', base: 'missing' }],
])('a pull request whose %s does not exist is refused: %p', async (field, branches) => {
  await expect(mona('POST', '/pulls', { title: 't', ...branches })).rejects.toThrow(
    `"resource":"PullRequest","field":"${field}","code":"invalid"`,
  );
});

test('a merge by a method that is not allowed is refused with 405', async () => {
  const { number } = await propose();
  await github.as('mona')('PATCH', repo, { allow_squash_merge: false });
  const merge = (merge_method: string) => mona('PUT', `/pulls/${number}/merge`, { merge_method });
  await expect(merge('squash')).rejects.toThrow('GitHub answered 405');
  await merge('merge');
  await expect(merge('merge')).rejects.toThrow('GitHub answered 405');
});

test('another base branch is an event with the one before', async () => {
  const { number } = await propose();
  await push('another', 'another.txt');
  await mona('PATCH', `/pulls/${number}`, { base: 'another' });
  const told = await until('the event', async () =>
    events('pull_request', 'edited').find((each) => each.number === number),
  );
  expect(told).toMatchObject({
    changes: { base: { ref: { from: 'main' }, sha: { from: expect.stringMatching(/^[0-9a-f]{40}$/) } } },
    pull_request: { number, base: { ref: 'another' } },
    sender: { login: 'mona' },
  });
});

test('the comments on lines of all pull requests are listed', async () => {
  const { branch, number } = await propose();
  const at = { commit_id: await gitAsync(clone, 'rev-parse', 'HEAD'), path: `${branch}.txt`, line: 1, side: 'RIGHT' };
  const { id } = await mona<{ id: number }>('POST', `/pulls/${number}/comments`, { body: 'Why?', ...at });
  const headers = { Authorization: 'token person-mona' };
  const listed = await fetch(`${github.url}${repo}/pulls/comments?sort=created&direction=asc`, { headers });
  expect(await listed.json()).toMatchObject([{ id, body: 'Why?' }]);
});

test('comments are listed by when they were edited', async () => {
  const { number } = await mona<{ number: number }>('POST', '/issues', { title: 't' });
  const { id } = await mona<{ id: number }>('POST', `/issues/${number}/comments`, { body: 'a' });
  const edited = await mona<{ updated_at: string }>('PATCH', `/issues/comments/${id}`, { body: 'b' });
  const listed = async (since: string) => {
    const headers = { Authorization: 'token person-mona' };
    return (await fetch(`${github.url}${repo}/issues/comments?since=${since}`, { headers })).json();
  };
  expect(await listed(edited.updated_at)).toMatchObject([{ id }]);
  expect(await listed('2999-01-01T00:00:00Z')).toEqual([]);
});

test('a transferred issue redirects with its labels; what else it had is not found', async () => {
  const { number } = await mona<{ number: number }>('POST', '/issues', { title: 't' });
  const old = `${repo}/issues/${number}`;
  const now = await github.transfer(number, 'mona/other');
  const answer = async (method: string, rest = '', body?: object) => {
    const headers = { Authorization: 'token person-mona', 'Content-Type': 'application/json' };
    const init = { method, headers, redirect: 'manual', ...(body && { body: JSON.stringify(body) }) } as const;
    const { status, headers: given } = await fetch(`${github.url}${old}${rest}`, init);
    return [status, given.get('location')];
  };
  const moved = (rest = '') => [301, `${github.url}${now}${rest}`];
  expect(await answer('GET')).toEqual(moved());
  expect(await answer('PATCH', '', { title: 'u' })).toEqual(moved());
  expect(await answer('GET', '/labels?per_page=100')).toEqual(moved('/labels?per_page=100'));
  expect(await answer('DELETE', '/labels/bug')).toEqual(moved('/labels/bug'));
  const nothing = [404, null];
  expect(await answer('GET', '/comments')).toEqual(nothing);
  expect(await answer('POST', '/comments', { body: 'a' })).toEqual(nothing);
  expect(await answer('GET', '/events')).toEqual(nothing);
  expect(await answer('POST', '/reactions', { content: '+1' })).toEqual(nothing);
});

/** Asks the front itself, as the service does; `as()` asks the emulator behind it. */
async function asked(token: string, method: string, path: string, body?: object) {
  const headers = { authorization: `token ${token}` };
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${github.url}${path}`, { method, headers, ...given });
  return { status: response.status, json: (await response.json()) as { sha: string; number: number } };
}

test('people without a role may read a public repository, and not a private one', async () => {
  const outsider = () => asked('person-mona', 'GET', `${repo}/collaborators/bob/permission`);
  expect(await outsider()).toMatchObject({
    status: 200,
    json: { permission: 'read', role_name: 'read', user: { login: 'bob' } },
  });
  await mona('PATCH', '', { private: true });
  expect(await outsider()).toMatchObject({
    status: 200,
    json: { permission: 'none', role_name: '', user: { login: 'bob' } },
  });
  await mona('PATCH', '', { private: false });
  expect(await asked('person-mona', 'GET', `${repo}/collaborators/nobody-at-all/permission`)).toMatchObject({
    status: 404,
  });
});

test('a collaborator with push permission has the permission write, and may review', async () => {
  const { number } = await propose();
  const ask = () => asked('person-mona', 'POST', `${repo}/pulls/${number}/requested_reviewers`, { reviewers: ['bob'] });
  expect(await ask()).toMatchObject({ status: 422 });
  await mona('PUT', '/collaborators/bob', { permission: 'push' });
  expect(await mona('GET', '/collaborators/bob/permission')).toMatchObject({ permission: 'write', role_name: 'write' });
  expect(await ask()).toMatchObject({ status: 201, json: { requested_reviewers: [{ login: 'bob' }] } });
});

/** Returns a token of the App. */
async function tokenOfApp(): Promise<string> {
  const { appId, privateKey, url: baseUrl } = github;
  const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': '2026-03-10' };
  const auth = createAppAuth({ appId, privateKey, request: request.defaults({ baseUrl, headers }) });
  return (await auth({ type: 'installation', installationId })).token;
}

test('a commit that GitHub made for an App is signed, now and later', async () => {
  const token = await tokenOfApp();
  const tree = await gitAsync(clone, 'rev-parse', 'origin/main^{tree}');
  const made = await asked(token, 'POST', `${repo}/git/commits`, { message: 'm', tree, parents: [] });
  expect(made.json).toMatchObject({ verification: { verified: true } });
  const read = await asked('person-mona', 'GET', `${repo}/git/commits/${made.json.sha}`);
  expect(read.json).toMatchObject({ verification: { verified: true } });
});

test('what an App opens is by an account of the type Bot', async () => {
  const branch = `branch-${++opened}`;
  await push(branch, `${branch}.txt`);
  const body = { title: 't', head: branch, base: 'main' };
  const { json: pull } = await asked(await tokenOfApp(), 'POST', `${repo}/pulls`, body);
  expect(pull).toMatchObject({ user: { login: 'deckhand[bot]', type: 'Bot' } });
  expect(await mona('GET', `/pulls/${pull.number}`)).toMatchObject({ user: { type: 'Bot' } });
});

test('the merge queue merges by a method that the repository allows', async () => {
  const { number } = await propose();
  await github.as('mona')('PATCH', repo, { allow_merge_commit: false, allow_squash_merge: true });
  const { node_id: id } = await mona<{ node_id: string }>('GET', `/pulls/${number}`);
  github.rare.requires = 'queue';
  await asked('person-mona', 'POST', '/graphql', { query: 'mutation { enqueuePullRequest }', variables: { id } });
  await github.merges.settle();
  github.rare.requires = undefined;
  expect(await mona('GET', `/pulls/${number}`)).toMatchObject({ merged: true });
});

test('a label without a description has an empty one where pull requests are listed', async () => {
  const { number } = await propose();
  await mona('POST', '/labels', { name: 'plain', color: 'ededed' });
  await mona('POST', `/issues/${number}/labels`, { labels: ['plain'] });
  const listed = await mona<{ number: number; labels: object[] }[]>('GET', '/pulls');
  expect(listed.find((pull) => pull.number === number)?.labels).toMatchObject([{ name: 'plain', description: '' }]);
});

describe('its pages for browsers', () => {
  const page = async (path: string) => {
    const answer = await fetch(`${github.url}${path}`, { headers: { accept: 'text/html' } });
    return { status: answer.status, text: await answer.text() };
  };
  const submit = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams({ as: 'bob', ...fields });
    const answer = await fetch(`${github.url}/mona/sample${path}`, {
      method: 'POST',
      body,
      headers,
      redirect: 'manual',
    });
    return { status: answer.status, location: answer.headers.get('location') };
  };

  test('show an issue with its comments, escape what was written, and take a comment', async () => {
    const made = await submit('/issues', { title: 'A <b>bold</b> title', body: '**loud** <script>alert(1)</script>' });
    const { location = '' } = made;
    expect([made.status, location]).toEqual([303, expect.stringMatching(/^\/mona\/sample\/issues\/\d+$/)]);
    const path = location?.replace('/mona/sample', '') ?? '';
    expect((await submit(`${path}/comments`, { body: '/agent start' })).status).toBe(303);
    const { text } = await page(location ?? '');
    for (const shown of ['A &lt;b&gt;bold&lt;/b&gt; title', '<strong>loud</strong>', '<strong>bob</strong> commented'])
      expect(text).toContain(shown);
    expect(text).not.toContain('<script>alert');
    expect((await page('/mona/sample')).text).toContain(`href="${location}"`);
    expect(events('issue_comment', 'created').at(-1)?.sender.login).toBe('bob');
  });

  test('show a pull request with its diff, and take a review with a comment on a line', async () => {
    const { branch, number } = await propose();
    const fields = { event: 'REQUEST_CHANGES', path: `${branch}.txt`, line: '1', comment: 'Say more here.' };
    expect((await submit(`/pull/${number}/reviews`, fields)).status).toBe(303);
    const { text } = await page(`/mona/sample/pull/${number}`);
    for (const shown of [`<strong>${branch}.txt</strong>`, `+${branch}.txt`, 'requested changes', 'Say more here.'])
      expect(text).toContain(shown);
    expect((await page(`/mona/sample/pull/${number}?path=${branch}.txt&line=1`)).text).toContain(
      `Comment on line 1 of ${branch}.txt`,
    );
    // Who lacks write permission gets no answer, so every form offers the owner first.
    const offered = [...text.matchAll(/<select name="as">(.*?)<\/select>/g)].map(([, options]) => options);
    const all = '<option value="mona">mona</option><option value="bob">bob (no write permission)</option>';
    expect([...new Set(offered)]).toEqual([all]);
    expect(await mona('GET', `/pulls/${number}/comments`)).toMatchObject([{ line: 1, user: { login: 'bob' } }]);
    expect((await submit(`/pull/${number}/merge`, { as: 'mona' })).status).toBe(303);
    const merged = await page(`/mona/sample/pull/${number}`);
    for (const shown of ['state merged', `+${branch}.txt`]) expect(merged.text).toContain(shown);
  });

  test('are not found for what does not exist, and refuse forms of other sites and strangers', async () => {
    expect((await page('/mona/sample/issues/9999')).status).toBe(404);
    expect((await submit('/issues', { title: 'x' }, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(404);
    expect((await submit('/issues', { title: 'x', as: 'eve' })).status).toBe(422);
  });
});
