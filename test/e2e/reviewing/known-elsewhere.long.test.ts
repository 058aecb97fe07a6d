import { until } from '../../../demo/real-service.ts';
import { write } from '../../support/face.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

// What a private repository of the project says reaches the run of a task in another one: through a request for changes, or through the
// issue of the task. bob may write where the task works, and not where the text is.

interface Pull {
  repositoryName: string;
  prNumber: number;
}
interface Run {
  kind: string;
  status: string;
  failure: { message: string } | null;
}

let world: World;
let asked = 0;
let isSilent = false;
/** The first run opens the other repository, and all write files. */
function act(turn: number) {
  if (isSilent) return 'I do not know.';
  if (turn === 0) asked += 1;
  if (turn === 0 && asked === 1) return [{ name: 'open_repository', arguments: { name: 'Docs' } }];
  const there = asked === 1 ? [write('../Docs/there.txt', 'there\n')] : [];
  if (turn === 0 || (turn === 1 && asked === 1)) return [write(`own${asked}.txt`, 'own\n'), ...there];
  return [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];
}

beforeEach(async () => {
  asked = 0;
  isSilent = false;
  world = await openWorld(
    (request, turn) => (JSON.stringify(request.tools ?? []).includes('"finish"') ? act(turn) : 'An answer.'),
    { seed: { more: ['Docs'], isPrivate: true, people: ['mona', 'stranger', 'bob'] }, settings: { SANDBOX: 'off' } },
  );
  await until('both repositories', async () => (await world.get<unknown[]>('/repositories')).length === 2);
  await mona('PUT', '/repos/mona/sample/collaborators/bob', { permission: 'push' });
});
afterEach(() => world.close());

const mona = <T>(method: string, path: string, body?: object) => world.github.as('mona')<T>(method, path, body);
const runsOf = (id: string) => world.get<Run[]>(`/tasks/${id}/runs`);
const ended = (id: string, count: number) =>
  until(`run ${count} to end`, async () => {
    const runs = await runsOf(id);
    return runs.length === count && runs.every(({ status }) => ['failed', 'succeeded'].includes(status)) && runs;
  });
/** What the model was told since some request. */
const toldSince = (request: number) => JSON.stringify(world.model.requests.slice(request).map((r) => r.messages));
const eventsOf = async (id: string) =>
  (
    await world.sql<{ text: string }>(
      'select e.text from run_events e join runs r on r.id = e.run_id where r.task_id = $1 order by e.id',
      [id],
    )
  ).map(({ text }) => text);

/** Starts a task in `sample` whose run also changes `Docs`. Returns the numbers of both pull requests. */
async function startInBoth(): Promise<{ task: WorldTask; issue: number; own: number; other: number }> {
  const issue = await world.issue('/agent start');
  const task = await world.taskIn('in_review');
  const pulls = await world.get<Pull[]>(`/tasks/${task.id}/prs`);
  const numberIn = (name: string) => pulls.find(({ repositoryName }) => repositoryName === name)?.prNumber as number;
  return { task, issue, own: numberIn('sample'), other: numberIn('Docs') };
}

async function failCheckIn(repository: string, number: number): Promise<void> {
  const { head } = await mona<{ head: { sha: string } }>('GET', `/repos/mona/${repository}/pulls/${number}`);
  const path = `/repos/mona/${repository}/check-runs`;
  const { id } = await mona<{ id: number }>('POST', path, { name: 'ci', head_sha: head.sha, status: 'in_progress' });
  const output = { title: 'failed', summary: 'plan.ts:3: const price = "CANARY"' };
  await mona('PATCH', `${path}/${id}`, { status: 'completed', conclusion: 'failure', output });
}

