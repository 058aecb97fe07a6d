import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

/** A repository with the DCO, signed commits, required reviews, and reviewers of every pull request. */
let face: Face;
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' }, seed: { people: ['mona', 'bob', 'carol', 'stranger'] } });
  for (const login of ['bob', 'carol'])
    await face.mona('PUT', `${repo}/collaborators/${login}`, { permission: 'maintain' });
  for (const name of ['agent', 'needs-review'])
    await face.mona('POST', `${repo}/labels`, { name, description: 'Of an agent', color: 'ededed' });
  await face.push(
    'main',
    '.deckhand.yml',
    `signOff: true
verified: auto
approve: others
push: approved
pullRequest: { labels: [agent, needs-review], reviewers: [bob, stranger, carol] }
`,
  );
});
afterAll(() => face.world.close());

interface Pull {
  body: string;
  labels: { name: string }[];
  requested_reviewers: { login: string }[];
}
const git = (...args: string[]) => gitOut(face.world.github.folderOf('mona/sample'), ...args);
/** The author, the committer, and the trailers of the last commit of a branch. */
const commitOf = (branch: string) => {
  const [author = '', committer = '', ...message] = git('log', '-1', '--format=%an <%ae>%n%cn%n%B', branch).split('\n');
  const trailers = (name: string) => message.filter((line) => line.startsWith(`${name}: `));
  return { author, committer, trailers };
};

test('who started it neither approves nor merges; every commit is signed off and signed; who cannot review is left out', async () => {
  const { world, next, say, settled, told, mona, as, pullOf, get } = face;
  const waits = (task: { id: string }) =>
    until('a change to approve', async () => {
      const { attention } = (await get(task as never)) as unknown as { attention: { reason: string } | null };
      return attention?.reason === 'push';
    });
  next({ 'src/hello.js': 'hi\n' });
  const number = await world.issue('/agent start');
  const begun = await face.taskOf(number);
  await waits(begun);
  await say(number, '/agent approve');
  await told(number, /was refused: You started this task, .* you cannot approve its change/);
  await say(number, '/agent approve', 'bob');
  const task = await settled(number, 'in_review', 1);
  const pull = await mona<Pull>('GET', `${repo}/pulls/${pullOf(task)}`);
  expect(pull.requested_reviewers.map(({ login }) => login)).toEqual(['bob', 'carol']);
  expect(pull.labels.map(({ name }) => name)).toEqual(expect.arrayContaining(['agent', 'needs-review']));
  // The pull request shows the task as the issue does.
  await until('its label', async () => (await world.labels(pullOf(task))).includes('agent:in-review'));
  await until('its comment', async () =>
    (await world.comments(pullOf(task))).some(({ body }) => body.includes('### 👀 In review')),
  );
  expect(pull.body).toContain('without the reviewer stranger, whom GitHub does not accept here.');
  const branch = task.branchName ?? '';
  const isSigned = () => {
    const { author, committer, trailers } = commitOf(branch);
    expect([committer, trailers('Signed-off-by')]).toEqual(['GitHub', [`Signed-off-by: ${author}`]]);
    return trailers('Co-authored-by')[0];
  };
  expect(isSigned()).toMatch(/^Co-authored-by: mona /);

  world.github.rare.isBlocked = true;
  await say(number, '/agent merge when ready');
  await told(number, /was refused: You started this task, .* you cannot merge it/);
  await say(number, '/agent merge when ready', 'bob');
  await told(number, 'Waiting to be merged');

  // A request for changes takes the merge back. Who asked for the changes may approve them.
  next({ 'src/hello.js': 'hello\n' });
  const reviews = `${repo}/pulls/${pullOf(task)}/reviews`;
  await as('carol')('POST', reviews, { event: 'REQUEST_CHANGES', body: 'Say hello.' });
  await until('the revision', async () => (await get(task)).runCount === 2);
  await waits(task);
  await say(number, '/agent approve');
  await told(number, /was refused: You started this task/);
  await say(number, '/agent approve', 'carol');
  await settled(number, 'in_review', 2);
  expect(isSigned()).toMatch(/^Co-authored-by: carol /);

  for (const login of ['bob', 'carol']) await as(login)('POST', reviews, { event: 'APPROVE', body: '' });
  await say(number, '/agent merge when ready', 'carol');
  await told(number, 'Waiting to be merged');
  world.github.rare.isBlocked = false;
  await world.github.merges.settle();
  await until('done', async () => (await get(task)).status === 'done');
  expect(git('show', 'main:src/hello.js')).toBe('hello');
});
