import type { Said } from '../../demo/model/model.ts';
import { openPlanning } from '../support/planning.ts';
import { planner, plans } from '../support/stand-ins/planner.ts';

const given = await openPlanning({ ALLOW_PRIVATE_HOSTS: 'true' });
const { call, wizard, session, planned } = given;
const connect = async (name: string, projectId = given.project): Promise<string> =>
  (await call('POST', '/repositories', { projectId, name, url: `https://127.0.0.1:1/o/${name}` })).body.id;
const saying =
  (name: string, args: object): (() => Said) =>
  () => [{ name, arguments: args }];
const task = (ref: string, more: object = {}) => ({ ref, title: `Do ${ref}`, description: '', dependsOn: [], ...more });
const tasks = (count: number, more: object = {}) => ({
  tasks: Array.from({ length: count }, (_, i) => task(`t${i}`, more)),
});
const phases = (count: number) => ({ phases: Array(count).fill({ name: 'Core', goal: 'Greet', reason: 'First' }) });
const nouns = { prd: 'requirements document', plan: 'plan', tasks: 'list of tasks' };
const tooLong = tasks(100, { description: 'x'.repeat(4000) });
const before = { prd: [], plan: ['prd'], tasks: ['prd', 'plan'] };

test.each<[string, 'prd' | 'plan' | 'tasks', object, string, string]>([
  ['300 tasks', 'tasks', tasks(300), '<=100 items', 'tasks must have at most 100 entries'],
  [
    'tasks that are too long together',
    'tasks',
    tooLong,
    'shorten their',
    `tasks must have at most 300000 characters together, and these have ${JSON.stringify(tooLong.tasks).length}; shorten their descriptions`,
  ],
  [
    'a task that depends on a task of another project',
    'tasks',
    { tasks: [task('a', { dependsOn: ['task_x'] })] },
    'no task',
    'tasks must depend only on each other',
  ],
  [
    'a task that depends on itself',
    'tasks',
    { tasks: [task('a', { dependsOn: ['a'] })] },
    'in a cycle: a',
    'tasks must not depend on each other in a cycle',
  ],
  [
    'one ref for two tasks',
    'tasks',
    { tasks: [task('a'), task('a')] },
    'a ref of their own',
    'tasks must each have a ref of their own',
  ],
  [
    'a ref that is too long',
    'tasks',
    { tasks: [task('r'.repeat(256), { title: 'Greet' })] },
    '<=255 characters',
    'tasks.0.ref must have at most 255 characters',
  ],
  [
    'a requirements document that is too long',
    'prd',
    { title: 'T', markdown: 'x'.repeat(50_001) },
    '<=50000 characters',
    'markdown must have at most 50000 characters',
  ],
  [
    'a title that is too long',
    'prd',
    { title: 'T'.repeat(501), markdown: 'x' },
    '<=500 characters',
    'title must have at most 500 characters',
  ],
  ['300 phases', 'plan', phases(300), '<=20 items', 'phases must have at most 20 entries'],
  ['one phase instead of a list', 'plan', { phases: { name: 'Core' } }, 'expected array', 'phases must be a list'],
  ['no phases at all', 'plan', {}, 'expected array', 'phases is required'],
])('%s: the model gets the problem, and people get the reason after three attempts', async (_what, part, bad, problem, reason) => {
  const id = await planned(before[part]);
  const unchanged = await session(id);
  const asked = given.model.requests.length;
  given.says = saying(`write_${part}`, bad);
  const { status, body } = await wizard(`generate-${part}`);
  expect([status, body.message]).toEqual([
    502,
    `The model did not return a valid ${nouns[part]} after 3 attempts. The last one was refused: ${reason}. Try again or choose another model.`,
  ]);
  expect(given.model.requests.length).toBe(asked + 3);
  expect(String(given.model.requests.at(-1)?.messages.at(-1)?.content)).toContain(problem);
  expect(await session(id)).toEqual(unchanged);
  // A model that heeds the reason is done with its second answer.
  let attempts = 0;
  given.says = (request) => (++attempts === 1 ? saying(`write_${part}`, bad)() : planner(request));
  expect((await wizard(`generate-${part}`)).status).toBe(200);
});

