import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { observeIssue } from '../../../src/github/follow/issues.ts';
import { compareJob } from '../../../src/github/inbox/compare-with-github.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around } from '../../support/stand-ins/named-github.ts';

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
