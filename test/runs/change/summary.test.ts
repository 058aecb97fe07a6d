import { openTestApp, type TestApp } from '../../support/app.ts';

let service: TestApp;
let token: string;
let project: string;
let task: string;
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
const change = async () => (await service.call('GET', `/tasks/${task}/change`, { token })).body;
const file = (path: string, additions: number, deletions: number) => ({
  path,
  status: 'modified',
  additions,
  deletions,
  hunks: [],
});

beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
  project = (await service.call('POST', '/projects', { token, body: { name: 'P' } })).body.id;
  task = (await service.call('POST', `/projects/${project}/tasks`, { token, body: { title: 't' } })).body.id;
});
afterAll(() => service.close());

const addRun = (id: string, status: string, minutesAgo: number) =>
  sql(
    `insert into runs (id, task_id, project_id, kind, status, created_at)
     values ($1, $2, $3, 'start', $4, now() - make_interval(mins => $5::int))`,
    [id, task, project, status, minutesAgo],
  );
const noteCheck = (run: string, command: string, passed: boolean) =>
  sql(`insert into run_events (run_id, type, text, data) values ($1, 'check', $2, $3)`, [
    run,
    `${command}: ${passed ? 'passed' : 'failed'}`,
    { passed, seconds: 1 },
  ]);

test('the summary of a change has its size, the last result of each check, and its proof', async () => {
  expect(await change()).toEqual({
    files: 0,
    additions: 0,
    deletions: 0,
    isTruncated: false,
    checks: [],
    proof: null,
  });
  await addRun('run_old', 'succeeded', 9);
  await noteCheck('run_old', 'npm run old', true);
  await addRun('run_new', 'succeeded', 5);
  await noteCheck('run_new', 'npm test', false);
  await noteCheck('run_new', 'npm test', true);
  await noteCheck('run_new', 'npm run lint: all', true);
  // A run that ended before its checks does not hide those of the change.
  await addRun('run_cancelled', 'cancelled', 1);
  await sql(
    `insert into diffs (task_id, branch_name, base_branch, files, head_sha) values ($1, 'b', 'main', $2, 'c')`,
    [task, JSON.stringify([file('a.js', 3, 1), file('b.js', 4, 0)])],
  );
  await sql(
    `insert into proofs (run_id, task_id, status, new_tests_fail_on_base, old_tests_pass, tests_changed, tests_removed)
     values ('run_new', $1, 'proved', true, true, '[]', '[]')`,
    [task],
  );
  expect(await change()).toEqual({
    files: 2,
    additions: 7,
    deletions: 1,
    isTruncated: false,
    checks: [
      { command: 'npm test', passed: true },
      { command: 'npm run lint: all', passed: true },
    ],
    proof: {
      status: 'proved',
      newTestsFailOnBase: true,
      oldTestsPass: true,
      testsChanged: [],
      testsRemoved: [],
      reason: null,
    },
  });
});

test('the summary is about the change that waits for approval, not about the pushed one', async () => {
  await addRun('run_held', 'succeeded', 0);
  await sql(
    `update runs set status = 'waiting', wait_id = 'w', wait_reason = 'push', wait_text = 'a.js', wait_options = '[]', waiting_since = now()
     where id = 'run_held'`,
  );
  await sql(
    `insert into held_changes (run_id, task_id, trees, branch_name, base_branch, files, truncated)
     values ('run_held', $1, '{}', 'b', 'main', $2, true)`,
    [task, JSON.stringify([file('a.js', 10, 20)])],
  );
  expect(await change()).toMatchObject({ files: 1, additions: 10, deletions: 20, isTruncated: true });
  await sql(`update runs set status = 'cancelled' where id = 'run_held'`);
  expect(await change()).toMatchObject({ files: 2, additions: 7, deletions: 1, isTruncated: false });
});
