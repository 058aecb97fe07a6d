import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { observeIssue } from '../../../src/github/follow/issues.ts';
import { compareJob } from '../../../src/github/inbox/compare-with-github.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, read } from '../../support/stand-ins/named-github.ts';

// While pull requests are switched off, GitHub answers 404 to everything about them.

const acme = openAcme();
const issue = '/repos/acme/app/issues/8';

/** A task whose issue has this state on GitHub, and whose pull request is not shown. */
async function withIssue(state: string) {
  const { em, own, task, call, projectId } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query('update tasks set issue_repository_id = $2, issue_number = 8 where id = $1', [taskId, own.id]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 5, 'u', 'open', 'agent/x', 'a')`,
    [taskId, own.id],
  );
  const repository_url = 'https://api.github.com/repos/acme/app';
  const body = { number: 8, title: 'Renamed', body: '', state, labels: [], repository_url };
  around.reads[issue] = { status: 200, body };
  around.pages = { '/issues': [], '/issues/comments': [] };
  const place = (await placeOfRepository(acme.service.app, own.id)) as Place;
  return { em, call, projectId, place, taskId };
}

test('a closed issue cancels the run of its task although the pull request cannot be read', async () => {
  const { call, place, taskId } = await withIssue('closed');
  await call('ada', 'POST', `/tasks/${taskId}/start`);
  await expect(observeIssue(acme.service.app, place, 8)).rejects.toMatchObject({ status: 404 });
  const runs = (await call('ada', 'GET', `/tasks/${taskId}/runs`)).body;
  expect(runs.map(({ status }: { status: string }) => status)).toEqual(['cancelled']);
});

test('the comparison with GitHub reads the issue although the pull request cannot be read', async () => {
  const { em, projectId, taskId } = await withIssue('open');
  await compareJob(acme.service.app, projectId);
  const [{ title }] = await em.query('select issue_title as title from tasks where id = $1', [taskId]);
  expect(title).toBe('Renamed');
});

test('the comparison with GitHub reads the newest 1,000 reviews of a pull request', async () => {
  const { projectId } = await withIssue('open');
  const base = { sha: 'b', repo: { id: 1 } };
  const pull = { number: 5, state: 'open', merged_at: null, html_url: 'u', additions: 1, mergeable: true };
  around.pages['/pulls/5'] = { ...pull, head: { sha: 'a', ref: 'agent/x', repo: { id: 1 } }, base };
  const reviews = (page: number) => `/repos/acme/app/pulls/5/reviews?per_page=100&page=${page}`;
  const headers = { link: '<https://api.github.com/x?per_page=100&page=12>; rel="last"' };
  for (let page = 1; page <= 12; page++) {
    const body = [{ id: page, state: [1, 2, 12].includes(page) ? 'CHANGES_REQUESTED' : 'COMMENTED' }];
    around.reads[reviews(page)] = { status: 200, body, headers };
  }
  await compareJob(acme.service.app, projectId);
  const paths = read.filter((path) => path.startsWith('/repos/acme/app/pulls/5/reviews'));
  expect(paths.filter((path) => path.includes('?'))).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(reviews));
  expect(paths.filter((path) => !path.includes('?'))).toEqual(['/repos/acme/app/pulls/5/reviews/12']);
});
