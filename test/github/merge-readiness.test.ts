import { latestReviews } from '../../src/github/follow/look-at-pull.ts';
import { rememberFor } from '../../src/github/follow/merging/merge-readiness.ts';
import { setUnreadySha } from '../../src/tasks/work-store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { appSettings } from '../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../support/stand-ins/fake-github.ts';

let github: FakeGitHub;
let service: TestApp;
let token: string;
let projectId: string;
let repository: string;
let owner: string;
/** What GitHub lists at the end of a path instead of `answers`. */
let listed: Record<string, object[]> = {};
/** Statuses with which requests are refused, by the end of their paths. */
let refusals: Record<string, number> = {};
let asked: string[] = [];
/** What GraphQL answers, and what further paths do. */
let graphql: object | undefined;
/** What GraphQL answers before that, page by page. */
let graphqlPages: object[] = [];
let extra: Record<string, unknown> = {};

const run = (name: string, status: string, conclusion: string | null, more = {}) => ({
  name,
  status,
  conclusion,
  external_id: '',
  html_url: `https://ci.example/${name}`,
  ...more,
});
const answers: Record<string, unknown> = {
  '/repos/o/r': { id: 1, private: false, allow_squash_merge: false },
  '/pulls/7': { mergeable: true, mergeable_state: 'clean', base: { ref: 'main' } },
  '/check-runs': {
    check_runs: [
      run('build', 'completed', 'success'),
      run('lint', 'in_progress', null, { html_url: 'javascript:alert(1)' }),
      run('optional', 'completed', 'neutral'),
      run('test', 'completed', 'timed_out'),
      run('deckhand', 'in_progress', null, { external_id: 'task_1' }),
    ],
  },
  '/status': { total_count: 1, statuses: [{ context: 'old-ci', state: 'error', target_url: null }] },
  '/reviews': [
    { user: { login: 'ada' }, state: 'CHANGES_REQUESTED' },
    { user: { login: 'ada' }, state: 'APPROVED' },
    { user: { login: 'bob' }, state: 'CHANGES_REQUESTED' },
  ],
};

/** Returns an answer, or the requested page of what is listed. */
function answerOf(end: string, query: string): unknown {
  const items = listed[end];
  if (items === undefined) return answers[end];
  const asked = new URLSearchParams(query);
  const [size, page] = [Number(asked.get('per_page')), Number(asked.get('page') ?? 1)];
  const shown = items.slice((page - 1) * size, page * size);
  if (end === '/reviews') return shown;
  return { total_count: items.length, [end === '/status' ? 'statuses' : 'check_runs']: shown };
}

beforeAll(async () => {
  github = await openFakeGitHub(
    [
      [/^GET \/app\/installations/, () => []],
      [/^GET \/users\/ada$/, () => ({ id: 1, login: 'ada', type: 'User', avatar_url: '' })],
      [/^POST \/graphql$/, () => ({ data: graphqlPages.shift() ?? graphql ?? {} })],
      [
        /^GET ([^?]+)(.*)/,
        ([, path = '', query = ''], res) => {
          const more = Object.keys(extra).find((each) => path.endsWith(each));
          const found = more === undefined ? undefined : extra[more];
          if (typeof found === 'function') return found(new URLSearchParams(query).get('page'));
          if (found !== undefined) return found;
          const end = Object.keys(answers).find((each) => path.endsWith(each));
          const status = end === undefined ? undefined : refusals[end];
          if (status === undefined) return end === undefined ? undefined : answerOf(end, query);
          res.statusCode = status;
          return { message: 'refused' };
        },
      ],
    ],
    (req) => asked.push(req.url ?? ''),
  );
  service = await openTestApp(appSettings(github.url));
  token = await service.token('ada');
  projectId = (await post('/projects', { name: 'P' })).id;
  await post(`/projects/${projectId}/git-token`, { token: 'ghp_x' });
  repository = (await post('/repositories', { projectId, name: 'r', url: `${github.url}/o/r` })).id;
  owner = (await service.call('GET', `/agents?projectId=${projectId}`, { token })).body[0].id;
});
afterAll(async () => {
  await service.close();
  github.close();
});
beforeEach(() => {
  [refusals, listed, extra, graphql, graphqlPages] = [{}, {}, {}, undefined, []];
});

const post = async (path: string, body: object) => (await service.call('POST', path, { token, body })).body;
const sql = (text: string, values: unknown[]) => service.app.db.manager.query(text, values);
const newTask = async (more: object = {}): Promise<string> =>
  (await post(`/projects/${projectId}/tasks`, { title: 'T', ...more })).id;

