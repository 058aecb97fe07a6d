import { syncTask } from '../../../src/github/mirror/sync.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const repo = '/repos/acme/app';
const comments = `${repo}/issues/5/comments`;
const sync = (taskId: string, recheck = true) => syncTask(acme.service.app, { taskId, recheck });
const countOf = (path: string) => asked.filter((each) => each.path === path).length;

/** A task with a pull request whose conversation is locked. Apps cannot comment there, not even with write permission. */
async function locked() {
  const { em, call, own, task } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 5, 'u', 'open', 'agent/x', 'a')`,
    [taskId, own.id],
  );
  const message = 'Unable to create comment because issue is locked.';
  around.writes[`POST ${comments}`] = { status: 403, body: { message } };
  asked.length = 0;
  const refusals = async () =>
    (await call('ada', 'GET', `/tasks/${taskId}/timeline`)).body.filter(
      (e: { type: string }) => e.type === 'comment_refused',
    );
  return { em, taskId, call, refusals };
}

test('a locked pull request gets its labels and its check run, and the timeline says once why it has no comment', async () => {
  const { taskId, refusals } = await locked();
  await sync(taskId);
  expect([countOf(`${repo}/issues/5/labels`), countOf(comments), countOf(`${repo}/check-runs`)]).toEqual([1, 1, 1]);
  const text = 'GitHub answered with status 403: Unable to create comment because issue is locked.';
  expect(await refusals()).toEqual([expect.objectContaining({ actor: null, via: 'system', text })]);
  await sync(taskId);
  expect([countOf(comments), (await refusals()).length]).toEqual([2, 1]);
});

test('while it is locked, progress alone asks for no comment, and refused ones count for no breaker', async () => {
  const { em, taskId, call } = await locked();
  const show = (label: string) => {
    around.reads[`${repo}/issues/5/labels?per_page=100`] = { status: 200, body: [{ name: label }] };
  };
  show('agent:backlog');
  await em.query('delete from mirror_writes');
  await sync(taskId);
  asked.length = 0;
  await em.query(`update tasks set branch_name = 'agent/y' where id = $1`, [taskId]);
  await sync(taskId, false);
  expect(asked.map(({ path }) => path)).toEqual([`${repo}/check-runs/1`]);
  await call('ada', 'POST', `/tasks/${taskId}/start`);
  show('agent:in-progress');
  await sync(taskId, false);
  expect(countOf(comments)).toBe(1);
  expect(await em.query('select 1 from mirror_writes')).toEqual([]);
});

test('it gets its comment once it is unlocked', async () => {
  const { taskId, refusals } = await locked();
  await sync(taskId);
  around.writes[`POST ${comments}`] = { status: 201, body: { id: 77 } };
  around.comments = [];
  await sync(taskId);
  around.comments = [{ id: 77, body: 'old', user: { id: 41, login: 'deckhand[bot]' } }];
  await sync(taskId);
  expect(countOf(`${repo}/issues/comments/77`)).toBe(1);
  expect(await refusals()).toHaveLength(1);
});

test('a comment that can no longer be edited keeps no check run back, and is not replaced', async () => {
  const { taskId, call, refusals } = await locked();
  around.writes[`POST ${comments}`] = { status: 201, body: { id: 77 } };
  await sync(taskId);
  around.comments = [{ id: 77, body: 'old', user: { id: 41, login: 'deckhand[bot]' } }];
  const edit = `${repo}/issues/comments/77`;
  around.writes[`PATCH ${edit}`] = { status: 403, body: { message: 'Resource is locked.' } };
  await call('ada', 'POST', `/tasks/${taskId}/start`);
  await sync(taskId);
  expect([countOf(edit), countOf(comments), countOf(`${repo}/check-runs`)]).toEqual([1, 1, 2]);
  expect(await refusals()).toHaveLength(1);
});