test('an agent learns what the checks of another repository say if everybody who directs the task may write there', async () => {
  const { task, other } = await startInBoth();
  const before = world.model.requests.length;
  await failCheckIn('Docs', other);
  expect((await ended(task.id, 2))[0]).toMatchObject({ kind: 'revise', status: 'succeeded' });
  expect(toldSince(before)).toContain('CANARY');
  const opened = await world.sql<object>(
    `select 1 from runs r join run_steps s on s.run_id = r.id join repositories p on s.name = 'opened ' || p.id
     where r.kind = 'revise' and p.name = 'Docs'`,
    [],
  );
  expect(opened).toHaveLength(1);
});

test('a run that bob directs is not told what the checks of another repository say', async () => {
  const { task, own, other } = await startInBoth();
  const bob = world.github.as('bob');
  await bob('POST', `/repos/mona/sample/issues/${own}/comments`, { body: '/agent revise Shorten it.' });
  expect((await ended(task.id, 2))[0]).toMatchObject({ status: 'succeeded' });
  await world.taskIn('in_review');
  const before = world.model.requests.length;
  await failCheckIn('Docs', other);
  const why = 'bob has no write permission in the repository Docs.';
  const [failed] = await ended(task.id, 3);
  expect(failed).toMatchObject({ kind: 'revise', failure: { message: expect.stringContaining(why) } });
  // Somebody who retries gets a run without it.
  await bob('POST', `/repos/mona/sample/issues/${own}/comments`, { body: '/agent retry Go on.' });
  await until('the retry to end', async () => (await runsOf(task.id))[0]?.status === 'succeeded');
  expect(toldSince(before)).not.toContain('CANARY');
  expect(await eventsOf(task.id)).toContain(`a request that is about another repository is left out: ${why}`);
  // Nothing waits that would start a run again.
  expect(await world.sql('select 1 from revisions where run_id is null', [])).toEqual([]);
  expect(await runsOf(task.id)).toHaveLength(4);
});

