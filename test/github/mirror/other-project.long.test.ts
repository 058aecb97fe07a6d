import { proveAgainJob } from '../../../src/github/follow/prove-pulls.ts';
import { findTaskPullOfBranch } from '../../../src/runs/reviewing/store.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, shown } from '../../support/stand-ins/named-github.ts';
import { head, proofsOfHead, pullOf } from './proofs-of-head.ts';

// A repository may be connected to several projects. GitHub's events are for the project of the installation.

const acme = openAcme();

/** Pull request 7 of a task, either of the repository's project or of another one that bob created. */
async function ofTaskIn(which: 'own' | 'other') {
  const given = await proofsOfHead(acme);
  const { em, own, ids } = given;
  const bot = await acme.service.app.github?.bot();
  const user = { ...shown(bot?.id ?? 0, bot?.login ?? ''), type: 'Bot' };
  await em.query(`delete from projects where id = 'prj_other'`);
  await em.query(`insert into projects (id, name, slug, created_by) values ('prj_other', 'o', 'o', $1)`, [ids.bob]);
  await em.query(
    `insert into repositories (id, project_id, name, url, github_id, default_branch)
     values ('repo_other', 'prj_other', 'app', 'https://github.com/acme/app', 1, 'main')`,
  );
  const [projectId, repositoryId] = which === 'own' ? [own.projectId, own.id] : ['prj_other', 'repo_other'];
  await em.query(
    `insert into tasks (id, project_id, title, status, repository_id) values ('task_7', $1, 't', 'in_review', $2)`,
    [projectId, repositoryId],
  );
  await em.query(
    `insert into runs (id, task_id, project_id, kind, status, finished_at)
     values ('run_7', 'task_7', $1, 'start', 'succeeded', now())`,
    [projectId],
  );
  await em.query(
    `insert into run_steps (run_id, name, data) values ('run_7', 'pushing', jsonb_build_object('commit', $1::text))`,
    [head],
  );
  const isStored = () =>
    em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
       values ('task_7', $1, 7, 'https://github.com/acme/app/pull/7', 'draft', 'topic-7', $2)`,
      [repositoryId, head],
    );
  return { ...given, user, isStored };
}

test('a pull request of a task of another project is proved, and holds up another one of its head', async () => {
  const { told, judge, opened, latest, isStored, user } = await ofTaskIn('other');
  await isStored();
  await told('opened', { number: 7, user });
  expect(latest()).toBe('queued: Waits for its turn');
  await judge(7, 'weakened');
  around.pages['/pulls/7'] = pullOf({ number: 7, user });
  await opened({ number: 8, base: 'side' }, 'no_tests');
  expect(latest()).toMatch(/^failure: Pull request #7: Tests were weakened/);
});

test('one of a task of the same project is left to its run, also before that has stored it', async () => {
  const { em, own, told, latest, isStored, user } = await ofTaskIn('own');
  await em.query(`update runs set status = 'running', finished_at = null where id = 'run_7'`);
  await told('opened', { number: 7, user });
  expect(latest()).toBeUndefined();
  await isStored();
  await proveAgainJob(acme.service.app, { repositoryId: own.id, number: 7 });
  expect(latest()).toBeUndefined();
  await told('reopened', { number: 7, user });
  expect(latest()).toBeUndefined();
});

test('one that no task has after a while is proved, even if a run of the project has made its head', async () => {
  const { em, own, told, mirror, latest, user } = await ofTaskIn('own');
  await em.query(`update runs set status = 'running', finished_at = null where id = 'run_7'`);
  await told('opened', { number: 7, user });
  const jobs: { data: { repositoryId: string; number: number }; later: boolean }[] = await em.query(
    `select data, start_after > now() + interval '10 s' as later from pgboss.job where name = 'proof' and state = 'created'`,
  );
  expect(jobs).toEqual([{ data: { repositoryId: own.id, number: 7 }, later: true }]);
  await proveAgainJob(acme.service.app, { repositoryId: own.id, number: 7 });
  await mirror(7);
  expect(latest()).toBe('queued: Waits for its turn');
});

test.each([
  ['of /agent fix', 'fix', true],
  ['of a task of another repository of the project', 'start', false],
])('a commit %s is proved on such a branch, although it has no pull request here', async (_name, kind, hidden) => {
  const { em, own, told, latest, isStored, user } = await ofTaskIn('other');
  const earlier = 'e'.repeat(40);
  await isStored();
  await told('opened', { number: 7, user, sha: earlier });
  await em.query(
    `insert into tasks (id, project_id, title, status, repository_id, hidden) values ('task_5', $1, 't', 'in_review', $2, $3)`,
    [own.projectId, own.id, hidden],
  );
  await em.query(`update runs set project_id = $1, task_id = 'task_5', kind = $2 where id = 'run_7'`, [
    own.projectId,
    kind,
  ]);
  around.pages['/pulls/7/comments'] = [];
  for (const sha of [head, earlier])
    around.pages[`/git/commits/${sha}`] = { sha, author: { email: 'x@example.com' }, parents: [] };
  await told('synchronize', { number: 7, user });
  expect(latest()).toBe('queued: Waits for its turn');
});

test.each(['own', 'other'] as const)('the branch of a task of %s project belongs to the task', async (which) => {
  const { em, own, isStored } = await ofTaskIn(which);
  expect(await findTaskPullOfBranch(em, own.id, 'topic-7')).toBeUndefined();
  await isStored();
  expect(await findTaskPullOfBranch(em, own.id, 'topic-7')).toBe(7);
});

test('a commit of another task, pushed to the branch of such a pull request, is proved there, too', async () => {
  const { em, own, told, latest, isStored, user } = await ofTaskIn('other');
  const earlier = 'e'.repeat(40);
  await isStored();
  await told('opened', { number: 7, user, sha: earlier });
  // A task of the repository's own project made the commit, and somebody has closed its pull request.
  await em.query(
    `insert into tasks (id, project_id, title, status, repository_id) values ('task_5', $1, 't', 'in_review', $2)`,
    [own.projectId, own.id],
  );
  await em.query(`update runs set project_id = $1, task_id = 'task_5' where id = 'run_7'`, [own.projectId]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ('task_5', $1, 5, 'https://github.com/acme/app/pull/5', 'closed', 'topic-5', $2)`,
    [own.id, head],
  );
  around.pages['/pulls/7/comments'] = [];
  for (const sha of [head, earlier])
    around.pages[`/git/commits/${sha}`] = { sha, author: { email: 'x@example.com' }, parents: [] };
  await told('synchronize', { number: 7, user });
  expect(latest()).toBe('queued: Waits for its turn');
});
