import { syncTask } from '../../../src/github/mirror/sync.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { asked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();

type People = Awaited<ReturnType<typeof acme.twoPeople>>;

/** Shows a task whose run succeeded, with a pull request, and returns its check run. */
async function checkOf(
  { em, call, own, task }: People,
  pull: {
    number: number;
    head: string;
    unready: string | null;
    earlier?: string[];
    elsewhere?: string;
    closed?: string;
  },
) {
  const { app } = acme.service;
  const taskId = await task('ada');
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, unready_sha, unready_before)
     values ($1, $2, $3, 'u', 'open', 'agent/x', $4, $5, $6)`,
    [taskId, own.id, pull.number, pull.head, pull.unready, JSON.stringify(pull.earlier ?? [])],
  );
  const [also, status] = pull.closed === undefined ? [pull.elsewhere, 'draft'] : [pull.closed, 'closed'];
  if (also !== undefined)
    await em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, unready_sha)
       values ($1, $2, 99, 'u', $4, 'agent/y', $3, $3)`,
      [taskId, own.id, also, status],
    );
  await call('ada', 'POST', `/tasks/${taskId}/start`);
  await em.query(`update runs set status = 'succeeded', finished_at = now() where task_id = $1`, [taskId]);
  await em.query(`update tasks set status = 'waiting_on_subtasks' where id = $1`, [taskId]);
  asked.length = 0;
  await syncTask(app, { taskId, recheck: false });
  return asked.find(({ path }) => path.endsWith('/check-runs'))?.body;
}

test('a run that splits its task makes no commit green that nothing has checked', async () => {
  const people = await acme.twoPeople();
  const split = await checkOf(people, { number: 5, head: 'a1', unready: 'a1' });
  expect(split).toMatchObject({ head_sha: 'a1', status: 'completed', conclusion: 'action_required' });
  // GitHub may still show an earlier head. Its check run counts in other pull requests, too.
  const late = await checkOf(people, { number: 6, head: 'b1', unready: null, earlier: ['b1'] });
  expect(late).toMatchObject({ head_sha: 'b1', conclusion: 'action_required' });
  const other = await checkOf(people, { number: 7, head: 'd1', unready: null, elsewhere: 'd1' });
  expect(other).toMatchObject({ head_sha: 'd1', conclusion: 'action_required' });
  // Nobody merges a closed one.
  const again = await checkOf(people, { number: 9, head: 'e1', unready: null, closed: 'e1' });
  expect(again).toMatchObject({ head_sha: 'e1', conclusion: 'success' });
  const ready = await checkOf(people, { number: 8, head: 'c1', unready: 'c0' });
  expect(ready).toMatchObject({ head_sha: 'c1', conclusion: 'success' });
});