test('nobody goes back to a turn with a request that quotes a repository in which they may not write', async () => {
  const { task, own, other } = await startInBoth();
  const [first] = await world.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  isSilent = true;
  await failCheckIn('Docs', other);
  expect((await ended(task.id, 2))[0]).toMatchObject({ kind: 'revise', status: 'failed' });
  isSilent = false;
  const before = world.model.requests.length;
  const goBack = { runId: first?.id, turn: 1, text: 'Go on.' };
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/rewind`, goBack);
  expect((await ended(task.id, 3))[0]).toMatchObject({ kind: 'rewind', status: 'succeeded' });
  expect(toldSince(before)).toContain('CANARY');
  await world.taskIn('in_review');
  const told = world.model.requests.length;
  const body = '/agent rewind 1 Write down all you know.';
  await world.github.as('bob')('POST', `/repos/mona/sample/issues/${own}/comments`, { body });
  const replies = async () => (await world.comments(own)).map((comment) => comment.body).join();
  await until('the refusal', async () =>
    (await replies()).includes('bob has no write permission in the repository Docs.'),
  );
  expect(await runsOf(task.id)).toHaveLength(3);
  expect(toldSince(told)).not.toContain('CANARY');
});

test('a repository that has become public is not told what the checks of a private one say', async () => {
  const { task, other } = await startInBoth();
  await world.sql(`update repositories set is_private = false where name = 'sample'`, []);
  const before = world.model.requests.length;
  await failCheckIn('Docs', other);
  const [run] = await ended(task.id, 2);
  expect(run?.failure?.message).toContain('which may not be shown in sample');
  expect(toldSince(before)).not.toContain('CANARY');
});

test('what is shown of a failed run in a public repository names no private one', async () => {
  const { task, issue, own, other } = await startInBoth();
  await world.github.as('bob')('POST', `/repos/mona/sample/issues/${own}/comments`, {
    body: '/agent revise Shorten it.',
  });
  await ended(task.id, 2);
  await world.taskIn('in_review');
  await world.service.api(world.token, 'PATCH', `/projects/${world.project.id}`, { sharePrivateContext: true });
  await world.sql(`update repositories set is_private = false where name = 'sample'`, []);
  await failCheckIn('Docs', other);
  await ended(task.id, 3);
  const reason = 'bob has no write permission in another repository of the project.';
  const status = async () => (await world.comments(issue)).find(({ body }) => body.includes(reason))?.body;
  expect(await until('the status', status)).not.toContain('Docs');
});

test('an answer tells nothing of an issue in another private repository, also when that has gone', async () => {
  const docs = (await world.get<{ id: string; name: string }[]>('/repositories')).map(({ id, name }) => [name, id]);
  const issues = '/repos/mona/Docs/issues';
  const { number } = await mona<{ number: number }>('POST', issues, {
    title: 'Idea',
    body: 'CANARY: do it\n\n[//]: # (HIDDEN: and more)',
  });
  await mona('POST', `${issues}/${number}/comments`, { body: '/agent create' });
  const { id } = await world.task();
  expect(await world.get(`/tasks/${id}`)).toMatchObject({ description: 'CANARY: do it\n\n' });
  await world.service.api(world.token, 'PATCH', `/tasks/${id}`, { repositoryId: Object.fromEntries(docs).sample });
  await mona('POST', `${issues}/${number}/comments`, { body: '/agent start' });
  await world.taskIn('in_review');
  const [pull] = await world.get<Pull[]>(`/tasks/${id}/prs`);
  const isTold = async (question: string) => {
    const before = world.model.requests.length;
    const body = `/agent ask ${question}`;
    await world.github.as('bob')('POST', `/repos/mona/sample/issues/${pull?.prNumber}/comments`, { body });
    await until('the question', async () => toldSince(before).includes(question));
    return toldSince(before).includes('CANARY');
  };
  expect(await isTold('What is the task about?')).toBe(false);
  world.github.rare.goneIssues.set(`${issues}/${number}`, undefined);
  const repository = await mona<object>('GET', '/repos/mona/Docs');
  const sender = { id: 1, login: 'mona', type: 'User' };
  const [row] = await world.sql<{ id: number }>('select installation_id::int as id from installations', []);
  const event = {
    action: 'deleted',
    issue: { number, title: 'Idea' },
    sender,
    repository,
    installation: { id: row?.id },
  };
  await world.github.deliver('issues', JSON.stringify(event));
  await until('the task to lose its issue', async () => {
    return (await world.get<{ issueNumber: number | null }>(`/tasks/${id}`)).issueNumber === null;
  });
  expect(await isTold('And what does its description say?')).toBe(false);
});

test('the comments on an issue in another private repository are left out of a run that bob directs', async () => {
  const docs = (await world.get<{ id: string; name: string }[]>('/repositories')).map(({ id, name }) => [name, id]);
  const issues = '/repos/mona/Docs/issues';
  const { number } = await mona<{ number: number }>('POST', issues, { title: 'Idea', body: 'do it' });
  const comment = (body: string) => mona('POST', `${issues}/${number}/comments`, { body });
  await comment('/agent create');
  const { id } = await world.task();
  await world.service.api(world.token, 'PATCH', `/tasks/${id}`, { repositoryId: Object.fromEntries(docs).sample });
  await comment('TOLD to the first run');
  await comment('/agent start');
  await world.taskIn('in_review');
  expect(toldSince(0)).toContain('TOLD to the first run');
  await comment('CANARY');
  const before = world.model.requests.length;
  const [pull] = await world.get<Pull[]>(`/tasks/${id}/prs`);
  const body = '/agent revise Write down the discussion.';
  await world.github.as('bob')('POST', `/repos/mona/sample/issues/${pull?.prNumber}/comments`, { body });
  expect((await ended(id, 2))[0]).toMatchObject({ kind: 'revise', status: 'succeeded' });
  expect(toldSince(before)).not.toContain('CANARY');
  const why = 'bob has no write permission in the repository Docs.';
  expect(await eventsOf(id)).toContain(`the comments on the issue are left out: ${why}`);
});
