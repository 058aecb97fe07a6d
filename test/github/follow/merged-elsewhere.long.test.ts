import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { refreshPull } from '../../../src/github/follow/refresh-pull.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();

/** A stack: `lower` goes into `base`, and `upper` and a task that has not started are on its branch. */
async function stack(base: string) {
  const { em, own, projectId, task, call } = await acme.twoPeople();
  const pulls = async (id: string, number: number, head: string, into: string) => {
    await em.query(`update tasks set status = 'in_review', branch_name = $2 where id = $1`, [id, head]);
    await em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, base_branch)
       values ($1, $2, $3, $4, 'open', $5, 'seen', $6)`,
      [id, own.id, number, `https://github.com/acme/app/pull/${number}`, head, into],
    );
  };
  const another = async (title: string): Promise<string> =>
    (await call('ada', 'POST', `/projects/${projectId}/tasks`, { title, repositoryId: own.id })).body.id;
  await pulls(await task('ada'), 61, 'agent/low', base);
  const upper = await another('upper');
  await pulls(upper, 62, 'agent/up', 'agent/low');
  const later = await another('later');
  await em.query(`update tasks set base = 'agent/low', issue_repository_id = $2, issue_number = 9 where id = $1`, [
    later,
    own.id,
  ]);
  const place = (await placeOfRepository(acme.service.app, own.id)) as Place;
  const shows = async (number: number, head: string, into: string, more: object = {}) => {
    around.pages[`/pulls/${number}`] = {
      ...{ number, state: 'open', merged_at: null, mergeable: true, additions: 1, body: '' },
      ...{ head: { sha: 'seen', ref: head }, base: { sha: 'b', ref: into }, ...more },
    };
    await refreshPull(acme.service.app, place.octokit, place.name, { repositoryId: own.id, number });
  };
  /** Somebody merges the lower one on GitHub. */
  const merged = (into: string) =>
    shows(61, 'agent/low', into, { state: 'closed', merged: true, merged_at: '2026-01-01T00:00:00Z' });
  const bases = async () => {
    const rows: { number: number; base: string; elsewhere: string | null }[] = await em.query(
      'select number, base_branch as base, merged_elsewhere as elsewhere from pull_requests order by number',
    );
    const [{ base }] = await em.query('select base from tasks where id = $1', [later]);
    return { lower: rows.find((row) => row.number === 61), upper: rows.at(-1)?.base, later: base };
  };
  const notice = async (number: number): Promise<string | undefined> =>
    (await em.query('select notice from mirrored where number = $1', [number]))[0]?.notice;
  const moves = () => asked.filter(({ body }) => 'base' in body).map(({ path, body }) => [path, body.base]);
  const merge = () => call('ada', 'POST', `/tasks/${upper}/merge`);
  for (const branch of ['main', 'scratch', 'agent/low', 'agent/zero'])
    around.pages[`/branches/${branch}`] = { name: branch };
  return { em, own, pulls, another, shows, merged, bases, notice, moves, merge };
}

test('what is stacked on one that was merged elsewhere stays, and says why', async () => {
  const { shows, merged, bases, notice, moves, merge } = await stack('main');
  await merged('scratch');
  await shows(62, 'agent/up', 'agent/low');
  const stays = { lower: { number: 61, base: 'main', elsewhere: 'scratch' }, upper: 'agent/low', later: 'agent/low' };
  expect(await bases()).toEqual(stays);
  expect(moves()).toEqual([]);
  const was = 'was merged into `scratch` on GitHub, not into `main`, for which it was opened.';
  expect(await notice(61)).toBe(`https://github.com/acme/app/pull/61 ${was}`);
  expect(await notice(62)).toMatch(/stays as it is: change the base of pull request #62 to `scratch` on GitHub, or/);
  expect(await notice(9)).toMatch(/stays as it is: choose another one with `\/agent base <branch>`\.$/);
  const { status, body } = await merge();
  expect([status, body.message]).toEqual([
    409,
    expect.stringContaining('was merged into the branch scratch, not into main, for which it was opened.'),
  ]);
  // The agreed branch would get what nobody has agreed to.
  await shows(62, 'agent/up', 'main');
  expect(await bases()).toEqual(stays);
  expect((await merge()).status).toBe(409);
  await merged('scratch');
  await shows(62, 'agent/up', 'scratch');
  expect(await bases()).toEqual({ ...stays, upper: 'scratch' });
  expect(await notice(62)).toContain('It goes into `scratch` now.');
});

test('if the agreed branch is gone, what is stacked goes where GitHub merged the one below', async () => {
  const { merged, bases } = await stack('renamed');
  await merged('scratch');
  expect(await bases()).toEqual({
    lower: { number: 61, base: 'scratch', elsewhere: null },
    upper: 'agent/low',
    later: 'scratch',
  });
});

test('one that GitHub has moved on with its own stack was merged where that was agreed', async () => {
  const { pulls, another, em, merged, bases } = await stack('agent/zero');
  await pulls(await another('zero'), 60, 'agent/zero', 'main');
  await em.query(`update pull_requests set status = 'merged' where number = 60`);
  await merged('main');
  expect(await bases()).toMatchObject({ lower: { base: 'main', elsewhere: null }, later: 'main' });
});

test('a branch that was merged before does not bring what came later into its base', async () => {
  const { pulls, another, em, shows, merged, bases } = await stack('agent/zero');
  await pulls(await another('zero'), 60, 'agent/zero', 'main');
  await em.query(`update pull_requests set status = 'merged' where number = 60`);
  await merged('agent/zero');
  await shows(62, 'agent/up', 'agent/zero');
  expect(await bases()).toEqual({
    lower: { number: 61, base: 'agent/zero', elsewhere: 'agent/zero' },
    upper: 'agent/low',
    later: 'agent/low',
  });
});