/** Creates a task in review with a pull request, whose head is a new commit. */
let heads = 0;
async function inReview(): Promise<string> {
  const id = await newTask();
  await sql(`update tasks set status = 'in_review' where id = $1`, [id]);
  await sql(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 7, $3, 'open', 'agent/x', $4)
     on conflict (repository_id, number) do update set task_id = excluded.task_id, head_sha = excluded.head_sha`,
    [id, repository, `${github.url}/o/r/pull/7`, `sha${heads++}`],
  );
  asked = [];
  return id;
}
const readiness = async (id: string) => (await service.call('GET', `/tasks/${id}/merge-readiness`, { token })).body;

const required = (name: string, isRequired: boolean) => ({ name, isRequired });

test('merge readiness has the checks, reviews, mergeability and method of each pull request, and the problems', async () => {
  const id = await inReview();
  const nodes = [required('build', true), required('test', true), required('lint', false)];
  const commit = { statusCheckRollup: { contexts: { nodes } } };
  graphql = { repository: { pullRequest: { reviewDecision: 'REVIEW_REQUIRED', commits: { nodes: [{ commit }] } } } };
  const content = Buffer.from('* @bob\n/docs/ @acme/docs\n').toString('base64');
  extra = {
    '/contents/CODEOWNERS': { type: 'file', encoding: 'base64', size: 20, content },
    '/rules/branches/main': [
      { type: 'required_status_checks', parameters: { required_status_checks: [{ context: 'slow' }] } },
      { type: 'pull_request', parameters: { require_code_owner_review: true } },
    ],
    '/orgs/acme/teams/docs/memberships/ada': { url: 'https://github.example/x', role: 'member', state: 'active' },
    '/pulls/7/files': [{ filename: 'src/a.ts' }, { filename: 'docs/b.md' }],
  };
  expect(await readiness(id)).toEqual({
    pullRequests: [
      {
        repositoryName: 'r',
        prUrl: `${github.url}/o/r/pull/7`,
        prNumber: 7,
        status: 'open',
        headSha: expect.stringMatching(/^sha\d+$/),
        method: 'merge',
        baseBranch: 'main',
        mergeable: true,
        checks: [
          { name: 'build', outcome: 'passed', url: 'https://ci.example/build', required: true },
          { name: 'lint', outcome: 'running', url: null, required: false },
          { name: 'optional', outcome: 'skipped', url: 'https://ci.example/optional', required: false },
          { name: 'test', outcome: 'failed', url: 'https://ci.example/test', required: true },
          { name: 'old-ci', outcome: 'failed', url: null, required: false },
          { name: 'slow', outcome: 'running', url: null, required: true },
        ],
        reviews: [
          { login: 'ada', state: 'approved' },
          { login: 'bob', state: 'changes_requested' },
        ],
        review: 'required',
        missingOwners: [{ owners: ['@bob'], paths: ['src/a.ts'], count: 1 }],
        error: null,
      },
    ],
    runChecks: [],
    dependents: [],
    problems: [
      { text: 'A review of r #7 that its base branch requires is missing.', blocks: false },
      { text: 'A required review of r #7 by a code owner is missing: @bob for src/a.ts.', blocks: false },
      { text: '2 checks of r #7 failed: test (required), old-ci.', blocks: false },
      { text: '2 checks of r #7 not finished: slow (required), lint.', blocks: false },
      { text: 'bob requested changes to r #7.', blocks: false },
    ],
  });
});

const requiring = (context: string) => ({
  type: 'required_status_checks',
  parameters: { required_status_checks: [{ context }] },
});
const contextsOf = (nodes: object[], endCursor: string | null) => {
  const contexts = { nodes, pageInfo: { hasNextPage: endCursor !== null, endCursor } };
  const commits = { nodes: [{ commit: { statusCheckRollup: { contexts } } }] };
  return { repository: { pullRequest: { reviewDecision: null, commits } } };
};

test('a check that the base branch requires is told apart on whatever page GitHub names it', async () => {
  const id = await inReview();
  const others = Array.from({ length: 100 }, (_, i) => required(`other-${i}`, false));
  graphqlPages = [contextsOf(others, 'a'), contextsOf([required('build', true)], null)];
  const rules = Array.from({ length: 100 }, () => ({ type: 'deletion' }));
  extra = {
    '/rules/branches/main': (page: string | null) => (page === '1' ? rules : [requiring('test'), requiring('build')]),
  };
  const { pullRequests } = await readiness(id);
  const checks = pullRequests[0].checks.filter((each: { required: boolean }) => each.required);
  expect(checks.map((each: { name: string; outcome: string }) => [each.name, each.outcome])).toEqual([
    ['build', 'passed'],
    ['test', 'failed'],
  ]);
});

test('a required check that has not reported is awaited although GraphQL does not answer, and our own is not', async () => {
  const id = await inReview();
  extra = { '/rules/branches/main': [requiring('build'), requiring('slow'), requiring('deckhand')] };
  const { pullRequests } = await readiness(id);
  const checks = pullRequests[0].checks.filter((each: { required: boolean }) => each.required);
  expect(checks.map((each: { name: string; outcome: string }) => [each.name, each.outcome])).toEqual([
    ['build', 'passed'],
    ['slow', 'running'],
  ]);
});

test('GitHub is asked once for pages that ask at the same time', async () => {
  const id = await inReview();
  await Promise.all([readiness(id), readiness(id), readiness(id)]);
  expect(asked.filter((path) => path.endsWith('/pulls/7'))).toHaveLength(1);
});

test('what the credential may not read is unknown, and the rest is shown', async () => {
  const id = await inReview();
  refusals = { '/check-runs': 403, '/status': 404, '/reviews': 403 };
  const { pullRequests, problems } = await readiness(id);
  expect(pullRequests[0]).toMatchObject({ mergeable: true, checks: null, reviews: null, error: null });
  expect(problems).toEqual([]);
});

const many = (n: number) => ({
  '/check-runs': Array.from({ length: n }, (_, i) => run(`check-${i}`, 'completed', 'success')),
  '/status': Array.from({ length: n }, (_, i) => ({ context: `ci-${i}`, state: 'success', target_url: null })),
  '/reviews': Array.from({ length: n }, () => ({ user: { login: 'ada' }, state: 'COMMENTED' })),
});

test('checks, statuses and reviews are read on every page', async () => {
  const id = await inReview();
  listed = many(100);
  listed['/check-runs']?.push(run('last', 'completed', 'failure'));
  listed['/status']?.push({ context: 'old-ci', state: 'failure', target_url: null });
  listed['/reviews']?.push({ user: { login: 'bob', id: 2 }, state: 'CHANGES_REQUESTED' });
  extra = { 'collaborators/bob/permission': { permission: 'read', role_name: 'read', user: { id: 2 } } };
  expect((await readiness(id)).problems).toEqual([
    { text: '2 checks of r #7 failed: last, old-ci.', blocks: false },
    { text: expect.stringMatching(/^bob requested changes to r #7\. The agent was not told, /), blocks: false },
  ]);
});

test.each([
  ['/check-runs', 'check runs'],
  ['/status', 'statuses'],
  ['/reviews', 'reviews'],
] as const)('a pull request with more %s than are read counts as unread', async (end, what) => {
  const id = await inReview();
  listed = { [end]: many(1000)[end] };
  const { pullRequests, problems } = await readiness(id);
  expect(pullRequests[0]).toMatchObject({ mergeable: null, checks: null, reviews: null });
  expect(problems).toEqual([
    { text: `r #7 could not be read from GitHub: it has 1,000 ${what} or more, too many to read.`, blocks: false },
  ]);
});

