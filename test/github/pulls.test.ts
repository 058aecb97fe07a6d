import nock from 'nock';
import { ProbotOctokit } from 'probot';
import type { Octokit } from '../../src/app.ts';
import { ensurePull } from '../../src/repositories/pulls.ts';
import { interceptRequests } from '../support/stand-ins/intercepted.ts';

interceptRequests();

const Client = ProbotOctokit.defaults({
  retry: { enabled: false },
  throttle: { enabled: false },
  log: { debug() {}, info() {}, warn() {}, error() {} } as never,
});
const octokit = new Client({ auth: { token: 'x' } }) as Octokit;
const wanted = { owner: 'o', repo: 'r', head: 'agent/x', base: 'main', title: 't', body: 'b', draft: false };
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
const api = () => nock('https://api.github.com');
const list = (found: object[]) =>
  api().get('/repos/o/r/pulls').query({ state: 'open', head: 'o:agent/x' }).reply(200, found);

test('an existing pull request is adopted, but never one from a fork', async () => {
  list([pull({ head: { ref: 'agent/x', sha: 'evil', repo: { id: 2 } } }), pull()]);
  expect(await ensurePull(octokit, wanted)).toMatchObject({ number: 7, headSha: 's', status: 'open' });
});

test('a pull request whose creation response was lost is found the next time, not created again', async () => {
  list([]);
  api().post('/repos/o/r/pulls').reply(502);
  await expect(ensurePull(octokit, wanted)).rejects.toMatchObject({ status: 502 });
  list([pull()]);
  expect(await ensurePull(octokit, wanted)).toMatchObject({ number: 7 });
});

test('where GitHub refuses drafts, the pull request carries a warning instead', async () => {
  const message = 'Draft pull requests are not supported in this repository.';
  let body = '';
  list([]);
  api()
    .post('/repos/o/r/pulls', (sent) => sent.draft)
    .reply(422, { message })
    .post('/repos/o/r/pulls', (sent) => {
      body = sent.body;
      return sent.draft === false;
    })
    .reply(201, pull());
  expect(await ensurePull(octokit, { ...wanted, draft: true })).toMatchObject({ number: 7, status: 'open' });
  expect(body).toMatch(/Not ready to merge.*b$/s);
  list([pull()]);
  api()
    .post('/graphql')
    .reply(200, { errors: [{ message }] });
  expect(await ensurePull(octokit, { ...wanted, draft: true, turnsDraft: true })).toMatchObject({ status: 'open' });
});

test('a pull request counts as a draft only once GitHub says so', async () => {
  const answer = (data: object) => {
    list([pull()]);
    api()
      .post('/graphql', ({ query }) => query.includes('pullRequest { isDraft }'))
      .reply(200, data);
    return ensurePull(octokit, { ...wanted, draft: true, turnsDraft: true });
  };
  for (const isDraft of [false, undefined])
    await expect(answer({ data: { convertPullRequestToDraft: { pullRequest: { isDraft } } } })).rejects.toThrow(
      'GitHub did not confirm that pull request #7 changed',
    );
  await expect(answer({})).rejects.toThrow('did not confirm');
  const done = answer({ data: { convertPullRequestToDraft: { pullRequest: { isDraft: true } } } });
  expect(await done).toMatchObject({ number: 7, status: 'draft' });
});

test("GitHub's refusal is returned to the caller", async () => {
  list([]);
  api().post('/repos/o/r/pulls').reply(422, { message: 'Validation Failed' });
  await expect(ensurePull(octokit, wanted)).rejects.toMatchObject({ status: 422 });
});
