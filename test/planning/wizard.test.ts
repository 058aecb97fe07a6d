import type { Said } from '../../demo/model/model.ts';
import { openPlanning } from '../support/planning.ts';
import { planner, plans } from '../support/stand-ins/planner.ts';

const given = await openPlanning();
const { call, wizard, begin, answer, answerAll } = given;

test('from a goal through questions, requirements and a plan to tasks', async () => {
  const start = await wizard('initialize', { goal: 'Greet people by their name' });
  expect([start.status, start.body]).toEqual([
    201,
    {
      sessionId: expect.stringMatching(/^wiz_/),
      currentStep: {
        id: expect.stringMatching(/^step_[0-9a-z]{26}$/),
        question: 'Which languages are greeted in?',
        options: [
          { id: expect.stringMatching(/_1$/), label: 'English' },
          { id: expect.stringMatching(/_2$/), label: 'All of the interface' },
        ],
      },
    },
  ]);
  const { sessionId } = start.body;
  const { asked, session } = await answerAll(sessionId, start.body.currentStep);
  expect(new Set(asked).size).toBe(3);
  const [, , last] = asked;
  expect(session).toMatchObject({
    sessionId,
    status: 'answered',
    goal: 'Greet people by their name',
    repositoryId: null,
    currentStep: null,
    prd: null,
    plan: null,
    tasks: null,
  });
  expect(session.answers[2]).toMatchObject({
    stepId: last,
    question: 'By when?',
    selectedOptionIds: [`${last}_1`],
    customText: `about ${last}`,
  });
  expect((await wizard('generate-prd')).body).toMatchObject({ status: 'prd_ready', prd: plans.write_prd });
  expect((await wizard('generate-plan', { sessionId })).body).toMatchObject({
    status: 'plan_ready',
    plan: plans.write_plan,
  });
  const tasks = (await wizard('generate-tasks', { sessionId })).body.tasks;
  const full = await Promise.all(
    tasks.map(async (t: { owner: string | null }) =>
      t.owner === null ? null : (await call('GET', `/agents/${t.owner}`)).body.name,
    ),
  );
  expect(full).toEqual(['Developer', 'Technical Writer', null]);
});

test('a planned session is finalized once, into a sprint with its tasks in order', async () => {
  const { sessionId, currentStep } = await begin();
  await answerAll(sessionId, currentStep);
  for (const part of ['prd', 'plan', 'tasks']) await wizard(`generate-${part}`);
  const made = await wizard(`${sessionId}/finalize`, { name: 'Greeting', startDate: '2026-04-01' });
  const { body: records } = await call('GET', `/projects/${given.project}/audit`);
  const ofFinalize = records.filter(({ action }: { action: string }) => action === 'wizard.finalize');
  expect(ofFinalize.map(({ detail }: { detail: object }) => detail)).toEqual([
    expect.objectContaining({ status: ['tasks_ready', 'finalized'] }),
  ]);
  expect([made.status, made.body]).toEqual([
    201,
    {
      sprint: { id: expect.stringMatching(/^sprint_/), name: 'Greeting' },
      tasks: ['Greet by name', 'Describe it', 'Other languages'].map((title) => ({
        id: expect.stringMatching(/^task_/),
        title,
      })),
    },
  ]);
  const [core, docs, i18n] = made.body.tasks.map((t: { id: string }) => t.id);
  expect((await call('GET', `/tasks/${i18n}`)).body).toMatchObject({
    dependsOn: [core, docs].sort(),
    sprintId: made.body.sprint.id,
    status: 'backlog',
  });
  expect((await call('GET', `/sprints/${made.body.sprint.id}`)).body).toMatchObject({
    status: 'planning',
    startDate: '2026-04-01T00:00:00.000Z',
    endDate: '2026-04-14T00:00:00.000Z',
    taskCount: 3,
    goal: 'Greet people by their name',
  });
  expect((await call('POST', `/sprints/${made.body.sprint.id}/start`)).body.status).toBe('active');
  const again = await wizard(`${sessionId}/finalize`, { name: 'Another' });
  expect([again.status, again.body]).toEqual([200, made.body]);
  expect((await call('GET', `/projects/${given.project}/wizard/${sessionId}`)).body.status).toBe('finalized');
  expect((await answer(sessionId, currentStep)).status).toBe(409);
});

test('two simultaneous requests finalize a session once', async () => {
  const { sessionId, currentStep } = await begin();
  await answerAll(sessionId, currentStep);
  for (const part of ['prd', 'plan', 'tasks']) await wizard(`generate-${part}`);
  const answers = await Promise.all([1, 2, 3].map(() => wizard(`${sessionId}/finalize`)));
  expect(answers.map((a) => a.status).sort()).toEqual([200, 200, 201]);
  expect(new Set(answers.map((a) => a.body.sprint.id)).size).toBe(1);
  expect((await call('GET', `/projects/${given.project}/sprints`)).body).toHaveLength(1);
});