test('a pull request that cannot be read is named, and the reply still has everything else', async () => {
  const id = await inReview();
  refusals = { '/pulls/7': 404 };
  const { pullRequests, problems } = await readiness(id);
  expect(pullRequests[0]).toMatchObject({ prNumber: 7, mergeable: null, error: 'it answered with status 404.' });
  expect(problems.map(({ text }: { text: string }) => text)).toEqual([
    'r #7 could not be read from GitHub: it answered with status 404.',
  ]);
});

test('without an open pull request, and during a run, a merge is blocked', async () => {
  const id = await newTask();
  await sql(`insert into runs (id, task_id, project_id, kind, status) values ('run_1', $1, $2, 'start', 'running')`, [
    id,
    projectId,
  ]);
  expect((await readiness(id)).problems).toEqual([
    { text: 'The task has an unfinished run. Wait for it to end, or cancel it.', blocks: true },
    { text: 'The task has no open pull request to merge.', blocks: true },
  ]);
});

test('a commit of ours that is not ready is not merged; another head is', async () => {
  const id = await inReview();
  const merge = () => service.call('POST', `/tasks/${id}/merge`, { token });
  const set = (sha: string) => sql('update pull_requests set unready_sha = $2 where task_id = $1', [id, sha]);
  const [{ head_sha: head }] = await sql('select head_sha from pull_requests where task_id = $1', [id]);
  const blocking = async () =>
    (await readiness(id)).problems
      .filter((each: { blocks: boolean }) => each.blocks)
      .map((each: { text: string }) => each.text);
  await set(head);
  expect(await blocking()).toEqual([
    expect.stringMatching(/^The last commit of r #7 .* Request changes to start another run, or merge it/),
  ]);
  const refused = await merge();
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringMatching(/pull\/7 .* was not checked/)]);
  await set('an earlier commit');
  expect(await blocking()).toEqual([]);
  expect((await merge()).body.message).not.toMatch(/was not checked/);
});

