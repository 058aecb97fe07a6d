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
