import { until } from '../../demo/real-service.ts';
import { architect } from '../support/stand-ins/architect.ts';
import { isThorough } from '../support/thorough.ts';
import { openWorld, type World } from '../support/world.ts';

interface Session {
  sessionId: string;
  status: string;
  updatedAt: string;
  sprintId: string | null;
  currentStep: { id: string; question: string; options: { id: string }[] } | null;
  prd: { title: string; markdown: string } | null;
  tasks: { title: string; owner: string; ownerReason: string; repositoryId: string }[];
  previous: { prd: { markdown: string } | null };
}

let world: World;
beforeAll(async () => {
  world = await openWorld(architect, { seed: { more: ['Docs'] }, settings: { SANDBOX: 'off' } });
  await until('both repositories', async () => (await repositories()).length === 2);
});
afterAll(() => world.close());

const repositories = () => world.get<{ id: string; name: string }[]>('/repositories');
const wizard = <T = Session>(method: string, path = '', body?: object) =>
  world.service.api<T>(world.token, method, `/projects/${world.project.id}/wizard${path}`, body);

/** Stops the service, as a deployment does, and starts it again. */
async function restart(): Promise<void> {
  await world.service.stop();
  await world.restart();
}

/** Restarts the service where a thorough run does: a restart takes longer than the step that it precedes. */
const mayRestart = isThorough ? restart : async () => {};
const where = isThorough ? 'at each step' : 'at some steps';

/** Generates a part as a stream. Returns the text as it came, and the session at the end. */
async function streamed(part: string, body: object): Promise<{ text: string; read: string[]; session: Session }> {
  const response = await fetch(`${world.service.url}/api/v1/projects/${world.project.id}/wizard/generate-${part}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${world.token}`,
      Accept: 'text/event-stream',
      'Content-Type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const events = (await response.text()).split('\n\n').flatMap((each) => {
    const [, event, data] = /^event: (\w+)\ndata: (.*)$/m.exec(each) ?? [];
    return event === undefined ? [] : [{ event, data: JSON.parse(data ?? 'null') }];
  });
  const texts = (event: string) => events.filter((e) => e.event === event).map((e) => e.data.text as string);
  expect(events.at(-1)?.event).toBe('done');
  return { text: texts('text').join(''), read: texts('read'), session: events.at(-1)?.data };
}

test(`by the API: six questions about the code, a plan edited by hand and by feedback, and a sprint in two repositories, with a restart ${where}`, async () => {
  const byName = new Map((await repositories()).map(({ id, name }) => [name, id]));
  const begun = await wizard<{ sessionId: string; currentStep: Session['currentStep'] }>('POST', '/initialize', {
    goal: 'Keep the letters under accents',
    repositoryIds: [byName.get('sample'), byName.get('Docs')],
  });
  const at = `/${begun.sessionId}`;
  const asked: string[] = [];
  for (let step = begun.currentStep; step !== null; ) {
    asked.push(step.question);
    if (asked.length === 3) await restart();
    const answer = { stepId: step.id, selectedOptionIds: [step.options[0]?.id] };
    step = (await wizard('POST', `${at}/answer`, { answer })).currentStep;
  }
  expect(asked).toHaveLength(6);
  for (const file of ['src/slugify.js', 'test/slugify.test.js', 'package.json', '../Docs/README.md'])
    expect(asked.join('\n')).toContain(file);
  const told = JSON.stringify(world.model.requests);
  expect(told).toContain('export function slugify');

  await mayRestart();
  const { sessionId } = begun;
  const written = await streamed('prd', { sessionId });
  expect(JSON.parse(written.text)).toEqual(written.session.prd);
  expect(written.session.status).toBe('prd_ready');

  await mayRestart();
  const { prd, updatedAt } = written.session;
  const byHand = { title: prd?.title, markdown: `${prd?.markdown}\n## Non-goals\nEmoji.\n` };
  const edited = await wizard('PATCH', at, { prd: byHand, updatedAt });
  expect(edited.prd).toEqual(byHand);
  const { session: rewritten } = await streamed('prd', { sessionId, feedback: 'Say what happens to ß' });
  expect(rewritten.prd?.markdown).toContain('"ß" becomes "ss"');
  expect(rewritten.previous.prd).toEqual(byHand);
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('Emoji.');

  await mayRestart();
  await wizard('POST', '/generate-plan', { sessionId });
  await mayRestart();
  const { tasks } = await wizard('POST', '/generate-tasks', { sessionId });
  expect(tasks.map((t) => t.repositoryId)).toEqual([byName.get('sample'), byName.get('Docs')]);
  expect(tasks.map((t) => t.ownerReason)).toEqual(['It is a change of code.', 'It is prose.']);
  await restart();
  const made = await wizard<{ sprint: { id: string }; tasks: { id: string }[] }>('POST', `${at}/finalize`);
  expect(await wizard('GET', at)).toMatchObject({ status: 'finalized', sprintId: made.sprint.id });
  const [lib, docs] = await Promise.all(
    made.tasks.map(({ id }) => world.get<{ id: string; repositoryId: string; dependsOn: string[] }>(`/tasks/${id}`)),
  );
  expect([lib?.repositoryId, docs?.repositoryId]).toEqual([byName.get('sample'), byName.get('Docs')]);
  expect(docs?.dependsOn).toEqual([lib?.id]);
});

