import { type Said, textOf } from '../../../demo/model/model.ts';
import type { FailureCategory } from '../../../src/domain/run.ts';
import { openTestApp } from '../../support/app.ts';
import { openSuggestions, type Shown, worded } from './suggesting.ts';
import { storeTrial } from './trials.ts';

const { talk, model, given, em, call, newAgent, fail, suggestionsOf, wordedOf } = await openSuggestions();

/** Four kinds of failures, as messages of 40 runs. Two of them have one category. */
const kinds: [FailureCategory, (n: number) => string][] = [
  ['checks', (n) => `npm run lint still fails: src/part-${n}.ts:${n}:3 unused variable`],
  ['checks', (n) => `npm test still fails: expected ${n} greetings, got ${n + 1}`],
  ['push_rejected', (n) => `.github/workflows/part-${n}.yml is protected and was changed`],
  ['gave_up', (n) => `The description does not say which of ${n} services should change`],
];

test('40 failures of four kinds become four suggestions with evidence; asking again costs nothing', async () => {
  const agent = await newAgent();
  const runs = kinds.map(() => [] as string[]);
  for (let i = 0; i < 40; i++) {
    const [category, message] = kinds[i % 4] as (typeof kinds)[number];
    runs[i % 4]?.push(await fail(agent, category, message(i)));
  }
  talk.says = worded;
  const before = model.requests.length;
  const found: Shown[] = await wordedOf(agent);
  expect(found).toHaveLength(4);
  for (const [kind, [, message]] of kinds.entries()) {
    const named = found.find(({ evidence }) => evidence.includes(runs[kind]?.[0] ?? ''));
    expect([...(named?.evidence ?? [])].sort()).toEqual(runs[kind]?.sort());
    expect(named).toMatchObject({ priority: 'high', suggestion: expect.stringMatching(/^Mind this: /) });
    const said = Array.from({ length: 40 }, (_, n) => message(n));
    expect(named?.quotes).toHaveLength(1);
    for (const { text, runId, taskId, url } of named?.quotes ?? []) {
      expect(said).toContain(text);
      expect(url).toBe(`http://localhost:3000/tasks/${taskId}/runs/${runId}`);
    }
  }
  expect(JSON.stringify(found)).not.toContain('bored');
  expect(await wordedOf(agent)).toEqual(found);
  expect(model.requests.length).toBe(before + 1);
  await fail(agent, 'gave_up', 'The description does not say which of 99 services should change');
  const later: Shown[] = await wordedOf(agent);
  expect(later.map(({ evidence }) => evidence.length).sort()).toEqual([10, 10, 10, 11]);
  expect(model.requests.length).toBe(before + 2);
});

test.each<[string, Said]>([
  ['a text', 'Be better.'],
  ['another shape', [{ name: 'write_suggestions', arguments: { suggestions: [{ area: 1 }] } }]],
  [
    'too much',
    [
      {
        name: 'write_suggestions',
        arguments: { suggestions: [{ area: 'a', suggestion: 'x'.repeat(5000), groups: ['g1'] }] },
      },
    ],
  ],
  ['an error', { status: 400 }],
])('when the model answers %s, the suggestions are in our own words, and it is not asked again at once', async (_name, said) => {
  const agent = await newAgent();
  const run = await fail(agent, 'gave_up', 'It is unclear what to do');
  talk.says = () => said;
  const found = await wordedOf(agent);
  const asked = model.requests.length;
  expect(found).toEqual([
    {
      area: 'task description',
      suggestion: expect.stringContaining('Give more context'),
      priority: 'low',
      evidence: [run],
      quotes: [expect.objectContaining({ source: 'failure', runId: run, text: 'It is unclear what to do' })],
    },
  ]);
  expect(await wordedOf(agent)).toEqual(found);
  expect(model.requests.length).toBe(asked);
  await em().query(`update agent_suggestions set made_at = now() - interval '1 hour' where agent_id = $1`, [agent]);
  talk.says = worded;
  expect((await wordedOf(agent))[0].area).toBe('about g1');
});

test('an agent without runs, or with failures that are not its fault, has no suggestions and asks no model', async () => {
  const agent = await newAgent();
  const before = model.requests.length;
  expect(await suggestionsOf(agent)).toEqual([]);
  await fail(agent, 'auth', 'The key is wrong');
  await given.set(em(), await fail(agent, 'gave_up', 'It is long ago'), { created_at: `now() - interval '91 days'` });
  expect(await wordedOf(agent)).toEqual([]);
  expect(model.requests.length).toBe(before);
});

