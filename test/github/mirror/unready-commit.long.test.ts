import { Mirrored, type MirroredRow } from '../../../src/db/tables/github.ts';
import { placeOfRepository } from '../../../src/github/app/place.ts';
import { syncTask } from '../../../src/github/mirror/sync.ts';
import { syncCheck } from '../../../src/github/mirror/sync-check.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();

type Job = { taskId: string; recheck: boolean };
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

/** Two tasks whose runs succeeded, with the pull requests 1 and 2. */
async function twoTasks() {
  const { em, call, own, projectId, task } = await acme.twoPeople();
  const { app } = acme.service;
  const first = await task('ada');
  const { id: second } = (
    await call('ada', 'POST', `/projects/${projectId}/tasks`, { title: 't', repositoryId: own.id })
  ).body;
  const tasks = [first, second];
  await em.query(`update tasks set owner = (select owner from tasks where id = $1), status = 'ready' where id = $2`, [
    first,
    second,
  ]);
  for (const [i, taskId] of tasks.entries()) {
    await call('ada', 'POST', `/tasks/${taskId}/start`);
    await em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
       values ($1, $2, $3, 'u', 'open', $5, $4)`,
      [taskId, own.id, i + 1, `head${i + 1}`, `agent/${i + 1}`],
    );
  }
  await em.query(`update runs set status = 'succeeded', finished_at = now()`);
  await em.query(`update tasks set status = 'waiting_on_subtasks'`);
  /** What GitHub counts for each commit. */
  const counted = new Map<unknown, unknown>();
  let id = 0;
  /** Does a job that shows a task. Returns the jobs that it queues. */
  const show = async (job: Job): Promise<Job[]> => {
    await em.query(`delete from pgboss.job where name = 'mirror'`);
    around.writes['POST /repos/acme/app/check-runs'] = { status: 201, body: { id: ++id } };
    asked.length = 0;
    await syncTask(app, job);
    // GitHub counts the check run that was made last, whatever happens to those before it.
    for (const { body } of asked.filter(({ path }) => path.endsWith('/check-runs')))
      counted.set(body.head_sha, body.conclusion);
    const queued: { data: Job }[] = await em.query(`select data from pgboss.job where name = 'mirror'`);
    return queued.map(({ data }) => data);
  };
  /** Changes a pull request, and does the jobs about its task and those that follow. */
  const change = async (number: number, to: { status?: string; head?: string; unready?: string | null }) => {
    await em.query(
      `update pull_requests set status = coalesce($3, status), head_sha = coalesce($4, head_sha),
         unready_sha = case when $5 then $6 else unready_sha end where repository_id = $1 and number = $2`,
      [own.id, number, to.status, to.head, 'unready' in to, to.unready],
    );
    const waiting: Job[] = [{ taskId: tasks[number - 1] ?? '', recheck: false }];
    let jobs = 0;
    for (const job of waiting) {
      if (jobs++ > 10) throw new Error('the tasks make each other look again without end');
      waiting.push(...(await show(job)));
    }
  };
  /** Does the jobs that wait, and those that follow. */
  const work = async () => {
    const queued: { data: Job }[] = await em.query(`select data from pgboss.job where name = 'mirror'`);
    for (const { data } of queued) await show(data);
  };
  return { change, counted, em, call, own, tasks, work };
}

test('a pull request that becomes unready takes back the check run that another one of the commit made green', async () => {
  const { change, counted } = await twoTasks();
  await change(1, { head: 'x', unready: 'x' });
  await change(1, { status: 'closed' });
  await change(2, { head: 'x' });
  expect(counted.get('x')).toBe('success');
  await change(1, { status: 'open' });
  expect(counted.get('x')).toBe('action_required');
  // Also when the other one is gone.
  await change(1, { status: 'closed' });
  expect(counted.get('x')).toBe('success');
  await change(2, { status: 'closed' });
  await change(1, { status: 'open' });
  expect(counted.get('x')).toBe('action_required');
});

test('a ready commit is green again when an unready pull request of it is closed or pushed', async () => {
  const { change, counted } = await twoTasks();
  await change(1, { head: 'x' });
  for (const end of [{ status: 'closed' }, { head: 'y', unready: 'y' }]) {
    await change(2, { status: 'open', head: 'x', unready: 'x' });
    expect(counted.get('x')).toBe('action_required');
    await change(2, end);
    expect(counted.get('x')).toBe('success');
  }
  expect(counted.get('y')).toBe('action_required');
});

test('a pull request that leaves a commit before the others have looked leaves no check run of its own there', async () => {
  const { change, counted, em } = await twoTasks();
  await change(1, { head: 'x' });
  await change(2, { head: 'z' });
  // The other task has only just shown it.
  await em.query(
    `update mirrored set check_sha = 'x', check_run_id = 99, check_shown = '{"conclusion":"action_required"}'
     where number = 2`,
  );
  counted.set('x', 'action_required');
  await change(2, { head: 'y' });
  expect(counted.get('x')).toBe('success');
});

test('merged pull requests of one commit do not make each other write check runs', async () => {
  const { change, counted, em } = await twoTasks();
  await change(1, { head: 'x', unready: 'x' });
  await change(2, { head: 'x' });
  await em.query(`update tasks set status = 'done'`);
  await change(1, { status: 'merged' });
  // The harness fails if this does not settle.
  await change(2, { status: 'merged' });
  expect(counted.get('x')).toBeDefined();
});

test('a branch that comes back to a commit, or a task that is deleted, leaves no check run that does not hold', async () => {
  const { change, counted, em, call, tasks, work } = await twoTasks();
  await change(1, { head: 'x', unready: 'x' });
  await change(1, { head: 'y', unready: 'y' });
  await change(2, { head: 'x' });
  expect(counted.get('x')).toBe('success');
  await change(2, { head: 'z' });
  // GitHub has the check run of the first time, which is not the latest one.
  around.pages['/commits/x/check-runs'] = {
    total_count: 1,
    check_runs: [{ id: 1, external_id: tasks[0], status: 'completed', conclusion: 'action_required' }],
  };
  await change(1, { head: 'x', unready: 'x' });
  expect(counted.get('x')).toBe('action_required');

  await change(2, { head: 'x', unready: null });
  await em.query(`delete from pgboss.job where name = 'mirror'`);
  counted.set('x', 'success');
  await call('ada', 'DELETE', `/tasks/${tasks[1]}`);
  await work();
  expect(counted.get('x')).toBe('action_required');
});

test('a task that is deleted while its check run is written leaves none that does not hold', async () => {
  const { change, counted, em, call, own, tasks, work } = await twoTasks();
  const { app } = acme.service;
  await change(1, { head: 'x', unready: 'x' });
  await change(2, { head: 'x' });
  const mirrored = (await em.findOneByOrFail(Mirrored, { repositoryId: own.id, number: 2 })) as MirroredRow;
  const place = await placeOfRepository(app, own.id);
  if (place === undefined) throw new Error('the repository has no installation');
  await call('ada', 'DELETE', `/tasks/${tasks[1]}`);
  await work();
  await em.query(`delete from pgboss.job where name = 'mirror'`);
  const target = { octokit: place.octokit, name: place.name, taskId: tasks[1] ?? '', sha: 'x', detailsUrl: 'u' };
  const wanted = { status: 'completed', conclusion: 'success', title: 't', summary: 's' } as const;
  await syncCheck(app, target, { mirrored: { ...mirrored, checkShown: null }, isHidden: false }, wanted as never);
  counted.set('x', 'success');
  await work();
  expect(counted.get('x')).toBe('action_required');
});