const repo = '/repos/mona/sample';
const mona = <T = unknown>(method: string, path: string, body?: object) =>
  world.github.as('mona')<T>(method, path, body);
const say = (number: number, body: string) => mona('POST', `${repo}/issues/${number}/comments`, { body });
const planOf = async (number: number) =>
  (await world.comments(number)).find((c) => c.body.startsWith('<!-- deckhand:plan'));
const shows = (number: number, text: string) =>
  until(`${text} in the plan`, async () => {
    const comment = await planOf(number);
    return comment?.body.includes(text) ? comment : undefined;
  });

const planJobs = `select 1 from pgboss.job where name = 'plan' and state in ('created', 'retry', 'active')`;

/** Ticks boxes in the comment of a plan, as mona does in her browser: later than Deckhand writes the comment again. */
async function tick(number: number, ...labels: string[]): Promise<void> {
  await until('the plan to be written', async () => (await world.sql(planJobs, [])).length === 0);
  const comment = await planOf(number);
  const isTicked = (line: string) => labels.some((label) => line.includes(label));
  const lines = (comment?.body ?? '').split('\n');
  const body = lines.map((line) => (isTicked(line) ? line.replace('- [ ]', '- [x]') : line)).join('\n');
  await mona('PATCH', `${repo}/issues/comments/${comment?.id}`, { body });
}

test(`by comments: options are ticked, the plan is rewritten and approved, with a restart ${where}`, async () => {
  const number = await world.issue('/agent plan', { title: 'Keep the letters under accents', body: 'In slugs.' });
  await shows(number, 'Should its signature stay');
  await tick(number, '1. Keep it', '2. Add options', 'Send the ticked options');
  await shows(number, 'Which languages count');
  await restart();
  // Without the box that sends them, the ticks wait for the command.
  await tick(number, '2. All that Unicode decomposes');
  await say(number, '/agent answer');
  await shows(number, 'May one be added');
  await shows(number, 'Keep it; Add options');
  await shows(number, 'All that Unicode decomposes');
  for (const [answer, next] of [
    ['1', 'Should it show accents'],
    ['Yes, one', 'Should both change'],
    ['1', 'cut long titles'],
  ] as const) {
    await say(number, `/agent answer ${answer}`);
    await shows(number, next);
  }
  await mayRestart();
  await say(number, '/agent answer 1');
  await shows(number, 'approve` creates a sprint');
  // A service that stops completes its jobs first, so the next request does not meet a plan that is still generated.
  await restart();
  await say(number, '/agent plan Say what happens to ß');
  const plan = await shows(number, '"ß" becomes "ss"');
  await shows(number, 'approve` creates a sprint');
  expect(plan.body).toContain('"Café" becomes "cafe"');
  const final = await shows(number, 'in Docs, Technical Writer (It is prose.), after lib');
  expect(final.body).toContain('in sample, Developer');
  await restart();
  await say(number, '/agent approve');
  await shows(number, 'with 2 tasks');
  const [sprint] = await world.get<{ id: string }[]>(`/projects/${world.project.id}/sprints`);
  const tasks = await world.get<{ title: string; repositoryId: string }[]>(`/sprints/${sprint?.id}/tasks`);
  expect(new Set(tasks.map((t) => t.repositoryId)).size).toBe(2);
});

test('a plan is deleted by a comment, and its comment says so', async () => {
  const number = await world.issue('/agent plan', { title: 'Cut long titles', body: '' });
  await shows(number, 'Should its signature stay');
  const count = async () => (await wizard<unknown[]>('GET')).length;
  const before = await count();
  await say(number, '/agent cancel');
  await shows(number, 'The plan was deleted.');
  expect(await count()).toBe(before - 1);
  await say(number, '/agent plan');
  await shows(number, 'Should its signature stay');
});
