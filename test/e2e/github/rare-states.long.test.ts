import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';

const workflow = '.github/workflows/ci.yml';
let face: Face;
/** Happens once, before the model answers. */
let meanwhile: (() => Promise<unknown>) | undefined;
beforeAll(async () => {
  face = await openFace({
    settings: { SANDBOX: 'off' },
    seed: { more: ['other'] },
    before: async () => {
      const happens = meanwhile;
      meanwhile = undefined;
      await happens?.();
    },
  });
});
afterAll(() => face.world.close());
afterEach(() => Object.assign(face.world.github.rare, { isSuspended: false, walled: undefined, requires: undefined }));

const reconcile = () => face.world.service.api(face.world.token, 'POST', '/agents/pool/reconcile');
/** Makes GitHub report a change of the installation, and waits until the project shows its state. */
async function stateAfter(event: string, action: string, state: string) {
  const { github, get, project } = face.world;
  await github.send(event, { sender: 'mona', action });
  return until(`the state ${state}`, async () => {
    const shown = (await get<{ github: { state: string; reason: string } }>(`/projects/${project.id}`)).github;
    return shown.state === state && shown;
  });
}

test('GitHub refuses a merge of the base for a changed workflow, and a retry merges the newest base', async () => {
  const { world, push, inReview, next, say, get, kinds, settled, fileOn } = face;
  await push('main', workflow, 'on: push # 1\n');
  const { number, task } = await inReview({ 'README.md': 'by the agent\n' });
  await push('main', workflow, 'on: push # 2\n');
  next({ 'README.md': 'by both\n' });
  meanwhile = () => push('main', workflow, 'on: push # 3\n');
  await push('main', 'README.md', 'by a person\n');
  await until('the revision', async () => (await kinds(task)).join() === 'revise,start');
  const { failure } = await until('its failure', async () => {
    const now = await get(task);
    return now.failure !== null && now;
  });
  expect(failure?.category).toBe('conflict');
  expect(failure?.message).toContain(`refusing to allow a GitHub App to create or update workflow \`${workflow}\``);
  expect(failure?.message).toContain('The base branch has changed it since the run merged it');
  expect(world.github.pushes.filter((p) => p.token.startsWith('ghs_'))).toHaveLength(1);
  await say(number, '/agent retry');
  const done = await settled(number, 'in_review', 3);
  expect(fileOn(done.branchName ?? '', workflow)).toBe('on: push # 3');
  expect(fileOn(done.branchName ?? '', 'README.md')).toBe('by both');
});

test('a merge that a merge queue or an outdated branch prevents is answered with the reason, in one line', async () => {
  const { world, push, inReview, say, told, get, statusComment } = face;
  const { number, task } = await inReview({ 'merge.txt': 'by the agent\n' });
  world.github.rare.requires = 'queue';
  await say(number, '/agent merge');
  await told(number, 'Changes must be made through the merge queue');
  expect((await statusComment(number))[0]?.body).toMatch(/was refused: .*rule violations found Changes must be made/);
  world.github.rare.requires = 'up to date';
  await push('main', 'moved.txt', 'by a person\n');
  await say(number, '/agent merge');
  await told(
    number,
    'was behind its base branch, which requires branches to be up to date. It is brought up to date now.',
  );
  expect((await get(task)).status).toBe('in_review');
  // The head is new, so it is merged by somebody who has seen it.
  await until('done', async () => {
    await world.service.api(world.token, 'POST', `/tasks/${task.id}/merge`).catch(() => undefined);
    return (await get(task)).status === 'done';
  });
});

test('what deleted accounts wrote counts for nobody, and a pull request of a deleted fork is answered', async () => {
  const { world, as, mona, say, next, settled, push } = face;
  const { rare } = world.github;
  const number = await world.issue('');
  await say(number, 'Please use tabs.', 'stranger');
  await say(number, '/agent start', 'stranger');
  await push('of-a-fork', 'fork.txt', 'x\n', { force: true });
  const { number: pull } = await mona<{ number: number }>('POST', `${repo}/pulls`, {
    title: 'From a fork',
    head: 'of-a-fork',
    base: 'main',
  });
  rare.deletedUsers.add('stranger');
  rare.deletedForks.add(pull);
  next({ 'ghost.txt': 'x\n' });
  await say(number, '/agent start');
  const task = await settled(number, 'in_review', 1);
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('ghost');
  const event = { event: 'REQUEST_CHANGES', body: 'No.' };
  await as('stranger')('POST', `${repo}/pulls/${face.pullOf(task)}/reviews`, event);
  await say(pull, '/agent help');
  await until('the help', async () => (await world.comments(pull)).some(({ body }) => body.includes('/agent ask')));
  await reconcile();
  expect((await face.get(task)).status).toBe('in_review');
  expect(await face.kinds(task)).toEqual(['start']);
  rare.deletedUsers.clear();
});

test('tasks of issues that were deleted or transferred, of which no event came, stay without an issue', async () => {
  const { world, taskOf } = face;
  const { rare } = world.github;
  const made = [];
  for (const _ of [1, 2]) {
    const number = await world.issue('/agent create');
    made.push({ number, task: await taskOf(number) });
    await face.told(number, /backlog/i);
  }
  const [deleted, moved] = made as [(typeof made)[0], (typeof made)[0]];
  rare.goneIssues.set(`${repo}/issues/${deleted.number}`, undefined);
  const now = await world.github.transfer(moved.number, 'mona/other');
  await world.service.api(world.token, 'PATCH', `/tasks/${deleted.task.id}`, { title: 'Changed' });
  await reconcile();
  const numberOf = async ({ id }: { id: string }) =>
    (await world.get<{ issueNumber: number | null }>(`/tasks/${id}`)).issueNumber;
  expect([await numberOf(deleted.task), await numberOf(moved.task)]).toEqual([null, null]);
  // In its new place the issue can have a task.
  await world.github.as('mona')('POST', `${now}/comments`, { body: '/agent create' });
  await until('the new task', async () =>
    (await world.get<{ issueUrl: string | null }[]>(`/projects/${world.project.id}/tasks?limit=100`)).some((t) =>
      t.issueUrl?.endsWith(now.replace('/repos', '')),
    ),
  );
});

