import type { ModelRequest, Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { planner } from '../../support/stand-ins/planner.ts';
import { openWorld, type World } from '../../support/world.ts';

const repo = '/repos/mona/sample';
let world: World;
/** Answers as the planner during planning and as a developer in tasks, and with text otherwise. */
function says(request: ModelRequest, turn: number): Said {
  if (request.tool_choice !== undefined) return planner(request);
  if (!request.tools?.some((t) => t.function.name === 'finish')) return 'It greets strangers only.';
  if (turn === 0) return [{ name: 'write_file', arguments: { path: `made-${Date.now()}.txt`, content: 'x\n' } }];
  return [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];
}

beforeAll(async () => {
  world = await openWorld(says, { settings: { SANDBOX: 'off' } });
});
afterAll(() => world.close());

const mona = <T = unknown>(method: string, path: string, body?: object) =>
  world.github.as('mona')<T>(method, path, body);
const say = (number: number, body: string, who = 'mona') =>
  world.github.as(who)<{ id: number }>('POST', `${repo}/issues/${number}/comments`, { body });
const own = async (number: number, marker: string) =>
  (await world.comments(number)).filter(
    (c) => c.user.login === 'deckhand[bot]' && c.body.startsWith(`<!-- deckhand:${marker}`),
  );
const shows = (number: number, text: string | RegExp) =>
  until(`${text} in the plan of ${number}`, async () => (await own(number, 'plan'))[0]?.body.match(text));

interface Issue {
  number: number;
  title: string;
  milestone: { title: string; due_on: string; state: string } | null;
}

test('from a goal to a started sprint, by comments alone', async () => {
  const [repository] = await world.get<{ id: string }[]>('/repositories');
  await world.service.api(world.token, 'PATCH', `/repositories/${repository?.id}`, { isDocsRepo: true });
  const number = await world.issue('/agent plan', { title: 'Greet people by name', body: 'They feel unknown.' });
  await answerQuestions(number);
  await expectPlan(number);
  await say(number, '/agent approve');
  await shows(number, 'with 3 tasks');
  const [sprint] = await world.get<{ id: string; name: string; status: string }[]>(
    `/projects/${world.project.id}/sprints`,
  );
  expect(sprint).toMatchObject({ name: 'Greeting by name', status: 'planning' });
  await expectIssuesAndRequirements();
  await say(number, '/agent start');
  await expectStarted(sprint?.id ?? '');
});

async function answerQuestions(number: number): Promise<void> {
  await shows(number, 'Which languages');
  await say(number, '/agent approve');
  const notice = await until('the refusal', async () => (await own(number, 'reply'))[0]?.body);
  expect(notice).toContain('Only a planning session that has its tasks can be finalized');
  await say(number, '/agent answer 99');
  await until('the next refusal', async () => (await own(number, 'reply'))[0]?.body.includes('Choose from 1 to 2'));
  await say(number, '/agent answer 1, 2');
  await shows(number, 'people without a name');
  await say(number, '/agent answer It must greet @everyone, closes #1');
  await shows(number, 'By when');
  await say(number, '/agent answer 1');
}

/** Expects the plan in one comment that mentions nobody and closes no issue, and that can be regenerated. */
async function expectPlan(number: number): Promise<void> {
  await shows(number, 'approve` creates a sprint');
  const [comment, ...others] = await own(number, 'plan');
  expect(others).toEqual([]);
  for (const said of ['Greeting by name', 'Technical Writer', 'after core', 'English; All of the interface'])
    expect(comment?.body).toContain(said);
  expect(comment?.body).not.toMatch(/@everyone|closes #1/);
  await say(number, '/agent plan Fewer phases');
  await until('the plan to be rewritten', async () =>
    world.model.requests.some((r) => JSON.stringify(r.messages).includes('Fewer phases')),
  );
  await shows(number, 'approve` creates a sprint');
}

async function expectIssuesAndRequirements(): Promise<void> {
  await until('an issue for each task', async () => {
    const titles = (await mona<Issue[]>('GET', `${repo}/issues?state=all`)).map((i) => i.title);
    return ['Greet by name', 'Describe it', 'Other languages'].every((title) => titles.includes(title));
  });
  const proposal = await until('the requirements as a pull request', async () =>
    (await mona<{ number: number; title: string; head: { ref: string } }[]>('GET', `${repo}/pulls?state=open`)).find(
      (p) => p.title.startsWith('Requirements: Greeting by name'),
    ),
  );
  const path = `${repo}/contents/docs/requirements/greeting-by-name.md?ref=${proposal.head.ref}`;
  const { content } = await mona<{ content: string }>('GET', path);
  expect(Buffer.from(content, 'base64').toString()).toContain('People are greeted as strangers.');
}

/**
 * Expects that the first task gets done, that the task depending on it waits, and that the issues are in the sprint's
 * milestone.
 */
async function expectStarted(sprint: string): Promise<void> {
  await until(
    'the sprint to be active',
    async () => (await world.get<{ status: string }>(`/sprints/${sprint}`)).status === 'active',
  );
  const tasks = () =>
    world.get<{ title: string; status: string; issueNumber: number | null }[]>(`/sprints/${sprint}/tasks`);
  const first = await until('the first task', async () =>
    (await tasks()).find((t) => t.title === 'Greet by name' && t.status === 'in_review' && t.issueNumber !== null),
  );
  const milestone = await until(
    'the milestone',
    async () => (await mona<Issue>('GET', `${repo}/issues/${first.issueNumber}`)).milestone,
  );
  expect(milestone).toMatchObject({ title: 'Greeting by name', state: 'open' });
  const waiting = (await tasks()).find((t) => t.title === 'Describe it');
  expect(waiting?.status).toBe('backlog');
}

test('a question by name or by verb is answered once, in a separate comment', async () => {
  const number = await world.issue('/agent ask What does it greet?', { title: 'Ask here' });
  const answers = () => own(number, 'answer');
  await until('the answer', async () => (await answers()).length === 1);
  expect((await answers())[0]?.body).toContain('It greets strangers only.');
  await say(number, '@deckhand and now?');
  await until('the second answer', async () => (await answers()).length === 2);
  await say(number, '@deckhand what is this?', 'stranger');
  await say(number, '/agent ask');
  await until('the refusal', async () => (await own(number, 'reply'))[0]?.body.includes('Write your question'));
  expect(await answers()).toHaveLength(2);
});

test("a task is added to a sprint by name and removed again; its issue gets and loses the milestone; a person's milestone is kept", async () => {
  const active = await world.get<{ id: string; name: string }>(`/projects/${world.project.id}/sprints/active`);
  const number = await world.issue('/agent create', { title: 'Into the sprint' });
  await until('the task', async () => (await world.labels(number)).length > 0);
  await say(number, '/agent sprint no such');
  await until('the refusal', async () =>
    (await own(number, 'status'))[0]?.body.includes('The dashboard lists all sprints.'),
  );
  await say(number, '/agent sprint greeting BY name');
  const issue = () => mona<Issue>('GET', `${repo}/issues/${number}`);
  await until('the milestone', async () => (await issue()).milestone?.title === 'Greeting by name');
  await say(number, '/agent sprint none');
  await until('no milestone', async () => (await issue()).milestone === null);
  const theirs = await mona<{ number: number }>('POST', `${repo}/milestones`, { title: 'Theirs' });
  await mona('PATCH', `${repo}/issues/${number}`, { milestone: theirs.number });
  await say(number, '/agent sprint greeting by name');
  await until('the task in the sprint', async () =>
    (await world.get<{ issueNumber: number }[]>(`/sprints/${active.id}/tasks`)).some((t) => t.issueNumber === number),
  );
  await say(number, '/agent status');
  await until('the command done', async () => world.github.reactions.filter((r) => r.content === 'rocket').length >= 4);
  expect((await issue()).milestone?.title).toBe('Theirs');
  const token = world.token;
  await world.service.api(token, 'POST', `/sprints/${active.id}/cancel`);
  await until('the milestone closed', async () => {
    const all = await mona<{ title: string; state: string }[]>('GET', `${repo}/milestones?state=all`);
    return all.find((m) => m.title === 'Greeting by name')?.state === 'closed';
  });
});

test('an answer counts once while GitHub fails; regenerating a plan does not start the old one', async () => {
  const number = await world.issue('/agent plan above all in blue', { title: 'Another plan' });
  await shows(number, 'Which languages');
  let failing = 3;
  world.github.fail((method, path) =>
    method === 'PATCH' && /comments/.test(path) && failing-- > 0 ? { status: 502 } : undefined,
  );
  await say(number, '/agent answer 1');
  await shows(number, 'people without a name');
  const [session] = await answersOf('Another plan');
  expect(session).toMatchObject({ status: 'collecting', answers: 1 });
  expect(session?.goal).toContain('above all in blue');
  // Changes through the API appear here too.
  const path = `/projects/${world.project.id}/wizard/${session?.id}`;
  const { currentStep } = await world.get<{ currentStep: { id: string } }>(path);
  await world.service.api(world.token, 'POST', `${path}/answer`, {
    answer: { stepId: currentStep.id, customText: 'by the interface' },
  });
  await shows(number, 'By when');
  await say(number, '/agent plan with a text');
  await until('the refusal', async () =>
    (await own(number, 'reply'))[0]?.body.includes('Answer the open questions first'),
  );

  async function answersOf(title: string) {
    const rows = (await world.dump()).match(/wiz_[0-9a-z]+/g) ?? [];
    const found = [];
    for (const id of new Set(rows)) {
      const session = await world
        .get<{ goal: string; status: string; answers: unknown[] }>(`/projects/${world.project.id}/wizard/${id}`)
        .catch(() => undefined);
      if (session?.goal.includes(title)) found.push({ id, ...session, answers: session.answers.length });
    }
    return found;
  }
});
