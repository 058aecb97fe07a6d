import { openAcme } from '../support/stand-ins/acme.ts';
import { around, writers } from '../support/stand-ins/named-github.ts';

const acme = openAcme();

/** A task of ada's in review, with a pull request in each repository. Returns the problems that the readiness shows about rights. */
async function inReview() {
  const { em, call, own, secret, task, ids, projectId } = await acme.twoPeople();
  const id = await task('ada');
  await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
  for (const [i, repository] of [own, secret].entries())
    await em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
       values ($1, $2, $3, 'https://github.test/x', 'open', 'agent/x', $4)
       on conflict (repository_id, number) do update set task_id = excluded.task_id`,
      [id, repository.id, i + 1, 'd'.repeat(40)],
    );
  const problems = async (who: 'ada' | 'bob') =>
    (await call(who, 'GET', `/tasks/${id}/merge-readiness`)).body.problems.filter((each: { text: string }) =>
      /permission|whether you may/.test(each.text),
    );
  return { em, call, id, ids, projectId, problems };
}

test('a person without write permission sees that before they try to merge', async () => {
  const { call, id, problems } = await inReview();
  expect(await problems('ada')).toEqual([]);
  const lack = 'bob has no write permission in the repository secret.';
  expect(await problems('bob')).toEqual([{ text: `${lack} Somebody who has it can merge.`, blocks: true }]);
  expect((await call('bob', 'POST', `/tasks/${id}/merge`)).body.message).toBe(lack);
});

test('viewers see no problem about permission, because they cannot merge', async () => {
  const { em, ids, problems } = await inReview();
  await em.query(`update members set role = 'viewer' where user_id = $1`, [ids.bob]);
  expect(await problems('bob')).toEqual([]);
});

test('a GitHub that cannot be asked is a warning, because it may answer when somebody merges', async () => {
  const { problems } = await inReview();
  around.isSilent = true;
  expect(await problems('bob')).toEqual([
    {
      text: expect.stringMatching(/^GitHub could not be asked about write permission in the repository /),
      blocks: false,
    },
  ]);
});

test('the person who started a task is warned that somebody else has to merge it', async () => {
  const { em, id, ids, projectId, problems } = await inReview();
  writers.add('300 2');
  await em.query(
    `insert into runs (id, task_id, project_id, kind, status, started_by) values ('run_other', $1, $2, 'start', 'succeeded', $3)`,
    [id, projectId, ids.ada],
  );
  await em.query(`insert into run_steps (run_id, name, data) values ('run_other', 'settings', '{"approve":"others"}')`);
  expect(await problems('ada')).toEqual([
    {
      text: expect.stringMatching(/^You started this task.*Ask somebody else with write permission\.$/),
      blocks: false,
    },
  ]);
  expect(await problems('bob')).toEqual([]);
});
