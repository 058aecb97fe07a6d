import { openProject } from '../support/project.ts';
import { openPersons } from './command.ts';

const { service, token, project, call, createProject } = await openProject();
const openPerson = openPersons();
const person = openPerson({ DECKHAND_URL: service.url, DECKHAND_TOKEN: token });
const { run, json } = person;
let task: { id: string };
beforeAll(async () => {
  task = await json('task', 'create', 'Greet by name', '--description', 'Say hello');
});

test('task create makes a task with all its fields', async () => {
  expect(task).toMatchObject({
    title: 'Greet by name',
    description: 'Say hello',
    status: 'backlog',
    projectId: project,
  });
  const [agent] = (await call('GET', `/agents?projectId=${project}`)).body;
  const options = ['--agent', agent.name.toUpperCase(), '--plan-first', '--depends-on', task.id.slice(-8)];
  expect(await json('task', 'create', 'Second', ...options)).toMatchObject({
    owner: agent.id,
    planFirst: true,
    dependsOn: [task.id],
  });
  const typed = await run(['task', 'create', 'Third', '-d', '-'], { stdin: 'From a file' });
  expect(typed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^Created task_\w+ {2}backlog/) });
  const list = await json('task', 'list', '--limit', '1');
  expect(list).toEqual([expect.objectContaining({ title: 'Third', description: 'From a file' })]);
});

test('what the service refuses ends with 1, says why, and is JSON for programs', async () => {
  const plain = await run(['task', 'create', 'x'.repeat(300)]);
  expect(plain).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^deckhand: .*title/s) });
  const { code, stdout, stderr } = await run(['task', 'start', task.id, '--json']);
  expect([code, stdout]).toEqual([1, '']);
  expect(JSON.parse(stderr)).toEqual({ error: { status: 409, message: expect.any(String), errors: [] } });
  for (const args of [
    ['task', 'create', 'x', '--agent', 'Nobody'],
    ['task', 'create', 'x', '--repository', 'nothing'],
    ['task', 'create', 'x', '--depends-on', 'task_00000000000000000000000000'],
    ['task', 'create', 'x', '--start'],
    ['task', 'start', 'task_00000000000000000000000000'],
    ['task', 'show', 'zzzzzzzz'],
    ['task', 'watch', 'task_00000000000000000000000000'],
    ['task', 'say', task.id, 'hello'],
    ['task', 'approve', task.id],
    ['task', 'approve', task.id, '--id', 'other'],
    ['task', 'merge', task.id],
    ['task', 'merge', task.id, '--when-ready'],
    ['task', 'cancel', task.id],
    ['task', 'resume', task.id],
    ['task', 'revise', task.id, 'change'],
    ['task', 'retry', task.id],
    ['inbox', '--project', 'other'],
    ['run', 'logs', task.id],
    ['run', 'logs', 'run_00000000000000000000000000'],
    ['run', 'logs', '-f', 'run_00000000000000000000000000'],
    ['open', task.id],
  ]) {
    const ended = await run(args);
    expect([args, ended]).toEqual([
      args,
      { code: 1, stdout: '', stderr: expect.stringMatching(/^deckhand: .*[^:]\n$/s) },
    ]);
    expect(ended.stderr).not.toMatch(/\n\s+at |undefined|\[object/);
    expect(ended.stderr).not.toContain(token);
  }
});

test('a task that is created and cannot start is named, so that nobody creates it twice', async () => {
  const plain = await run(['task', 'create', 'Without an agent', '--start']);
  const [{ id }] = await json('task', 'list', '--limit', '1');
  const message = `${id} was created, but does not start: `;
  expect(plain).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(`deckhand: ${message}`) });
  const { stderr } = await run(['task', 'create', 'After another', '--depends-on', task.id, '--start', '--json']);
  const [second] = await json('task', 'list', '--limit', '1');
  expect(JSON.parse(stderr).error).toMatchObject({ status: 409, message: expect.stringContaining(second.id) });
});

test('watch ends with 1 when nothing was started', async () => {
  const { code, stdout } = await run(['task', 'watch', task.id]);
  expect([code, stdout]).toEqual([1, expect.stringContaining(`Not started.\n→ deckhand task start ${task.id}`)]);
});

