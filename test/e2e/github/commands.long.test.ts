import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';

let face: Face;
let beforeTurn = async () => {};
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' }, before: () => beforeTurn() });
});
afterAll(() => face.world.close());

test('a task from creation to merge by comments alone', async () => {
  const { world, next, say, kinds, taskOf, settled, statusComment, reactionsTo, fileOn } = face;
  const number = await world.issue('/agent create');
  expect((await settled(number, 'backlog', 0)).owner).toBeNull();
  await until('the label', async () => (await world.labels(number)).join() === 'agent:backlog');
  await say(number, '/agent assign reviewer');
  const task = await until('the owner', async () => {
    const now = await taskOf(number);
    return now.owner !== null && now;
  });
  next({ 'made.txt': 'one\n' });
  await say(number, '/agent start');
  const first = await settled(number, 'in_review', 1);
  expect(first.owner).toBe(task.owner);
  next({ 'made.txt': 'two\n' });
  const revise = await say(number, '/agent revise say two');
  const second = await settled(number, 'in_review', 2);
  expect(await kinds(second)).toEqual(['revise', 'start']);
  expect(second.prUrl).toBe(first.prUrl);
  expect(fileOn(second.branchName ?? '', 'made.txt')).toBe('two');
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('say two');
  await until('the rocket', async () => reactionsTo(revise.id).includes('rocket'));
  await say(number, '/agent merge');
  await settled(number, 'done', 2);
  expect(fileOn('main', 'made.txt')).toBe('two');
  await until('done', async () => (await world.labels(number)).join() === 'agent:done');
  expect(await statusComment(number)).toHaveLength(1);
});

test('commands that cannot be executed are answered with the reason and change nothing', async () => {
  const { world, say, get, taskOf, settled, told, reactionsTo, statusComment } = face;
  const number = await world.issue('/agent create');
  await settled(number, 'backlog', 0);
  await say(number, '/agent marge');
  await told(number, /Did you mean .merge/);
  // As much like `prove`.
  await say(number, '/agent aprove');
  await told(number, /Did you mean .approve/);
  await say(number, '/agent assign Nobody');
  await told(number, /no agent named Nobody/);
  await say(number, '/agent depends #99999');
  await told(number, /has no task/);
  await say(number, '/agent revise');
  await told(number, /Write what should change/);
  await say(number, `/agent ${'x'.repeat(10_000)}`);
  await told(number, /Did you mean/);
  await say(number, '/agent st\u200bart \u202eevil');
  await told(number, /Did you mean .start/);
  const six = await say(number, Array(6).fill('/agent status').join('\n'));
  await told(number, /may contain at most 5 commands/);
  expect(reactionsTo(six.id)).toContain('confused');
  expect(await get(await taskOf(number))).toMatchObject({ status: 'backlog', runCount: 0, owner: null });
  await say(number, '/agent help');
  await told(number, /\| `\/agent assign <agent>` \| assigns the task to an agent \|/);
  // What the next command says replaces it, and a command that succeeds says nothing.
  await say(number, '/agent assign reviewer');
  await until('the table to go', async () => !(await statusComment(number))[0]?.body.includes('| Command |'));
});

test('dependencies and subtasks are set by comments', async () => {
  const { world, say, taskOf, settled, told } = face;
  const [one, two] = [await world.issue('/agent create'), await world.issue('/agent create')];
  const [first, second] = [await taskOf(one), await taskOf(two)];
  await say(two, `/agent depends #${one}`);
  await until('the dependency', async () =>
    (await world.get<{ dependsOn: string[] }>(`/tasks/${second.id}`)).dependsOn.includes(first.id),
  );
  await say(one, '/agent subtask The first half');
  await settled(one, 'waiting_on_subtasks', 0);
  await told(one, /- \[ \] The first half/);
  await say(two, '/agent start');
  await told(two, new RegExp(`depends on tasks that are not done: #${one}\\.`));
});

