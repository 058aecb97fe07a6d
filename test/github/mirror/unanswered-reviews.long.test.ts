import { answerReviews } from '../../../src/github/mirror/reviews/answer-reviews.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const repo = '/repos/acme/app';

/** Answers a review of pull request 5, of which GitHub knows nothing. Returns whether that counts as answered. */
async function isAnswered(reads: typeof around.reads): Promise<boolean> {
  const { em, own, task, call, claimed } = await acme.twoPeople();
  const id = await task('ada');
  await call('ada', 'POST', `/tasks/${id}/start`);
  const { run } = await claimed();
  await em.query(`update runs set status = 'succeeded' where id = $1`, [run.id]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 5, 'u', 'open', 'agent/x', 'a')`,
    [id, own.id],
  );
  await em.query(
    `insert into revisions (id, task_id, source, cause, text, run_id) values ('rev_1', $1, 'review', $2, 't', $3)`,
    [id, `review/${own.id}/5/1`, run.id],
  );
  around.reads = reads;
  await answerReviews(acme.service.app, id);
  const [{ at }] = await em.query(`select answered_at as at from revisions where id = 'rev_1'`);
  return at !== null;
}

test('a review that is gone is not answered again', async () => {
  expect(await isAnswered({})).toBe(true);
});

test('a review waits for its answer while we may not read the repository', async () => {
  expect(await isAnswered({ [repo]: { status: 404, body: { message: 'Not Found' } } })).toBe(false);
});