test('wrong usage ends with 2 and asks nothing of the service', async () => {
  const offline = openPerson({ DECKHAND_URL: 'http://127.0.0.1:1', DECKHAND_TOKEN: token });
  for (const args of [
    [],
    ['nope'],
    ['task'],
    ['task', 'nope'],
    ['task', 'create'],
    ['task', 'create', 'a', 'b'],
    ['task', 'start'],
    ['task', 'watch'],
    ['task', 'say', task.id],
    ['task', 'approve'],
    ['task', 'merge', task.id, '--never'],
    ['task', 'list', '--status', 'lost'],
    ['task', 'list', '--limit', '1e3'],
    ['inbox', 'extra'],
    ['run', 'logs'],
    ['quote'],
    ['open'],
    ['completion'],
    ['completion', 'fish'],
    ['logout', 'now'],
    ['inbox', '--ca', '/nowhere.pem'],
  ])
    expect([args, (await offline.run(args)).code]).toEqual([args, 2]);
  const { stderr } = await offline.run(['task', 'nope', '--json']);
  expect(JSON.parse(stderr)).toEqual({ error: { status: null, message: expect.stringContaining('nope'), errors: [] } });
});

test('help is printed with examples, for every command', async () => {
  for (const args of [['help'], ['--help'], ['help', 'task', 'create'], ['run', 'logs', '--help'], ['help', 'inbox']]) {
    const { code, stdout, stderr } = await run(args);
    expect([args, code, stderr]).toEqual([args, 0, '']);
    expect(stdout).toContain('Examples:\n  $ deckhand ');
  }
});

test('a task is found by a unique end of its id, and an end of several is refused', async () => {
  expect(await json('task', 'show', task.id.slice(-5))).toMatchObject({ id: task.id, pullRequests: [] });
  const ids = ['task_00000000000000000000aaaaaa', 'task_00000000000000000001aaaaaa'];
  for (const id of ids)
    await service.app.db.manager.query(
      `insert into tasks (id, project_id, title, status) values ($1, $2, 'Twin', 'backlog')`,
      [id, project],
    );
  expect(await run(['task', 'show', 'aaaaaa'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(ids[0] ?? ''),
  });
  expect(await json('task', 'show', '1aaaaaa')).toMatchObject({ id: ids[1] });
  // Three letters could be those of any task.
  expect((await run(['task', 'show', task.id.slice(-3)])).code).toBe(1);
});

test('text of people and models reaches no terminal as an order', async () => {
  const hostile = 'a\x1b[2Jb\x1b]0;title\x07c\x9b31md\u202ee\u200bf\rg\x7fh';
  const made = await call('POST', `/projects/${project}/tasks`, {
    title: hostile,
    description: `${hostile}\n${hostile}`,
  });
  expect(made.status).toBe(201);
  const { id } = made.body;
  for (const args of [
    ['task', 'show', id],
    ['task', 'list'],
    ['task', 'show', id, '--json'],
    ['task', 'list', '--json'],
  ]) {
    const { code, stdout } = await run(args);
    expect([args, code]).toEqual([args, 0]);
    expect(stdout).toMatch(/a/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]/);
  }
  expect(await json('task', 'show', id)).toMatchObject({ title: made.body.title });
  const { stderr } = await run(['task', 'show', 'zz\x1b[2Jzz']);
  expect(stderr).not.toContain('\x1b');
});

test('the inbox names what to do about each entry', async () => {
  const failed = (await call('POST', `/projects/${project}/tasks`, { title: 'Broken' })).body.id;
  const failure = { category: 'gave_up', message: 'which \x1b[31mfile?', retryable: false };
  await service.app.db.manager.query('update tasks set failure = $2 where id = $1', [failed, failure]);
  const entries = await json('inbox');
  expect(entries).toEqual([expect.objectContaining({ taskId: failed, reason: 'failed' })]);
  const { stdout } = await run(['inbox', '--project', project]);
  expect(stdout).toContain(`→ deckhand task retry ${failed}`);
  expect(stdout).toContain('which file?');
  const other = await createProject();
  expect(await json('inbox', '--project', other)).toEqual([]);
  // Now there are two projects with this name, and the only one is not clear any more.
  expect(await run(['task', 'list'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--project') });
  expect(await run(['task', 'list', '--project', 'P'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(other),
  });
  expect(await json('task', 'list', '--project', other.slice(-6))).toEqual([]);
});
