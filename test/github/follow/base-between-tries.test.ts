import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const number = 62;

test('a merge that is tried again does not go into a base that somebody chose in between', async () => {
  const { em, own, task, call } = await acme.twoPeople();
  const id = await task('ada');
  await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, $3, $4, 'open', 'agent/x', 'seen')`,
    [id, own.id, number, `https://github.com/acme/app/pull/${number}`],
  );
  const isTried = () => asked.some(({ path }) => path.endsWith('/merge'));
  around.pages[`/pulls/${number}`] = () => ({
    ...{ number, state: 'open', merged_at: null, mergeable: true, additions: 1 },
    ...{ head: { sha: 'seen', ref: 'agent/x' } },
    // bob changes it while GitHub merges something else into main.
    base: { sha: 'base', ref: isTried() ? 'release' : 'main' },
  });
  around.merges = [{ status: 405, message: 'Base branch was modified. Review and try the merge again.' }];
  const { status, body } = await call('ada', 'POST', `/tasks/${id}/merge`);
  expect([status, body.message]).toEqual([409, expect.stringContaining('goes to the branch release now, not to main')]);
  expect(asked.filter(({ path }) => path.endsWith('/merge'))).toHaveLength(1);
});
