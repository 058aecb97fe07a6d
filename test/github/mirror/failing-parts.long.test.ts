import { refreshPullsOf } from '../../../src/github/follow/refresh-pull.ts';
import { answerReviews } from '../../../src/github/mirror/reviews/answer-reviews.ts';
import { syncTask } from '../../../src/github/mirror/sync.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const repo = '/repos/acme/app';
const broken = { status: 500, body: { message: 'Server Error' } };
const paths = () => asked.map(({ path }) => path);

/** A task with two pull requests, of which the first one makes GitHub fail. */
async function twoPulls() {
  const { em, own, task } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     select $1, $2, n, 'u' || n, 'open', 'agent/x', 'a' || n from generate_series(5, 6) n`,
    [taskId, own.id],
  );
  await em.query(
    `insert into runs (id, task_id, project_id, kind, status) select 'run_1', id, project_id, 'revise', 'succeeded'
     from tasks where id = $1`,
    [taskId],
  );
  await em.query(
    `insert into revisions (id, task_id, run_id, source, cause, text)
     select 'rev_' || n, $1, 'run_1', 'review', 'review/' || $2 || '/' || n || '/' || n, 'x' from generate_series(5, 6) n`,
    [taskId, own.id],
  );
  return { em, taskId };
}

test('a pull request that cannot be shown does not hold up the others, and the job is retried', async () => {
  const { taskId } = await twoPulls();
  around.writes[`POST ${repo}/issues/5/comments`] = broken;
  await expect(syncTask(acme.service.app, { taskId, recheck: false })).rejects.toMatchObject({ status: 500 });
  expect(paths()).toContain(`${repo}/issues/6/comments`);
});

test('a pull request that cannot be read does not hold up the others', async () => {
  const { taskId } = await twoPulls();
  const read: number[] = [];
  for (const number of [5, 6]) around.pages[`/pulls/${number}`] = () => void read.push(number);
  await expect(refreshPullsOf(acme.service.app, taskId)).rejects.toMatchObject({ status: 404 });
  expect(read.sort()).toEqual([5, 6]);
});

test('a review that cannot be answered does not hold up the others, and is answered later', async () => {
  const { em, taskId } = await twoPulls();
  const said = (number: number) => ({ id: number * 10, pull_request_review_id: number, user: { id: 400 }, body: 'x' });
  for (const number of [5, 6]) around.pages[`/pulls/${number}/comments`] = [said(number)];
  around.writes[`POST ${repo}/pulls/5/comments/50/replies`] = broken;
  await expect(answerReviews(acme.service.app, taskId)).rejects.toMatchObject({ status: 500 });
  expect(paths()).toContain(`${repo}/pulls/6/comments/60/replies`);
  const left = await em.query('select id from revisions where task_id = $1 and answered_at is null', [taskId]);
  expect(left).toEqual([{ id: 'rev_5' }]);
});