test('a title or text that changes on one side is offered on the other, and taken over when somebody asks', async () => {
  const { world, say, mona, get, taskOf, settled, told, statusComment } = face;
  const number = await world.issue('/agent create');
  await settled(number, 'backlog', 0);
  const task = await taskOf(number);
  type Words = { title: string; description: string };
  type Offered = Words & { issueText?: Words };
  const now = async () => (await get(task)) as unknown as Offered;
  expect((await now()).issueText).toBeUndefined();
  const words = { title: 'Changed in the issue', description: 'Its text too.' };
  await mona('PATCH', `${repo}/issues/${number}`, { title: words.title, body: words.description });
  await until('the offer', async () => (await now()).issueText?.title === words.title);
  expect(await now()).toMatchObject({ title: task.title, description: 'please', issueText: words });
  await told(number, /\/agent update` gives the task the text of the issue/);
  await say(number, '/agent update');
  await until('the title of the task', async () => (await now()).title === words.title);
  expect((await now()).description).toBe(words.description);
  await until('no offer', async () => !(await statusComment(number))[0]?.body.includes('differ in their'));
  const change = (to: Partial<Words>) => world.service.api(world.token, 'PATCH', `/tasks/${task.id}`, to);
  await change({ description: 'Its text in the task.' });
  await told(number, /The issue and the task differ in their description\./);
  await change({ title: 'Changed in the task' });
  await told(number, /The task is called “Changed in the task”/);
  await say(number, '/agent update issue');
  const issue = () => mona<{ title: string; body: string }>('GET', `${repo}/issues/${number}`);
  await until('the title of the issue', async () => (await issue()).title === 'Changed in the task');
  expect((await issue()).body).toBe('Its text in the task.');
  expect((await now()).issueText).toBeUndefined();
});

test('the refusal of a command on an issue without a task disappears when the next command succeeds', async () => {
  const { world, say } = face;
  const number = await world.issue('Just an issue');
  const refused = async () => (await world.comments(number)).filter(({ body }) => body.includes('was refused'));
  await say(number, '/agent merge');
  await until('the refusal', async () => (await refused()).length === 1);
  await say(number, '/agent create');
  await until('the refusal to go', async () => (await refused()).length === 0);
});

test('a budget is set part by part, shown in the comment, refused above the limits and removed', async () => {
  const { world, say, get, taskOf, told } = face;
  const number = await world.issue('/agent create');
  const task = await taskOf(number);
  const budgetOf = async () => ((await get(task)) as { budget?: object | null }).budget;
  await say(number, '/agent budget $2.5');
  await told(number, /\| \*\*Budget\*\* \| \$2\.50 per run \|/);
  await say(number, '/agent budget steps 20');
  await told(number, /\| \$2\.50, 20 steps per run \|/);
  expect(await budgetOf()).toEqual({ costUsd: 2.5, steps: 20 });
  await say(number, '/agent budget steps 9999');
  await told(number, /`\/agent budget` was refused: budget\.steps must be at most \d+, the limit of this service/);
  await say(number, '/agent budget plenty');
  await told(number, /Write the limit of each run after `budget`/);
  expect(await budgetOf()).toEqual({ costUsd: 2.5, steps: 20 });
  await say(number, '/agent budget none');
  await until('no budget', async () => (await budgetOf()) === null);
  await until('no row', async () => !(await face.statusComment(number))[0]?.body.includes('**Budget**'));
});

test('an issue is created for a task of the API, exactly once', async () => {
  const { world, mona, told } = face;
  const body = { title: 'Made by the API', description: 'Closes #1 @mona', issue: true };
  const made = await world.service.api<{ id: string }>(
    world.token,
    'POST',
    `/projects/${world.project.id}/tasks`,
    body,
  );
  const task = await until('the issue', async () => {
    const now = await world.get<{ issueNumber: number | null; issueUrl: string }>(`/tasks/${made.id}`);
    return now.issueNumber !== null && now;
  });
  const issue = await mona<{ title: string; body: string }>('GET', `${repo}/issues/${task.issueNumber}`);
  expect(issue.title).toBe('Made by the API');
  expect(issue.body).not.toMatch(/Closes #1|@mona/);
  await told(task.issueNumber ?? 0, made.id);
  const all = await mona<{ title: string }[]>('GET', `${repo}/issues?state=all&per_page=100`);
  expect(all.filter((i) => i.title === body.title)).toHaveLength(1);
});

test('a pull request closes an issue that was created while the run worked', async () => {
  const { world, mona, next, pullOf, get } = face;
  const { number, html_url } = await mona<{ number: number; html_url: string }>('POST', `${repo}/issues`, {
    title: 'Late',
  });
  const agents = await world.get<{ id: string }[]>(`/agents?projectId=${world.project.id}`);
  const post = <T>(path: string, body: object) => world.service.api<T>(world.token, 'POST', path, body);
  const task = await post<{ id: string }>(`/projects/${world.project.id}/tasks`, {
    title: 'Late',
    owner: agents[0]?.id,
  });
  beforeTurn = async () => {
    await world.sql(
      `update tasks set issue_number = $2, issue_url = $3, issue_repository_id = (select id from repositories limit 1)
       where id = $1`,
      [task.id, number, html_url],
    );
  };
  next({ 'late.txt': 'x\n' });
  await post(`/tasks/${task.id}/start`, {});
  const reviewed = await until('the review', async () => {
    const now = await get(task);
    return now.status === 'in_review' && now.prUrl !== null && now;
  });
  const pull = await mona<{ body: string }>('GET', `${repo}/pulls/${pullOf(reviewed)}`);
  expect(pull.body).toContain(`Closes #${number}\n`);
});