test('the reason for people does not quote the model, and is short', async () => {
  const id = await planned(['prd', 'plan']);
  const refused = async (said: Said) => {
    given.says = () => said;
    return (await wizard('generate-tasks', { sessionId: id })).body.message;
  };
  const start = 'The model did not return a valid list of tasks after 3 attempts. The last one was refused: ';
  const end = '. Try again or choose another model.';
  expect(await refused('hunter2: I would rather not.')).toBe(`${start}it contains no list of tasks${end}`);
  const secret = { tasks: [task('hunter2', { dependsOn: ['hunter2'] }), task('b', { dependsOn: ['hunter3'] })] };
  expect(await refused([{ name: 'write_tasks', arguments: secret }])).not.toContain('hunter');
  const everything = { tasks: Array(100).fill({ ref: 1, title: 2, description: 3, dependsOn: 4 }) };
  const long = await refused([{ name: 'write_tasks', arguments: everything }]);
  expect(long).toMatch(/refused: tasks\.0\.ref must be a string; tasks\.0\.title must be a string; .*…\. Try again/);
  expect(long.length).toBeLessThanOrEqual(start.length + 200 + end.length);
});

test('a plan in another language is kept as it is, can be sent back and becomes a sprint', async () => {
  const said: Record<string, object> = {
    ask_question: { question: '何語で挨拶しますか？', options: ['日本語', 'العربية'], done: false },
    write_prd: { title: '名前で挨拶する 👋', markdown: '# 名前で挨拶する\n\nمرحبا، شالوم שלום.' },
    write_plan: { phases: [{ name: '第一段階', goal: '名前', reason: '基礎' }] },
    write_tasks: {
      tasks: [task('核心', { title: '名前で挨拶する', owner: '開発者' }), task('文書', { dependsOn: ['核心'] })],
    },
  };
  given.says = (request) => {
    const name = request.tool_choice?.function.name ?? '';
    const isDone = name === 'ask_question' && JSON.stringify(request.messages).includes('何語');
    return saying(name, isDone ? { question: '', options: [], done: true } : (said[name] ?? {}))();
  };
  const id = await planned();
  const { prd, plan, tasks: written, updatedAt, answers } = await session(id);
  expect([prd, plan]).toEqual([said.write_prd, said.write_plan]);
  expect(answers[0].question).toBe('何語で挨拶しますか？');
  expect(written[0]).toMatchObject({ ref: '核心', owner: null });
  const path = `/projects/${given.project}/wizard/${id}`;
  expect((await call('PATCH', path, { prd, plan, tasks: written, updatedAt })).status).toBe(200);
  const made = await wizard(`${id}/finalize`);
  expect([made.status, made.body.sprint.name]).toEqual([201, '名前で挨拶する 👋']);
  expect((await call('GET', `/tasks/${made.body.tasks[1].id}`)).body.dependsOn).toEqual([made.body.tasks[0].id]);
});

test('agents and repositories of other projects are left out of a plan, by id and by name', async () => {
  const other = (await call('POST', '/projects', { name: 'Q' })).body.id;
  const [{ id: theirs }] = (await call('GET', `/agents?projectId=${other}`)).body;
  expect((await call('PATCH', `/agents/${theirs}`, { name: 'Spy' })).status).toBe(200);
  const elsewhere = await connect('secret', other);
  const id = await planned(['prd', 'plan']);
  await connect('own');
  given.says = saying('write_tasks', {
    tasks: [
      task('a', { owner: theirs, ownerReason: 'It fits.', repository: elsewhere }),
      task('b', { owner: 'Spy', repository: 'secret' }),
      task('c', { owner: 'Developer', repository: 'OWN' }),
    ],
  });
  const { body } = await wizard('generate-tasks', { sessionId: id });
  const nothing = { owner: null, ownerReason: null, repositoryId: null };
  expect(body.tasks).toMatchObject([nothing, nothing, { owner: expect.any(String), repositoryId: expect.any(String) }]);
  const prompt = JSON.stringify(given.model.requests.at(-1)?.messages);
  for (const foreign of ['Spy', 'secret']) expect(prompt).not.toContain(foreign);
});

