import { until } from '../../../src/demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

let face: Face;
let pushed = false;
let held: Promise<unknown> | undefined;
beforeAll(async () => {
  const before = async () => {
    await held;
  };
  face = await openFace({ before, settings: { SANDBOX: 'off' } });
});
afterAll(() => face.world.close());

test('a person closes, reopens and pushes; the next run continues from their commit', async () => {
  const { world, next, mona, settled, fileOn, inReview, push } = face;
  const { task, pull, number } = await inReview({ 'people.txt': 'agent\n' });
  await mona('PATCH', `${repo}/pulls/${pull}`, { state: 'closed' });
  await settled(number, 'ready', 1);
  await mona('PATCH', `${repo}/pulls/${pull}`, { state: 'open' });
  await settled(number, 'in_review', 1);
  await push(task.branchName ?? '', 'person.txt', 'person\n');
  await until('the diff', async () =>
    (await world.get<{ files: { path: string }[] }>(`/tasks/${task.id}/diff`)).files.some(
      (f) => f.path === 'person.txt',
    ),
  );
  next({ 'people.txt': 'again\n' });
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/revise`, { text: 'again' });
  const after = await settled(number, 'in_review', 2);
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
  const { world, next, settled, fileOn, inReview, push } = face;
  const { number, task } = await inReview({ 'forced.txt': 'agent\n' });
  const branch = task.branchName ?? '';
  await push(branch, 'forced.txt', 'person\n', { force: true });
  const theirs = () => gitOut(world.github.folderOf('mona/sample'), 'rev-parse', branch);
  const before = theirs();
  next({ 'more.txt': 'agent\n' });
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/revise`, { text: 'more' });
  await settled(number, 'in_review', 2);
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
  const after = await settled(number, 'in_review', 3);
  expect(after.failure?.category).toBe('push_rejected');
  expect(theirs()).toBe(now);
});

test('after a person deletes the branch, the next run creates another one', async () => {
  const { world, next, mona, say, settled, inReview } = face;
  const { number, task, pull } = await inReview({ 'deleted.txt': 'x\n' });
  await mona('PATCH', `${repo}/pulls/${pull}`, { state: 'closed' });
  await settled(number, 'ready', 1);
  await mona('DELETE', `${repo}/git/refs/heads/${task.branchName}`);
  gitOut(world.github.folderOf('mona/sample'), 'update-ref', '-d', `refs/heads/${task.branchName}`);
  next({ 'deleted.txt': 'y\n' });
  await say(number, '/agent start');
  const after = await settled(number, 'in_review', 2);
  expect(after.branchName).toBe(`${task.branchName}-2`);
  expect(after.prUrl).not.toBe(task.prUrl);
});

test('the task of a transferred or deleted issue remains, without the issue', async () => {
  const { world, get, settled } = face;
  for (const action of ['transferred', 'deleted']) {
    const number = await world.issue('/agent create');
    const task = await settled(number, 'backlog', 0);
    await world.github.send('issues', { action, issue: { number, title: 'x' }, sender: 'mona' });
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

test('nothing that a stranger does changes anything or gets a reply', async () => {
  const { world, as, say, get, settled, reactionsTo, inReview } = face;
  const { number, task, pull } = await inReview({ 'stranger.txt': 'x\n' });
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
  expect([now.status, now.runCount]).toEqual([(before[0] as typeof now).status, 1]);
  expect(reactionsTo(said.id)).toEqual([]);
  expect((await world.comments(number)).filter((c) => c.user.login === 'deckhand[bot]')).toHaveLength(1);
});