test('a task keeps its issue while issues are switched off', async () => {
  const { world, taskOf } = face;
  const { rare } = world.github;
  const number = await world.issue('/agent create');
  const { id } = await taskOf(number);
  rare.areIssuesOff = true;
  await world.service.api(world.token, 'PATCH', `/tasks/${id}`, { title: 'Changed' });
  await reconcile();
  rare.areIssuesOff = false;
  expect((await world.get<{ issueNumber: number | null }>(`/tasks/${id}`)).issueNumber).toBe(number);
  await reconcile();
  await face.told(number, /backlog/i);
});

test('while pull requests are switched off, a run fails with the reason before it asks a model', async () => {
  const { world, taskOf, get, next, say, settled } = face;
  const { rare } = world.github;
  rare.arePullsOff = true;
  const asked = world.model.requests.length;
  next({ 'off.txt': 'x\n' });
  const number = await world.issue('/agent start');
  const task = await taskOf(number);
  const { failure } = await until('the failure', async () => {
    const now = await get(task);
    return now.failure !== null && now;
  });
  expect(failure?.category).toBe('repository');
  expect(failure?.message).toMatch(/^pull requests are switched off in mona\/sample\. Switch them on/);
  expect(world.model.requests).toHaveLength(asked);
  rare.arePullsOff = false;
  await say(number, '/agent retry');
  await settled(number, 'in_review', 2);
});

test('pull requests that are switched off while an agent works are the reason of the failure', async () => {
  const { world, taskOf, get, next, say, settled } = face;
  const { rare } = world.github;
  next({ 'later.txt': 'x\n' });
  meanwhile = async () => {
    rare.arePullsOff = true;
  };
  const number = await world.issue('/agent start');
  const task = await taskOf(number);
  const { failure } = await until('the failure', async () => {
    const now = await get(task);
    return now.failure !== null && now;
  });
  expect(failure).toMatchObject({ category: 'repository', message: expect.stringContaining('are switched off in') });
  rare.arePullsOff = false;
  next({});
  await say(number, '/agent retry');
  await settled(number, 'in_review', 2);
});

test('a pull request whose conversation is locked gets its check run, and the task says why it has no comment', async () => {
  const { world, taskOf, get, kinds, mona, next } = face;
  const { rare } = world.github;
  const number = await world.issue('/agent create');
  await face.told(number, /backlog/i);
  const { id } = await taskOf(number);
  // The next number is that of the pull request.
  rare.locked.add(`${repo}/issues/${number + 1}`);
  next({ 'locked.txt': 'x\n' });
  await face.say(number, '/agent start');
  const task = await face.settled(number, 'in_review', 1);
  expect(face.pullOf(task)).toBe(number + 1);
  const { head } = await mona<{ head: { sha: string } }>('GET', `${repo}/pulls/${number + 1}`);
  await until('the check run', async () => {
    const path = `${repo}/commits/${head.sha}/check-runs`;
    const { check_runs: checks } = await mona<{ check_runs: { conclusion: string | null }[] }>('GET', path);
    return checks.some(({ conclusion }) => conclusion === 'success');
  });
  expect(await world.comments(number + 1)).toEqual([]);
  const timeline = await world.get<{ type: string; text: string }[]>(`/tasks/${id}/timeline`);
  expect(timeline.filter(({ type }) => type === 'comment_refused').map(({ text }) => text)).toEqual([
    'GitHub answered with status 403: Unable to create comment because issue is locked. - https://docs.github.com/rest',
  ]);
  expect([(await get(task)).failure, await kinds(task)]).toEqual([null, ['start']]);
});

test('a project says that its installation is suspended, or that a list of IP addresses refuses it', async () => {
  const { world, get } = face;
  const { rare } = world.github;
  const task = (await face.inReview({ 'state.txt': 'x\n' })).task;
  rare.isSuspended = true;
  expect((await stateAfter('installation', 'suspend', 'suspended')).reason).toContain('suspended for mona');
  rare.isSuspended = false;
  await stateAfter('installation', 'unsuspend', 'ok');
  rare.walled = 'mona';
  expect((await stateAfter('installation', 'new_permissions_accepted', 'refused')).reason).toContain('IP allow list');
  await reconcile();
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/revise`, { text: 'More.' });
  const { failure } = await until('the failure', async () => {
    const shown = await get(task);
    return shown.failure !== null && shown;
  });
  expect(failure?.category).toBe('auth');
  expect(failure?.message).toContain('IP allow list');
  rare.walled = undefined;
  await stateAfter('installation', 'new_permissions_accepted', 'ok');
});

test('a repository that was renamed without an event is found by its id', async () => {
  const { world, taskOf, next } = face;
  const number = await world.issue('/agent create');
  const task = await taskOf(number);
  await world.github.rename('renamed');
  next({ 'renamed.txt': 'x\n' });
  // The run cannot clone the old address; the comment's event has the new one.
  await world.github.as('mona')('POST', `/repos/mona/renamed/issues/${number}/comments`, { body: '/agent start' });
  const done = await until('review', async () => {
    const now = await face.get(task);
    return now.status === 'in_review' && now;
  });
  expect(done.prUrl).toContain('/mona/renamed/pull/');
});
