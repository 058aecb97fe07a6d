import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { refreshPull } from '../../../src/github/follow/refresh-pull.ts';
import { jobs } from '../../../src/jobs.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around } from '../../support/stand-ins/named-github.ts';

// What fails about a pull request does not hold up the rest: not its other parts, and not other projects.

const acme = openAcme();
const number = 62;
const low = 'https://github.com/acme/app/pull/61';

/** A task of ada's in review, whose pull request has another head on GitHub now. */
async function inReview(baseBranch: string | null = null) {
  const people = await acme.twoPeople();
  const { em, own, task } = people;
  const id = await task('ada');
  await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
  const addPull = (taskId: string, repositoryId: string, shown: { number: number; url: string; branch: string }) =>
    em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, base_branch)
       values ($1, $2, $3, $4, 'open', $5, 'old', $6)`,
      [taskId, repositoryId, shown.number, shown.url, shown.branch, baseBranch],
    );
  await addPull(id, own.id, { number, url: 'https://github.com/acme/app/pull/62', branch: 'agent/x' });
  const shows = (base: string) => {
    around.pages[`/pulls/${number}`] = {
      ...{ number, state: 'open', merged_at: null, mergeable: true, additions: 1, auto_merge: null },
      ...{ head: { sha: 'new', ref: 'agent/x' }, base: { sha: 'b', ref: base } },
    };
  };
  shows('main');
  const place = (await placeOfRepository(acme.service.app, own.id)) as Place;
  const refresh = () => refreshPull(acme.service.app, place.octokit, place.name, { repositoryId: own.id, number });
  const pull = async () => {
    const [row] = await em.query(
      'select head_sha as head, base_branch as base from pull_requests where repository_id = $1 and number = $2',
      [own.id, number],
    );
    return row as { head: string; base: string | null };
  };
  return { ...people, id, addPull, shows, refresh, pull };
}

test('that GitHub no longer merges a pull request is noticed although its diff cannot be read', async () => {
  const { em, own, id, refresh } = await inReview();
  await em.query(`update tasks set branch_name = 'agent/x' where id = $1`, [id]);
  await em.query(
    `insert into merges (repository_id, number, state, since, reason, head_sha)
     values ($1, $2, 'waiting', now() - interval '1 hour', 'It waits.', 'old')`,
    [own.id, number],
  );
  await refresh();
  const [{ state, dropped }] = await em.query('select state, dropped from merges where repository_id = $1', [own.id]);
  expect([state, dropped]).toEqual([null, expect.stringContaining('turned off auto-merge')]);
  // This GitHub has no git.
  const at = { repositoryId: own.id, number };
  await expect(jobs.diff.handle(acme.service.app, at)).rejects.toThrow('git');
});

test('a pull request that GitHub does not move to another base is still followed', async () => {
  const { em, own, projectId, call, id, addPull, shows, refresh, pull } = await inReview('agent/low');
  const below = (await call('ada', 'POST', `/projects/${projectId}/tasks`, { title: 'Low', repositoryId: own.id }))
    .body;
  await addPull(below.id, own.id, { number: 61, url: low, branch: 'agent/low' });
  await em.query(`update pull_requests set status = 'merged', base_branch = 'gone' where task_id = $1`, [below.id]);
  const path = `PATCH /repos/acme/app/pulls/${number}`;
  const refusal = { resource: 'PullRequest', field: 'base', code: 'invalid' };
  around.writes[path] = { status: 422, body: { message: 'Validation Failed', errors: [refusal] } };
  shows('agent/low');
  await refresh();
  expect(await pull()).toEqual({ head: 'new', base: 'agent/low' });
  const merge = await call('ada', 'POST', `/tasks/${id}/merge`);
  expect([merge.status, merge.body.message]).toEqual([409, expect.stringContaining('If it stays where it is')]);
  // Somebody does it.
  shows('main');
  await refresh();
  expect(await pull()).toEqual({ head: 'new', base: 'main' });
});

test('an event reaches all projects that have the repository, although one of them fails', async () => {
  const { em, own, call, addPull } = await inReview();
  const other = (await call('bob', 'POST', '/projects', { name: 'Other' })).body.id;
  await em.query(
    `insert into repositories (id, project_id, name, url, default_branch, github_id)
     values ('repo_other', $1, 'app', 'https://github.com/acme/app', 'main', 1)`,
    [other],
  );
  const task = (await call('bob', 'POST', `/projects/${other}/tasks`, { title: 'T' })).body.id;
  await addPull(task, 'repo_other', { number, url: 'https://github.com/acme/app/pull/62', branch: 'agent/x' });
  // GitHub has not computed it yet, so a job asks again, for one of them in vain.
  const { queue } = acme.service.app;
  const { send } = queue;
  around.pages[`/pulls/${number}`] = { ...Object(around.pages[`/pulls/${number}`]), mergeable: null };
  // In whatever order they come, the second one fails, and then the first one.
  for (const failing of [own.id, 'repo_other']) {
    await em.query(`update pull_requests set head_sha = 'old'`);
    queue.send = async (tx, name, data, options) => {
      if (name === 'pull' && 'repositoryId' in data && data.repositoryId === failing) throw new Error('no queue');
      return send(tx, name, data, options);
    };
    const payload = {
      action: 'edited',
      installation: { id: 1 },
      repository: { id: 1, full_name: 'acme/app' },
      pull_request: { number },
    };
    const told = acme.service.app.github?.receive({ id: failing, name: 'pull_request', payload });
    await expect(told).rejects.toThrow('no queue');
    const heads = await em.query('select distinct head_sha as head from pull_requests');
    expect(heads).toEqual([{ head: 'new' }]);
  }
  queue.send = send;
  await em.query('delete from projects where id = $1', [other]);
  expect(own.id).not.toBe('repo_other');
});

test('a limit of GitHub is no refusal of a merge', async () => {
  const { em, call, id } = await inReview();
  around.merges.push({ status: 403, message: 'You have exceeded a secondary rate limit' });
  const { status, body } = await call('ada', 'POST', `/tasks/${id}/merge`);
  await em.query('delete from github_pace');
  expect([status, body.message]).toEqual([502, expect.stringMatching(/rate limit/)]);
  expect(body.message).not.toContain('refused to merge');
});
