import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { takeReview } from '../../../src/github/follow/reviews.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around } from '../../support/stand-ins/named-github.ts';

// GitHub answers 404 to what was deleted, and to what it does not show us.

const acme = openAcme();

/** A task of ada's in review, whose pull request has the number 9. */
async function inReview() {
  const people = await acme.twoPeople();
  const { em, own, task } = people;
  const id = await task('ada');
  await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 9, 'u', 'open', 'agent/x', 'a')`,
    [id, own.id],
  );
  return { ...people, id };
}

test('a review that was deleted starts nothing', async () => {
  const { em, own, id } = await inReview();
  const { app } = acme.service;
  const place = (await placeOfRepository(app, own.id)) as Place;
  await takeReview(app, place, { taskId: id, repositoryId: own.id, number: 9 }, 5);
  expect(await em.query('select 1 from runs where task_id = $1', [id])).toEqual([]);
});

test('a branch of a repository that GitHub does not show is unknown, not missing', async () => {
  const { call, own, projectId } = await acme.twoPeople();
  const create = () =>
    call('ada', 'POST', `/projects/${projectId}/tasks`, { title: 't', repositoryId: own.id, base: 'release' });
  expect(await create()).toMatchObject({ status: 400, body: { message: expect.stringContaining('must be a branch') } });
  around.reads['/repos/acme/app'] = { status: 404, body: { message: 'Not Found' } };
  expect(await create()).toMatchObject({
    status: 502,
    body: { message: expect.stringContaining('could not be asked') },
  });
});

test.each([
  [403, 'Repository was archived so is read-only.'],
  [410, 'This issue was deleted'],
])('a text that GitHub does not take (%i) is a refusal with the reason', async (status, message) => {
  const { em, own, task, projectId } = await acme.twoPeople();
  await task('ada');
  await em.query('delete from handled_commands');
  await em.query('update tasks set issue_repository_id = $1, issue_number = 7 where project_id = $2', [
    own.id,
    projectId,
  ]);
  around.writes['PATCH /repos/acme/app/issues/7'] = { status, body: { message } };
  await acme.say(400, 'ada', '/agent update issue', 7);
  const [{ notice }] = await em.query('select notice from mirrored where number = 7');
  expect(notice).toContain(`was refused: GitHub does not change the issue: ${message}`);
});
