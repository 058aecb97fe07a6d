import { ensurePull, findPull, listPullsOfBranch } from '../../src/repositories/pulls.ts';
import { retryPolicyOf, temporaryFault } from '../../src/worker/retry.ts';
import { octokitFor } from '../support/github-app.ts';
import { openFakeGitHub } from '../support/stand-ins/fake-github.ts';

/** What GitHub answers to the next requests. */
const answers: { to: string; status: number; json: unknown }[] = [];
/** The bodies of the requests other than GET. */
const sent: Record<string, unknown>[] = [];
const github = await openFakeGitHub(
  [
    [
      /^(.*)$/,
      ([, request], res) => {
        const { to, status, json } = answers.shift() ?? { to: 'nothing', status: 500, json: {} };
        expect(request).toBe(to);
        res.statusCode = status;
        return json;
      },
    ],
  ],
  (req, body) => req.method !== 'GET' && sent.push(JSON.parse(body)),
);
const octokit = octokitFor(github.url);
afterAll(() => github.close());
afterEach(() => expect(answers).toEqual([]));
const wanted = { owner: 'o', repo: 'r', head: 'agent/x', base: 'main', title: 't', body: 'b', draft: false, known: [] };
const pull = (more: object = {}) => ({
  number: 7,
  html_url: 'https://github.com/o/r/pull/7',
  state: 'open',
  draft: false,
  node_id: 'PR_7',
  head: { ref: 'agent/x', sha: 's', repo: { id: 1 } },
  base: { repo: { id: 1 } },
  ...more,
});
const answer = (to: string, status: number, json: unknown = {}) => answers.push({ to, status, json });
const list = (found: object[]) =>
  answer('GET /repos/o/r/pulls?state=open&head=o%3Aagent%2Fx&per_page=100&page=1', 200, found);
const creating = 'POST /repos/o/r/pulls';

test('an existing pull request is adopted, but never one from a fork', async () => {
  list([pull({ head: { ref: 'agent/x', sha: 'evil', repo: { id: 2 } } }), pull()]);
  expect(await ensurePull(octokit, wanted)).toMatchObject({ number: 7, headSha: 's', status: 'open' });
});

test('a pull request whose creation response was lost is found the next time, not created again', async () => {
  list([]);
  answer(creating, 502);
  await expect(ensurePull(octokit, wanted)).rejects.toMatchObject({ status: 502 });
  list([pull()]);
  expect(await ensurePull(octokit, wanted)).toMatchObject({ number: 7 });
});

test('where GitHub refuses drafts, the pull request carries a warning instead', async () => {
  const message = 'Draft pull requests are not supported in this repository.';
  list([]);
  answer(creating, 422, { message });
  answer(creating, 201, pull());
  expect(await ensurePull(octokit, { ...wanted, draft: true })).toMatchObject({ number: 7, status: 'open' });
  expect(sent.splice(0).slice(-2)).toMatchObject([
    { draft: true },
    { draft: false, body: expect.stringMatching(/Not ready to merge.*b$/s) },
  ]);
  list([pull()]);
  answer('POST /graphql', 200, { errors: [{ message }] });
  expect(await ensurePull(octokit, { ...wanted, draft: true, turnsDraft: true })).toMatchObject({ status: 'open' });
});

test('a draft stays one if its branch or base changes while its mark as ready waits', async () => {
  const paced = octokitFor(github.url);
  paced.hook.before('request', async ({ request }) => {
    await (request as { rightBefore?: () => Promise<void> }).rightBefore?.();
  });
  const one = (base: object) => answer('GET /repos/o/r/pulls/7', 200, pull({ draft: true, base }));
  list([pull({ draft: true })]);
  one({ ref: 'main' });
  expect(await ensurePull(paced, { ...wanted, mayBeReady: async () => false })).toMatchObject({ status: 'draft' });
  list([pull({ draft: true })]);
  one({ ref: 'release' });
  const mayBeReady = async (base?: string) => base !== 'release';
  expect(await ensurePull(paced, { ...wanted, mayBeReady })).toMatchObject({ status: 'draft' });
  list([pull({ draft: true })]);
  one({ ref: 'main' });
  answer('POST /graphql', 200, { data: { markPullRequestReadyForReview: { pullRequest: { isDraft: false } } } });
  expect(await ensurePull(paced, { ...wanted, mayBeReady: async () => true })).toMatchObject({ status: 'open' });
});

test('a pull request counts as a draft only once GitHub says so', async () => {
  const ensure = (data: object) => {
    list([pull()]);
    answer('POST /graphql', 200, data);
    return ensurePull(octokit, { ...wanted, draft: true, turnsDraft: true });
  };
  for (const isDraft of [false, undefined])
    await expect(ensure({ data: { convertPullRequestToDraft: { pullRequest: { isDraft } } } })).rejects.toThrow(
      'GitHub did not confirm that pull request #7 changed',
    );
  await expect(ensure({})).rejects.toThrow('did not confirm');
  const done = ensure({ data: { convertPullRequestToDraft: { pullRequest: { isDraft: true } } } });
  expect(await done).toMatchObject({ number: 7, status: 'draft' });
});

