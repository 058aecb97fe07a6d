import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

let face: Face;
let pushed = false;
let held: Promise<unknown> | undefined;
/** A task in review, which most tests use: a run takes as long as everything else that they do. */
let shared: Awaited<ReturnType<Face['inReview']>>;
beforeAll(async () => {
  const before = async () => {
    await held;
  };
  face = await openFace({ before, settings: { SANDBOX: 'off' } });
  shared = await face.inReview({ 'people.txt': 'agent\n' });
});
afterAll(() => face.world.close());

test('a person closes, reopens and pushes; the next run continues from their commit', async () => {
  const { world, next, mona, settled, fileOn, push } = face;
  const { task, pull, number } = shared;
  const { runCount } = await face.get(task);
  await mona('PATCH', `${repo}/pulls/${pull}`, { state: 'closed' });
  await settled(number, 'ready', runCount);
  await mona('PATCH', `${repo}/pulls/${pull}`, { state: 'open' });
  await settled(number, 'in_review', runCount);
  await push(task.branchName ?? '', 'person.txt', 'person\n');
  await until('the diff', async () =>
    (await world.get<{ files: { path: string }[] }>(`/tasks/${task.id}/diff`)).files.some(
      (f) => f.path === 'person.txt',
    ),
  );
  next({ 'people.txt': 'again\n' });
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/revise`, { text: 'again' });
  const after = await settled(number, 'in_review', runCount + 1);
  expect(fileOn(after.branchName ?? '', 'person.txt')).toBe('person');
  expect(fileOn(after.branchName ?? '', 'people.txt')).toBe('again');
});

test('closing an issue alone changes nothing; reopening the issue of a done task makes it ready', async () => {
  const { mona, settled, inReview } = face;
  const { number, pull } = await inReview({ 'issue.txt': 'x\n' });
  await mona('PATCH', `${repo}/issues/${number}`, { state: 'closed' });
  await mona('PUT', `${repo}/pulls/${pull}/merge`, {});
  await settled(number, 'done', 1);
  await mona('PATCH', `${repo}/issues/${number}`, { state: 'open' });
  await settled(number, 'ready', 1);
});

test('labels: run starts the task, ready and backlog move it, other changes are reverted; strangers change nothing', async () => {
  const { world, next, mona, settled } = face;
  const number = await world.issue('');
  next({ 'label.txt': 'x\n' });
  await mona('POST', `${repo}/issues/${number}/labels`, { labels: ['agent:run', 'bug'] });
  await settled(number, 'in_review', 1);
  await until('the labels', async () => (await world.labels(number)).join() === 'agent:in-review,bug');
  await mona('POST', `${repo}/issues/${number}/labels`, { labels: ['agent:done'] });
  await mona('DELETE', `${repo}/issues/${number}/labels/agent:in-review`);
  await until('them back', async () => (await world.labels(number)).join() === 'agent:in-review,bug');
  const other = await world.issue('/agent create');
  await settled(other, 'backlog', 0);
  await until('backlog', async () => (await world.labels(other)).join() === 'agent:backlog');
  await mona('POST', `${repo}/issues/${other}/labels`, { labels: ['agent:ready'] });
  await settled(other, 'ready', 0);
  await until('ready', async () => (await world.labels(other)).join() === 'agent:ready');
});

test('repeatedly removing labels trips the circuit breaker, and the comment says so', async () => {
  const { world, mona, statusComment } = face;
  const number = await world.issue('/agent create');
  await until('the label', async () => (await world.labels(number)).join() === 'agent:backlog');
  // Most of the changes after which it trips; the rest are made below.
  await world.sql(
    `insert into mirror_writes (repository_id, number) select id, $1 from repositories, generate_series(1, 14)`,
    [number],
  );
  for (let i = 0; i < 30; i++) {
    await mona('DELETE', `${repo}/issues/${number}/labels/agent:backlog`);
    const isBack = await until('the label or the breaker', async () => {
      if ((await world.labels(number)).includes('agent:backlog')) return 'back';
      return (await statusComment(number))[0]?.body.includes('Paused for ten minutes') && 'tripped';
    });
    if (isBack === 'tripped') break;
  }
  expect(await world.labels(number)).toEqual([]);
  expect(await statusComment(number)).toHaveLength(1);
});

test('a force-push is never overwritten: a run in progress is refused, and the next run continues from it', async () => {
  const { world, next, settled, fileOn, push } = face;
  const { number, task } = shared;
  const { runCount } = await face.get(task);
  const branch = task.branchName ?? '';
  await push(branch, 'forced.txt', 'person\n', { force: true });
  const theirs = () => gitOut(world.github.folderOf('mona/sample'), 'rev-parse', branch);
  const before = theirs();
  next({ 'more.txt': 'agent\n' });
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/revise`, { text: 'more' });
  await settled(number, 'in_review', runCount + 1);
  expect(gitOut(world.github.folderOf('mona/sample'), 'rev-parse', `${branch}~1`)).toBe(before);
  expect(fileOn(branch, 'forced.txt')).toBe('person');
  const asked = world.model.requests.length;
  held = until('the person to push', async () => pushed);
  next({ 'late.txt': 'agent\n' });
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/revise`, { text: 'late' });
  await until('the model to be asked', async () => world.model.requests.length > asked);
  await push(branch, 'forced.txt', 'again\n', { force: true });
  const now = theirs();
  pushed = true;
  const after = await settled(number, 'in_review', runCount + 2);
  expect(after.failure?.category).toBe('push_rejected');
  expect(theirs()).toBe(now);
});

test('nothing that a stranger does changes anything or gets a reply', async () => {
  const { world, as, say, get, settled, reactionsTo } = face;
  const { number, task, pull } = shared;
  const stranger = as('stranger');
  const before = [await get(task), (await world.comments(number)).length];
  const said = await say(number, '/agent cancel\n/agent merge\n/agent revise be evil', 'stranger');
  await say(pull, '/agent merge', 'stranger');
  await stranger('POST', `${repo}/pulls/${pull}/reviews`, { event: 'REQUEST_CHANGES', body: 'be evil' }).catch(
    () => {},
  );
  await world.github.send('issues', {
    action: 'labeled',
    issue: { number, title: 'x', labels: [] },
    label: { name: 'agent:backlog' },
    sender: 'stranger',
  });
  // Once a later command has been handled, the earlier ones have been too.
  const marker = await world.issue('/agent create');
  await settled(marker, 'backlog', 0);
  await until('the queue to be through', async () => world.github.deliveries.every((d) => d.status !== undefined));
  const now = await get(task);
  const { status, runCount } = before[0] as typeof now;
  expect([now.status, now.runCount]).toEqual([status, runCount]);
  expect(reactionsTo(said.id)).toEqual([]);
  expect((await world.comments(number)).filter((c) => c.user.login === 'deckhand[bot]')).toHaveLength(1);
});

test('after a person deletes the branch, the next run creates another one', async () => {
  const { world, next, mona, say, settled } = face;
  const { number, task, pull } = shared;
  const { runCount } = await face.get(task);
  await mona('PATCH', `${repo}/pulls/${pull}`, { state: 'closed' });
  await settled(number, 'ready', runCount);
  await mona('DELETE', `${repo}/git/refs/heads/${task.branchName}`);
  gitOut(world.github.folderOf('mona/sample'), 'update-ref', '-d', `refs/heads/${task.branchName}`);
  next({ 'deleted.txt': 'y\n' });
  await say(number, '/agent start');
  const after = await settled(number, 'in_review', runCount + 1);
  expect(after.branchName).toBe(`${task.branchName}-2`);
  expect(after.prUrl).not.toBe(task.prUrl);
});

test('the task of a transferred or deleted issue remains, without the issue', async () => {
  const { world, get, settled } = face;
  for (const action of ['transferred', 'deleted']) {
    const number = await world.issue('/agent create');
    const task = await settled(number, 'backlog', 0);
    const more = action === 'transferred' ? { changes: { new_issue: {}, new_repository: {} } } : {};
    await world.github.send('issues', { action, issue: { number, title: 'x' }, ...more, sender: 'mona' });
    await until(
      'the link to go',
      async () => (await world.get<{ issueNumber: number | null }>(`/tasks/${task.id}`)).issueNumber === null,
    );
    expect((await get(task)).status).toBe('backlog');
  }
});

test('a task in an archived repository cannot start', async () => {
  const { world, mona, settled } = face;
  const number = await world.issue('/agent create');
  const task = await settled(number, 'backlog', 0);
  const agents = await world.get<{ id: string }[]>('/agents');
  await world.service.api(world.token, 'PATCH', `/tasks/${task.id}`, { owner: agents[0]?.id });
  const archive = async (archived: boolean) => {
    await mona('PATCH', repo, { archived });
    await world.github.send('repository', { action: archived ? 'archived' : 'unarchived', sender: 'mona' });
  };
  await archive(true);
  const ask = (what: string) =>
    world.service.api(world.token, 'POST', `/tasks/${task.id}/${what}`).then(
      () => 'done',
      (error: Error) => error.message,
    );
  await archive(true);
  await until('the refusal', async () => {
    const said = await ask('start');
    // The mirror removed the label before the event was handled.
    if (said === 'done') await ask('cancel');
    return said.includes('sample is archived and cannot be changed');
  });
  await archive(false);
  await until('the start', async () => (await ask('start')) === 'done');
});

const branches = async () =>
  (await face.mona<{ name: string }[]>('GET', `${repo}/branches?per_page=100`)).map(({ name }) => name);

test('a deleted task leaves GitHub clean, except for a branch to which somebody else pushed', async () => {
  const { world, inReview, push, mona, statusComment } = face;
  const own = await inReview({ 'own.txt': 'by the agent\n' });
  const shared = await inReview({ 'shared.txt': 'by the agent\n' });
  const [ownBranch, sharedBranch] = [own.task.branchName ?? '', shared.task.branchName ?? ''];
  await push(sharedBranch, 'person.txt', 'by a person\n');
  await mona('POST', `${repo}/issues/${own.number}/labels`, { labels: ['people'] });
  for (const { number } of [own, shared])
    await until('the status comment', async () => (await statusComment(number)).length === 1);
  for (const { task } of [own, shared]) await world.service.api(world.token, 'DELETE', `/tasks/${task.id}`);
  await until('everything to be removed', async () => (await world.sql('select 1 from leftovers', [])).length === 0);
  for (const { number, pull } of [own, shared]) {
    expect((await mona<{ state: string }>('GET', `${repo}/pulls/${pull}`)).state).toBe('closed');
    const told = (await world.comments(pull)).filter(({ body }) =>
      body.includes('The task of this pull request was deleted'),
    );
    expect(told).toHaveLength(1);
    expect(await statusComment(number)).toEqual([]);
    expect(await statusComment(pull)).toEqual([]);
    expect((await mona<{ state: string }>('GET', `${repo}/issues/${number}`)).state).toBe('open');
  }
  expect(await world.labels(own.number)).toEqual(['people']);
  expect(await world.labels(shared.number)).toEqual([]);
  expect(await branches()).toContain(sharedBranch);
  expect(await branches()).not.toContain(ownBranch);
});