test('requests for changes and failed checks are evidence about the run before them', async () => {
  const agent = await newAgent();
  talk.says = () => 'Sorry.';
  const worked = async () => {
    const run = await given.addRun(em(), { agentId: agent, status: 'succeeded', finishedAt: new Date() });
    await given.set(em(), run, { created_at: `now() - interval '1 hour'` });
    return (await em().query('select id, task_id as "taskId" from runs where id = $1', [run]))[0];
  };
  let revisions = 0;
  const insert = 'insert into revisions (id, task_id, source, text) values ($1, $2, $3, $4)';
  const ask = (taskId: string, source: string, text: string) =>
    em().query(insert, [`rev_${++revisions}`, taskId, source, text]);
  const [first, second, third] = [await worked(), await worked(), await worked()];
  await ask(first.taskId, 'review', 'Name the variable better.');
  await ask(second.taskId, 'person', 'Please add a test.');
  await ask(third.taskId, 'checks', 'The checks of commit 0a1b2c3 failed: lint. Fix the cause.');
  await ask(third.taskId, 'conflict', 'The branch conflicts with main.');
  // The run that answers a request is later than the request.
  await given.addRun(em(), {
    taskId: first.taskId,
    agentId: agent,
    kind: 'revise',
    createdAt: new Date(Date.now() + 1000),
  });
  const found: Shown[] = await suggestionsOf(agent);
  expect(found.map(({ area, evidence }) => [area, [...evidence].sort()])).toEqual([
    ['review', [first.id, second.id].sort()],
    ['testing', [third.id]],
  ]);
  expect(found[0]?.quotes.map(({ text }) => text).sort()).toEqual(['Name the variable better.', 'Please add a test.']);
  const { body } = await call('POST', `/agents/${agent}/evolve`, { newSystemPrompt: 'Be better.' });
  expect(await suggestionsOf(body.id)).toHaveLength(2);
  expect(await suggestionsOf(body.id, '?version=1')).toHaveLength(2);
  expect(await suggestionsOf(body.id, '?version=2')).toEqual([]);
  expect((await call('GET', `/agents/${agent}/suggestions?version=x`)).status).toBe(400);
});

test('what the hidden tests of a trial found is evidence about its run', async () => {
  const agent = await newAgent();
  talk.says = () => 'Sorry.';
  const [solved, unsolved] = await storeTrial(given, {
    arms: [agent],
    results: [['solved'], ['unsolved']],
    reason: 'npm test fails: expected 3, got 4',
  });
  const found: Shown[] = await suggestionsOf(agent);
  expect(found.map(({ area, evidence }) => [area, evidence])).toEqual([['testing', [unsolved]]]);
  expect(found[0]?.quotes[0]?.text).toBe('npm test fails: expected 3, got 4');
  expect(solved).not.toBe(unsolved);
});

test('secrets are removed from evidence before a model or a person reads it', async () => {
  const agent = await newAgent();
  const token = 'q7Xw2LmZ9Kt4Bv8Rn1Yc6Hd3';
  expect((await call('POST', `/projects/${given.projectId}/model-token`, { token })).status).toBe(200);
  await fail(agent, 'gave_up', `The server refused ${token}. ${'x'.repeat(3950)} ${token} sk-x`);
  talk.says = worded;
  const found = JSON.stringify(await wordedOf(agent));
  expect(found).toContain('The server refused [a credential was removed]');
  for (const text of [found, ...model.requests.map(textOf)]) expect(text).not.toContain('q7Xw2L');
});

test('evidence comes only from projects of the caller', async () => {
  const agent = await newAgent();
  await fail(agent, 'gave_up', 'A secret of this project');
  const other = await given.service.token('guest');
  const { id } = (await call('POST', '/projects', { name: 'Shared' })).body;
  await call('POST', `/projects/${id}/members`, { login: 'guest' });
  await call('POST', `/projects/${id}/tasks`, { title: 't', owner: agent });
  expect((await call('GET', `/agents/${agent}/suggestions`, undefined, other)).body).toEqual({ suggestions: [] });
});

test('without a model the suggestions are sentences of our own', async () => {
  const plain = await openTestApp({ OPENAI_MODEL: 'm' });
  try {
    const token = await plain.token('octocat');
    const project = (await plain.call('POST', '/projects', { token, body: { name: 'P' } })).body.id;
    const [agent] = (await plain.call('GET', '/agents', { token })).body;
    await plain.app.db.manager.query(
      `insert into tasks (id, project_id, title, status) values ('task_1', $1, 't', 'ready')`,
      [project],
    );
    await plain.app.db.manager.query(
      `insert into runs (id, task_id, project_id, agent_id, kind, status, failure, finished_at)
       values ('run_1', 'task_1', $1, $2, 'start', 'failed', '{"category":"budget","message":"out of steps"}', now())`,
      [project, agent.id],
    );
    const { suggestions } = (await plain.call('GET', `/agents/${agent.id}/suggestions`, { token })).body;
    expect(suggestions).toMatchObject([{ area: 'focus', evidence: ['run_1'], quotes: [{ text: 'out of steps' }] }]);
  } finally {
    await plain.close();
  }
});
