import { syncTask } from '../../../src/github/mirror/sync.ts';
import { listOpenWork } from '../../../src/github/store.ts';
import { listTextPlaces } from '../../../src/runs/directors.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const issues = '/repos/acme/app/issues';
const create = `POST ${issues}`;
const sync = (taskId: string, recheck = false) => syncTask(acme.service.app, { taskId, recheck });
const asksForIssue = () => asked.filter(({ path }) => path === issues).length;

async function wishes() {
  const { call, projectId, own, em } = await acme.twoPeople();
  await em.query('delete from tasks');
  around.pages['/issues'] = [];
  const made = await call('ada', 'POST', `/projects/${projectId}/tasks`, {
    title: 't',
    repositoryId: own.id,
    issue: true,
  });
  const { id } = made.body;
  /** A pull request that shows the task, too. */
  const propose = () =>
    em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 5, 'u', 'open', 'agent/x', 'a')`,
      [id, own.id],
    );
  const refusals = async () =>
    (await call('ada', 'GET', `/tasks/${id}/timeline`)).body.filter(
      (e: { type: string }) => e.type === 'issue_refused',
    );
  return {
    id,
    own,
    places: () => listTextPlaces(em, id),
    propose,
    refusals,
    issue: async () => (await call('ada', 'GET', `/tasks/${id}`)).body.issueNumber,
    isCompared: async () => (await listOpenWork(em, own.id)).some((w) => w.taskId === id),
  };
}

// The words are GitHub's (github.com/ossf/allstar/issues/64); a repository without issues answers 410.
test.each([
  [410, 'Issues are disabled for this repo'],
  [403, 'Resource not accessible by integration'],
  [404, 'Not Found'],
  [422, 'Validation Failed'],
])('when GitHub refuses an issue (%s), the timeline says so once and the pull request is still mirrored', async (status, message) => {
  const { id, propose, refusals } = await wishes();
  await propose();
  around.writes[create] = { status, body: { message } };
  await sync(id);
  expect(asked.map(({ path }) => path)).toContain('/repos/acme/app/issues/5/comments');
  expect(await refusals()).toEqual([
    expect.objectContaining({ actor: null, via: 'system', text: `GitHub answered with status ${status}: ${message}` }),
  ]);
  await sync(id);
  // A missing permission is tried once more with a new token.
  const tries = status === 403 ? 2 : 1;
  expect(asksForIssue()).toBe(tries);
  await sync(id, true);
  expect([asksForIssue(), (await refusals()).length]).toEqual([tries + 1, 1]);
});

test('a task without its issue is compared with GitHub again, and gets the issue once that is possible', async () => {
  const { id, isCompared, issue, places, own } = await wishes();
  around.writes[create] = { status: 410, body: { message: 'Issues are disabled for this repo' } };
  await sync(id);
  expect(await isCompared()).toBe(true);
  around.writes[create] = { status: 201, body: { number: 9, html_url: 'https://github.com/acme/app/issues/9' } };
  await sync(id, true);
  expect(await issue()).toBe(9);
  // Its text may repeat what people write there, so an answer elsewhere asks for this repository.
  expect(await places()).toEqual([own.id]);
});

test('a rate limit is no refusal', async () => {
  const { id, refusals } = await wishes();
  around.writes[create] = { status: 403, body: { message: 'You have exceeded a secondary rate limit' } };
  await expect(sync(id)).rejects.toMatchObject({ status: 403 });
  expect(await refusals()).toEqual([]);
});
