import type { ModelRequest } from '../../demo/model/model.ts';
import { chatAboutTask } from '../../src/runs/task-chat.ts';
import { getTask } from '../../src/tasks/store.ts';
import { openAppWithModel } from '../support/app.ts';

const { talk, model, service } = await openAppWithModel();
/** The token of a member. */
const ada = await service.token('ada');
const call = (token: string, method: string, path: string, body?: unknown, headers = {}) =>
  service.call(method, path, { token, headers, ...(body === undefined ? {} : { body }) });
const project: string = (await call(ada, 'POST', '/projects', { name: 'P' })).body.id;
const last = () => model.requests.at(-1) as ModelRequest;
const texts = ({ messages }: ModelRequest) => messages.map((m) => String(m.content));
const makeTask = async (title = 't') =>
  (await call(ada, 'POST', `/projects/${project}/tasks`, { title })).body.id as string;

test('the chat about a task knows its runs, checks, proof, diff, handoffs and neighbours', async () => {
  const first = await makeTask('First things');
  const task = (await call(ada, 'POST', `/projects/${project}/tasks`, { title: 'Second', dependsOn: [first] })).body.id;
  const { manager } = service.app.db;
  await manager.query(
    `insert into runs (id, task_id, project_id, kind, status, steps, failure)
     values ('run_facts', $1, $2, 'start', 'failed', 7, '{"category":"checks","message":"npm test failed","retryable":true}')`,
    [task, project],
  );
  await manager.query(`insert into run_events (run_id, type, text) values ('run_facts', 'check', 'npm test: failed')`);
  await manager.query(
    `insert into proofs (run_id, task_id, status, tests_changed, tests_removed, reason)
     values ('run_facts', $1, 'weakened', '["test/a.test.js"]', '[]', 'the earlier tests fail with this change')`,
    [task],
  );
  await manager.query(
    `insert into handoffs (id, task_id, run_id, summary, next_steps) values ('handoff_f', $1, 'run_facts', 'Half done', '["Write docs"]')`,
    [task],
  );
  const files = [
    {
      path: 'x.js',
      status: 'modified',
      additions: 1,
      deletions: 1,
      hunks: [{ oldStart: 1, newStart: 1, lines: ['-old', '+new'] }],
    },
  ];
  await manager.query(
    `insert into diffs (task_id, branch_name, base_branch, files, truncated, head_sha) values ($1, 'b', 'main', $2, false, 'c')`,
    [task, JSON.stringify(files)],
  );
  talk.says = () => 'Known.';
  await call(ada, 'POST', `/tasks/${task}/chat`, { message: 'Why?' });
  const prompt = texts(last()).join('\n');
  for (const fact of [
    'First things',
    '7 steps',
    'npm test: failed',
    'Tests were weakened',
    'test/a.test.js',
    'Half done; next: Write docs',
    'x.js (modified, +1 -1)',
    '+new',
  ])
    expect(prompt).toContain(fact);
});

test('the chat about a sprint knows owners, pull requests, handoffs, the digest and what was carried over', async () => {
  const sprintOf = async (name: string) =>
    (await call(ada, 'POST', `/projects/${project}/sprints`, { name, startDate: '2026-01-01', endDate: '2026-01-02' }))
      .body.id;
  const [early, late] = [await sprintOf('Early'), await sprintOf('Late')];
  const agents = (await call(ada, 'GET', `/agents?projectId=${project}`)).body;
  const owner = agents.find((agent: { name: string }) => agent.name === 'QA Engineer').id;
  const task = (await call(ada, 'POST', `/projects/${project}/tasks`, { title: 'Slow work', owner, sprintId: early }))
    .body.id;
  const { manager } = service.app.db;
  const url = 'https://github.com/o/r';
  const repository = (await call(ada, 'POST', '/repositories', { projectId: project, name: 'r', url })).body.id;
  await manager.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 77, 'https://github.com/o/r/pull/77', 'open', 'b', 'c')`,
    [task, repository],
  );
  await manager.query(
    `insert into runs (id, task_id, project_id, kind, status) values ('run_s', $1, $2, 'start', 'succeeded')`,
    [task, project],
  );
  await manager.query(
    `insert into handoffs (id, task_id, run_id, summary) values ('handoff_s', $1, 'run_s', 'Waits for a review')`,
    [task],
  );
  await manager.query(`update sprints set status = 'active', started_at = now() where id = $1`, [early]);
  expect((await call(ada, 'POST', `/sprints/${early}/complete`, { unfinished: late })).status).toBe(200);
  const promptOf = async (sprint: string) => {
    talk.says = () => 'See #77.';
    const { body } = await call(ada, 'POST', `/sprints/${sprint}/chat-with-dev-lead`, { message: 'What is left?' });
    expect(body.response).toBe('See [#77](https://github.com/o/r/pull/77).');
    return texts(last()).join('\n');
  };
  const ofLate = await promptOf(late);
  for (const fact of [
    'Slow work',
    'owner QA Engineer',
    'pull/77 (open)',
    'Waits for a review',
    `${task} from "Early"`,
    '## Forecast\nNone. A forecast needs 5 tasks',
  ])
    expect(ofLate).toContain(fact);
  const ofEarly = await promptOf(early);
  expect(ofEarly).toContain('## Digest');
  expect(ofEarly).toContain(`## Carried over to later sprints or the backlog\n- ${task}: Slow work`);
});

test('a comment tells what comes from another repository only to who may read it, also when its issue has gone', async () => {
  const { manager } = service.app.db;
  const [parent, task] = [await makeTask('Parent'), await makeTask('The secret part')];
  await manager.query(
    `update tasks set parent_id = $1, description = 'vault says so', text_repository_ids = '["repo_vault"]' where id = $2`,
    [parent, task],
  );
  const user = (await call(ada, 'GET', '/me')).body;
  const promptFor = async (id: string, mayRead: boolean) => {
    const comment = { hidesPrivate: false, mayTellOf: async (id: string) => mayRead || id !== 'repo_vault' };
    await chatAboutTask(service.app, await getTask(manager, id), { user, message: 'What is it?' }, comment);
    return texts(last()).join('\n');
  };
  expect(await promptFor(task, false)).not.toContain('vault says so');
  expect(await promptFor(task, true)).toContain('vault says so');
  expect(await promptFor(parent, false)).not.toContain('The secret part');
  expect(await promptFor(parent, true)).toContain('The secret part');
});
