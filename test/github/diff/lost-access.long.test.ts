import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { keepComments, keepOneComment } from '../../../src/github/diff/keep-comments.ts';
import { observeIssue } from '../../../src/github/follow/issues.ts';
import { takeReview } from '../../../src/github/follow/reviews.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, barred, shown, writers } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const number = 62;
const issueNumber = 8;
afterEach(() => acme.service.app.db.manager.query('update projects set created_by = null'));

/** A task in review in a project that bob created without an installation, or that belongs to one. */
async function inProjectOf(creator: 'bob' | null) {
  const { em, own, task, call, ids, projectId } = await acme.twoPeople();
  await em.query('update projects set created_by = $2 where id = $1', [projectId, creator && ids[creator]]);
  const id = await task('bob');
  await em.query(
    `update tasks set status = 'in_review', issue_repository_id = $2, issue_number = $3, issue_url = 'u' where id = $1`,
    [id, own.id, issueNumber],
  );
  const pull = { taskId: id, repositoryId: own.id, number };
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, $3, 'u', 'open', 'agent/x', 'none')`,
    [id, own.id, number],
  );
  const { app } = acme.service;
  const place = (await placeOfRepository(app, own.id)) as Place;
  /** Somebody edits the issue and writes two comments on lines. The event of one of them arrives; the other is read later. */
  const hear = async (word: string, commentId: number) => {
    const said = (at: number) => ({
      ...{ id: at, path: 'a.ts', line: 1, side: 'RIGHT', created_at: '2026-01-01T00:00:00Z' },
      ...{ body: `${word} ${at}`, user: shown(400, 'ada'), pull_request_review_id: null },
    });
    const comments = [said(commentId), said(commentId + 1)];
    around.pages[`/pulls/comments/${commentId}`] = comments[0];
    around.pages[`/pulls/${number}/comments`] = comments;
    around.pages[`/issues/${issueNumber}`] = {
      ...{ number: issueNumber, title: word, body: word, state: 'open', labels: [], assignees: [] },
      repository_url: 'https://api.github.com/repos/acme/app',
    };
    await keepOneComment(app, place, pull, commentId);
    await keepComments(app, place, pull);
    await observeIssue(app, place, issueNumber);
    const shownNow = [
      await call('bob', 'GET', `/tasks/${id}/review-comments`),
      await call('bob', 'GET', `/tasks/${id}`),
    ];
    return shownNow.map(({ body }) => JSON.stringify(body).includes(word));
  };
  return hear;
}

test('a project that was connected while the repository was public gets none either once it is private', async () => {
  const hear = await inProjectOf('bob');
  const em = acme.service.app.db.manager;
  await em.query(`delete from projects where id = 'prj_installed'`);
  await em.query(`insert into projects (id, name, slug) values ('prj_installed', 'i', 'i')`);
  const [{ id, githubId }] = await em.query(
    `select id, github_id as "githubId" from repositories where name = 'app' limit 1`,
  );
  await em.query('update repositories set is_private = false where id = $1', [id]);
  writers.delete('300 1');
  barred.add('300 1');
  expect(await hear('PUBLIC', 11)).toEqual([true, true]);
  // The project of the installation hears that it is private now.
  await em.query(
    `insert into repositories (id, project_id, name, url, github_id, is_private) values ('repo_i', 'prj_installed', 'app', 'u', $1, true)`,
    [githubId],
  );
  expect(await hear('PRIVATE', 21)).toEqual([false, false]);
  await em.query(`delete from projects where id = 'prj_installed'`);
  await em.query('update repositories set is_private = true where id = $1', [id]);
  writers.add('300 1');
  barred.delete('300 1');
});

test('a project of a person gets no new texts of a private repository that the person can no longer read', async () => {
  const hear = await inProjectOf('bob');
  expect(await hear('BEFORE', 1)).toEqual([true, true]);
  writers.delete('300 1');
  barred.add('300 1');
  expect(await hear('AFTER', 3)).toEqual([false, false]);
  barred.delete('300 1');
  expect(await hear('AGAIN', 5)).toEqual([true, true]);
});

test('a text waits while GitHub does not say whether the person can read it', async () => {
  const hear = await inProjectOf('bob');
  around.isSilent = true;
  await expect(hear('UNKNOWN', 1)).rejects.toMatchObject({ status: 403 });
});

test('a project of an installation gets them, even if a member has lost access', async () => {
  const hear = await inProjectOf(null);
  barred.add('300 1');
  expect(await hear('SAID', 1)).toEqual([true, true]);
});

test.each([
  true,
  false,
])('a review that asks for changes is taken up only while the person can read it (%s)', async (canRead) => {
  const { em, own, task, ids, projectId } = await acme.twoPeople();
  await em.query('update projects set created_by = $2 where id = $1', [projectId, ids.bob]);
  const id = await task('ada');
  await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, $3, 'u', 'open', 'agent/x', 'none')`,
    [id, own.id, number],
  );
  if (!canRead) {
    writers.delete('300 1');
    barred.add('300 1');
  }
  const said = { user: shown(400, 'ada'), submitted_at: '2026-01-01T00:00:00Z' };
  around.pages[`/pulls/${number}/reviews/5`] = {
    ...said,
    id: 5,
    node_id: 'R_5',
    state: 'CHANGES_REQUESTED',
    body: 'SAID',
  };
  around.pages[`/pulls/${number}/comments`] = [];
  around.nodes = [{ id: 'R_5', lastEditedAt: null, editor: null }];
  const { app } = acme.service;
  const place = (await placeOfRepository(app, own.id)) as Place;
  await takeReview(app, place, { taskId: id, repositoryId: own.id, number }, 5);
  const runs = await em.query('select instructions from runs where task_id = $1', [id]);
  expect(JSON.stringify(runs).includes('SAID')).toBe(canRead);
});