test('answering an earlier question again, or regenerating a document, discards what followed', async () => {
  const { sessionId, currentStep } = await begin();
  const [first, second, third] = (await answerAll(sessionId, currentStep)).asked;
  for (const part of ['prd', 'plan', 'tasks']) await wizard(`generate-${part}`);
  const again = (await wizard('generate-prd', { feedback: 'Shorter, please' })).body;
  expect(again).toMatchObject({ status: 'prd_ready', plan: null, tasks: null });
  const told = JSON.stringify(given.model.requests.at(-1)?.messages);
  for (const said of ['Shorter, please', 'Greeting by name', `about ${second}`]) expect(told).toContain(said);
  const back = (await answer(sessionId, { id: `${second}`, options: [{ id: `${second}_2`, label: '' }] })).body;
  expect(back).toMatchObject({ status: 'collecting', prd: null, tasks: null });
  // Ticks for a question that was asked before the rewrite cannot hit the one that took its place.
  expect(back.currentStep.id).not.toBe(third);
  expect(back.previous).toMatchObject({ prd: plans.write_prd, plan: plans.write_plan });
  expect(back.answers.map((a: { stepId: string }) => a.stepId)).toEqual([first, second]);
});

test('a step out of order, an unknown id and an ambiguous session are refused, and nothing changes', async () => {
  expect((await wizard('generate-prd')).body.message).toBe(
    'The project has no open planning session. Start one, or give the sessionId of the one you mean.',
  );
  const { sessionId, currentStep } = await begin();
  expect((await wizard('generate-prd')).body.message).toMatch(
    /^Only a planning session that has all answers, .*; this one still has open questions\.$/,
  );
  expect((await wizard('generate-tasks', { sessionId })).status).toBe(409);
  expect((await wizard(`${sessionId}/finalize`)).status).toBe(409);
  const bad = async (given: object) => (await wizard(`${sessionId}/answer`, { answer: given })).body.message;
  expect(await bad({ stepId: 'nope', customText: 'x' })).toContain('no step nope in this session');
  expect(await bad({ stepId: currentStep.id, selectedOptionIds: ['step_99'] })).toContain('no option step_99');
  expect(await bad({ stepId: currentStep.id })).toContain('must not be empty');
  expect(await bad({ stepId: currentStep.id, customText: '  ' })).toContain('must not be empty');
  await begin();
  expect((await wizard('generate-prd')).body.message).toContain('several open planning sessions');
  const foreign = (await call('POST', '/projects', { name: 'Q' })).body.id;
  const other = (await call('POST', `/projects/${foreign}/wizard/initialize`, { goal: 'g' })).body.sessionId;
  for (const id of [other, 'wiz_nope'])
    expect((await wizard('generate-prd', { sessionId: id })).body).toEqual({
      statusCode: 404,
      message: `Wizard session ${id} not found`,
    });
  expect((await call('GET', `/projects/${given.project}/wizard/${other}`)).status).toBe(404);
  expect((await call('GET', `/projects/${given.project}/wizard/${sessionId}`)).body).toMatchObject({
    status: 'collecting',
    answers: [],
    currentStep,
  });
});

test('after three invalid answers from the model the reply is a 502 and nothing changes; a valid third answer is used', async () => {
  const { sessionId, currentStep } = await begin();
  await answerAll(sessionId, currentStep);
  const nonsense: Said[] = [
    'I would rather talk.',
    [{ name: 'write_prd', arguments: { title: '' } }],
    [{ name: 'write_prd', arguments: { title: 'x', markdown: ' \n' } }],
  ];
  const before = given.model.requests.length;
  given.says = () => nonsense[(given.model.requests.length - before - 1) % 3] as Said;
  const failed = await wizard('generate-prd');
  expect([failed.status, given.model.requests.length - before]).toEqual([502, 3]);
  expect((await call('GET', `/projects/${given.project}/wizard/${sessionId}`)).body).toMatchObject({
    status: 'answered',
    prd: null,
  });
  let tries = 0;
  given.says = (request) => (++tries < 3 ? 'Hm.' : planner(request));
  expect((await wizard('generate-prd')).status).toBe(200);
  const circle = {
    tasks: [
      { ref: 'a', title: 'a', description: '', dependsOn: ['b'] },
      { ref: 'b', title: 'b', description: '', dependsOn: ['a'] },
    ],
  };
  given.says = planner;
  await wizard('generate-plan');
  given.says = () => [{ name: 'write_tasks', arguments: circle }];
  expect((await wizard('generate-tasks')).status).toBe(502);
  expect(JSON.stringify(given.model.requests.at(-1)?.messages)).toContain('depend on each other in a cycle');
});

test('a session has at most nine questions, however many the model wants to ask', async () => {
  given.says = () => [
    { name: 'ask_question', arguments: { question: 'And more?', options: ['Yes', 'No'], done: false } },
  ];
  const { sessionId, currentStep } = await begin();
  expect((await answerAll(sessionId, currentStep)).asked).toHaveLength(9);
});

test('without a model the wizard asks its five default questions, and generating is a 503', async () => {
  const name = given.service.app.config.OPENAI_MODEL;
  given.service.app.config.OPENAI_MODEL = '';
  try {
    const { sessionId, currentStep } = await begin();
    expect((await answerAll(sessionId, currentStep)).asked).toHaveLength(5);
    expect((await wizard('generate-prd')).status).toBe(503);
  } finally {
    given.service.app.config.OPENAI_MODEL = name;
  }
});
