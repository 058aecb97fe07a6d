import { refreshPullJob } from '../../../src/github/follow/refresh-pull.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';
import { settingsSay } from '../mirror/proofs-of-head.ts';

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

test.each([{}, '', null])('nothing is merged while GitHub answers %j instead of the pull request', async (answer) => {
  const { em, own, task, call } = await acme.twoPeople();
  const id = await task('ada');
  await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, $3, $4, 'open', 'agent/x', 'seen')`,
    [id, own.id, number, `https://github.com/acme/app/pull/${number}`],
  );
  around.pages[`/pulls/${number}`] = () => answer;
  const { status, body } = await call('ada', 'POST', `/tasks/${id}/merge`);
  expect([status, body.message]).toEqual([502, expect.stringContaining('does not say in which state')]);
  expect(asked.filter(({ path }) => path.endsWith('/merge'))).toEqual([]);
});

test('a pull request is not ready after somebody has changed its base, although its task keeps the agreed one', async () => {
  const { em, own, task } = await acme.twoPeople();
  const id = await task('ada');
  settingsSay('false');
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, base_branch)
     values ($1, $2, $3, $4, 'open', 'agent/x', 'seen', 'main')`,
    [id, own.id, number, `https://github.com/acme/app/pull/${number}`],
  );
  around.pages['/branches/main'] = { name: 'main' };
  const read = async (base: string, sha = 'seen') => {
    around.pages[`/pulls/${number}`] = {
      ...{ number, state: 'open', draft: false, merged_at: null, mergeable: true, additions: 1 },
      ...{ head: { sha, ref: 'agent/x' }, base: { sha: 'base', ref: base } },
    };
    await refreshPullJob(acme.service.app, { repositoryId: own.id, number });
    const [row] = await em.query(
      'select base_branch as base, unready_sha as unready from pull_requests where task_id = $1',
      [id],
    );
    return row;
  };
  expect(await read('main')).toEqual({ base: 'main', unready: null });
  expect(await read('release')).toEqual({ base: 'main', unready: 'seen' });
  // Nobody has looked at it since.
  expect(await read('main')).toEqual({ base: 'main', unready: 'seen' });
  // Without checks there is nothing that would not count.
  await em.query('update pull_requests set unready_sha = null where task_id = $1', [id]);
  around.pages['/contents/.deckhand.yml'] = undefined;
  expect(await read('release')).toEqual({ base: 'main', unready: null });
});