/** GitHub's filter `head` finds nothing in private forks, and after the owner was renamed. */
const fork = { number: 6, head: { ref: 'agent/x', sha: 'evil', repo: { id: 2 } } };
const listAll = (page: number, found: object[]) =>
  answer(`GET /repos/o/r/pulls?state=open&per_page=100&page=${page}`, 200, found);

test('the pull request that we know is looked up by its number', async () => {
  answer('GET /repos/o/r/pulls/9', 404);
  answer('GET /repos/o/r/pulls/8', 200, pull({ number: 8, state: 'closed' }));
  answer('GET /repos/o/r/pulls/7', 200, pull());
  const known = [9, 8, 7];
  expect(await ensurePull(octokit, { ...wanted, known })).toMatchObject({ number: 7, status: 'open' });
  answer('GET /repos/o/r/pulls/7', 200, pull());
  expect(await findPull(octokit, { ...wanted, known: [7], request: {} })).toMatchObject({ number: 7, body: '' });
});

test('a pull request that exists, although GitHub does not find it by its branch, is adopted', async () => {
  list([]);
  const message = 'A pull request already exists for o:agent/x.';
  answer(creating, 422, {
    message: 'Validation Failed',
    errors: [{ resource: 'PullRequest', code: 'custom', message }],
  });
  listAll(
    1,
    Array.from({ length: 100 }, () => pull(fork)),
  );
  listAll(2, [pull()]);
  expect(await ensurePull(octokit, wanted)).toMatchObject({ number: 7 });
});

test('what looks for an open pull request reads all of them before it says that there is none', async () => {
  const find = () => findPull(octokit, { ...wanted, request: {} });
  list([]);
  listAll(1, [pull(fork), pull()]);
  expect(await find()).toMatchObject({ number: 7 });
  list([]);
  listAll(1, [pull(fork)]);
  expect(await find()).toBeUndefined();
  list([]);
  for (let page = 1; page <= 10; page++)
    listAll(
      page,
      Array.from({ length: 100 }, () => pull(fork)),
    );
  expect(await find()).toBeUndefined();
});

test('all open pull requests of a branch are listed, also where GitHub does not find them by their branch', async () => {
  const numbers = async () =>
    (await listPullsOfBranch(octokit, { ...wanted, request: {} })).map((found) => found.number);
  list([pull(), pull(fork), pull({ number: 9 })]);
  expect(await numbers()).toEqual([7, 9]);
  list([]);
  listAll(
    1,
    Array.from({ length: 100 }, (_, i) => (i === 50 ? pull() : pull(fork))),
  );
  listAll(2, [pull({ number: 8 })]);
  expect(await numbers()).toEqual([7, 8]);
});

/** GitHub's refusals of a pull request, either because not all servers know the pushed commit yet or because there is none. */
const unseen = [
  { resource: 'PullRequest', code: 'custom', message: 'No commits between main and agent/x' },
  { resource: 'PullRequest', field: 'head', code: 'invalid' },
];

test.each(unseen)('a pull request that GitHub refuses right after a push is tried again: %j', async (error) => {
  list([]);
  answer(creating, 422, { message: 'Validation Failed', errors: [error] });
  list([]);
  answer(creating, 201, pull());
  const log: string[] = [];
  const retrying = retryPolicyOf({
    journal: { note: async (_type, text) => void log.push(text) },
    signal: new AbortController().signal,
    seconds: 300,
    endsAt: () => Number.POSITIVE_INFINITY,
  });
  expect(await retrying(() => ensurePull(octokit, wanted))).toMatchObject({ number: 7 });
  expect(log).toEqual([expect.stringContaining('trying again in 1 s')]);
});

test('a branch without commits is refused after three tries, and other refusals immediately', async () => {
  const refusal = async (error: object) => {
    list([]);
    answer(creating, 422, { message: 'Validation Failed', errors: [error] });
    if (JSON.stringify(error).includes('already exists')) listAll(1, []);
    return ensurePull(octokit, wanted).catch((thrown: unknown) => thrown);
  };
  const [noCommits = {}] = unseen;
  const refused = await refusal(noCommits);
  expect([0, 1, 2, 3].map((tries) => temporaryFault(refused, tries) !== undefined)).toEqual([true, true, false, false]);
  const others = [
    { resource: 'PullRequest', field: 'base', code: 'invalid' },
    { resource: 'PullRequest', code: 'custom', message: 'A pull request already exists for o:agent/x.' },
  ];
  for (const other of others) expect(temporaryFault(await refusal(other))).toBeUndefined();
});

test("GitHub's refusal is returned to the caller", async () => {
  list([]);
  answer(creating, 422, { message: 'Validation Failed' });
  await expect(ensurePull(octokit, wanted)).rejects.toMatchObject({ status: 422 });
});
