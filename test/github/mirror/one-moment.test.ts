import { syncTask } from '../../../src/github/mirror/sync.ts';
import { endRun } from '../../../src/runs/store.ts';
import { tryMoveTask } from '../../../src/tasks/move.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();

test('a run that fails while its task is shown never makes a check run green', async () => {
  const { em, call, own, task } = await acme.twoPeople();
  const { app } = acme.service;
  const taskId = await task('ada');
  await em.query(`update tasks set issue_repository_id = $2, issue_number = 4, issue_url = 'u' where id = $1`, [
    taskId,
    own.id,
  ]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 5, 'u', 'open', 'agent/x', 'a')`,
    [taskId, own.id],
  );
  await call('ada', 'POST', `/tasks/${taskId}/start`);
  const [{ id }]: [{ id: string }] = await em.query('select id from runs where task_id = $1', [taskId]);
  const failure = { category: 'checks' as const, message: 'npm test fails', retryable: true };
  const fail = () =>
    app.db.transaction(async (tx) => {
      await endRun(tx, id, 'failed', failure);
      await tryMoveTask(app, tx, taskId, 'fail', { failure });
    });
  // The issue is shown first.
  around.reads['/repos/acme/app/issues/4/labels?per_page=100'] = { status: 200, body: [], meanwhile: fail };
  asked.length = 0;
  await syncTask(app, { taskId, recheck: false });
  const [check] = asked.filter(({ path }) => path.endsWith('/check-runs'));
  expect(check?.body).toMatchObject({ status: 'completed', conclusion: 'failure' });
});

test('a check run that is left behind does not say for ever that an agent works', async () => {
  const { em, call, own, task } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 6, 'u', 'open', 'agent/x', 'first')`,
    [taskId, own.id],
  );
  await call('ada', 'POST', `/tasks/${taskId}/start`);
  around.writes['POST /repos/acme/app/check-runs'] = { status: 201, body: { id: 71 } };
  const written = async () => {
    asked.length = 0;
    await syncTask(acme.service.app, { taskId, recheck: false });
    return asked
      .filter(({ path, body }) => path.includes('/check-runs') && body !== undefined)
      .map(({ path, body }) => [path.slice('/repos/acme/app'.length), (body as { conclusion?: string }).conclusion]);
  };
  expect(await written()).toEqual([['/check-runs', undefined]]);
  const change = (set: string) => em.query(`update pull_requests set ${set} where task_id = $1`, [taskId]);
  // The agent pushes, and goes on.
  await change(`head_sha = 'second'`);
  around.writes['POST /repos/acme/app/check-runs'] = { status: 201, body: { id: 72 } };
  expect(await written()).toEqual([
    ['/check-runs', undefined],
    ['/check-runs/71', 'cancelled'],
  ]);
  expect(await written()).toEqual([]);
  await change(`status = 'closed'`);
  expect(await written()).toEqual([['/check-runs/72', 'cancelled']]);
  expect(await written()).toEqual([]);
  await change(`status = 'open'`);
  expect(await written()).toEqual([['/check-runs', undefined]]);
});