test('the model gets all of a feedback of 10,000 characters, and longer feedback is refused', async () => {
  await planned(['prd']);
  const feedback = `${'word '.repeat(1999)}end. `;
  expect(feedback).toHaveLength(10_000);
  expect((await wizard('generate-prd', { feedback })).status).toBe(200);
  expect(JSON.stringify(given.model.requests.at(-1)?.messages)).toContain(feedback.trim());
  const asked = given.model.requests.length;
  const refused = await wizard('generate-prd', { feedback: `${feedback}x` });
  expect([refused.status, refused.body.message]).toEqual([400, 'feedback must have at most 10000 characters']);
  expect(given.model.requests.length).toBe(asked);
});

const changed = 'Somebody else changed this planning session. Reload to see their changes.';

test('an edit made while a part is generated stays, and the request for that part gets 409', async () => {
  const id = await planned(['prd', 'plan']);
  const { updatedAt } = await session(id);
  const prd = { title: 'By hand', markdown: 'Greet everybody.' };
  given.meanwhile = async () => {
    const path = `/projects/${given.project}/wizard/${id}`;
    expect((await call('PATCH', path, { prd, updatedAt })).status).toBe(200);
  };
  const refused = await wizard('generate-plan');
  expect([refused.status, refused.body.message]).toEqual([409, changed]);
  expect(await session(id)).toMatchObject({ status: 'plan_ready', prd, plan: plans.write_plan });
});

test('when two people answer a question at once, the first answer counts and the second gets 409', async () => {
  const { sessionId, currentStep } = await given.begin();
  given.meanwhile = async () => expect((await given.answer(sessionId, currentStep, 'first')).status).toBe(200);
  const second = await given.answer(sessionId, currentStep, 'second');
  expect([second.status, second.body.message]).toEqual([409, changed]);
  const { answers } = await session(sessionId);
  expect(answers).toMatchObject([{ stepId: currentStep.id, customText: 'first' }]);
});

test('a repository that is removed while the tasks are written is left out, and the plan can be approved', async () => {
  const id = await planned(['prd', 'plan']);
  const [api, docs] = [await connect('api'), await connect('docs')];
  // As if they had been chosen at the start, and could not be read.
  const chosen = `update wizard_sessions set repository_ids = $2, repository_notes = '' where id = $1`;
  await given.service.app.db.manager.query(chosen, [id, JSON.stringify([api, docs])]);
  given.says = saying('write_tasks', { tasks: [task('a', { repository: 'api' }), task('b', { repository: 'docs' })] });
  given.meanwhile = async () => expect((await call('DELETE', `/repositories/${api}`)).status).toBe(204);
  const { status, body } = await wizard('generate-tasks', { sessionId: id });
  expect([status, body.repositoryIds, body.tasks.map((t: { repositoryId: string }) => t.repositoryId)]).toEqual([
    200,
    [docs],
    [null, docs],
  ]);
  expect((await call('DELETE', `/repositories/${docs}`)).status).toBe(204);
  // Without any repository the plan can still be changed and approved.
  given.says = planner;
  expect((await wizard('generate-plan')).status).toBe(200);
  expect((await wizard('generate-tasks')).body).toMatchObject({ repositoryIds: [], repositoryId: null });
  const made = await wizard(`${id}/finalize`);
  expect(made.status).toBe(201);
  expect((await call('GET', `/tasks/${made.body.tasks[0].id}`)).body.repositoryId).toBeNull();
});