test('a push that may fail does not make a head ready that is not', async () => {
  const id = await inReview();
  const stored = async () =>
    (
      await sql('select repository_id, head_branch, head_sha, unready_sha from pull_requests where task_id = $1', [id])
    )[0];
  const before = await stored();
  const at = { taskId: id, repositoryId: before.repository_id, headBranch: before.head_branch };
  const em = service.app.db.manager;
  const unlessUnready = 'unless its head is not ready';
  await setUnreadySha(em, at, 'pushed', unlessUnready);
  expect((await stored()).unready_sha).toBe('pushed');
  await setUnreadySha(em, at, before.head_sha);
  await setUnreadySha(em, at, 'pushed', unlessUnready);
  expect((await stored()).unready_sha).toBe(before.head_sha);
  await setUnreadySha(em, at, 'pushed');
  expect((await stored()).unready_sha).toBe('pushed');
});

test('the tasks that depend on a task are listed, first those that the active sprint starts', async () => {
  const id = await newTask();
  const other = await newTask();
  const day = new Date().toISOString().slice(0, 10);
  const sprint = await post(`/projects/${projectId}/sprints`, { name: 'S', startDate: day, endDate: day });
  const waits = await newTask({ title: 'waits', dependsOn: [id, other], owner, sprintId: sprint.id });
  const unowned = await newTask({ title: 'unowned', dependsOn: [id], sprintId: sprint.id });
  const starts = await newTask({ title: 'starts', dependsOn: [id], owner, sprintId: sprint.id });
  const listed = async () =>
    (await readiness(id)).dependents.map((each: { id: string; starts: boolean }) => [each.id, each.starts]);
  expect(await listed()).toEqual([
    [waits, false],
    [unowned, false],
    [starts, false],
  ]);
  await post(`/sprints/${sprint.id}/start`, {});
  expect(await listed()).toEqual([
    [starts, true],
    [waits, false],
    [unowned, false],
  ]);
});

test('the checks of the latest run that had any are listed with their last results', async () => {
  const id = await newTask();
  await sql(
    `insert into runs (id, task_id, project_id, kind, status, finished_at)
     values ('run_checked', $1, $2, 'start', 'succeeded', now())`,
    [id, projectId],
  );
  await sql(
    `insert into runs (id, task_id, project_id, kind, status, finished_at, created_at)
     values ('run_cancelled', $1, $2, 'retry', 'cancelled', now(), now() + interval '1 minute')`,
    [id, projectId],
  );
  for (const [text, passed] of [
    ['npm test: failed', false],
    ['npm run lint: passed', true],
    ['npm test: passed', true],
  ])
    await sql(`insert into run_events (run_id, type, text, data) values ('run_checked', 'check', $1, $2)`, [
      text,
      { passed },
    ]);
  expect((await readiness(id)).runChecks).toEqual([
    { name: 'npm run lint', passed: true },
    { name: 'npm test', passed: true },
  ]);
});

test('a dismissed review no longer counts, and a comment decides nothing', () => {
  const review = (login: string, state: string) => ({ user: { login }, state });
  expect(
    latestReviews([
      review('ada', 'APPROVED'),
      review('bob', 'CHANGES_REQUESTED'),
      review('bob', 'DISMISSED'),
      review('ada', 'COMMENTED'),
      { user: null, state: 'APPROVED' },
    ]),
  ).toEqual([{ login: 'ada', state: 'approved' }]);
});

test('a result is kept for its time, and a failure is not', async () => {
  let now = 0;
  let count = 0;
  const recently = rememberFor<number>(10, () => now);
  const work = async () => ++count;
  expect([await recently('a', work), await recently('a', work)]).toEqual([1, 1]);
  now = 9;
  expect([await recently('a', work), await recently('b', work)]).toEqual([1, 2]);
  now = 10;
  expect([await recently('a', work), await recently('b', work)]).toEqual([3, 2]);
  await expect(recently('c', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await recently('c', work)).toBe(4);
});
