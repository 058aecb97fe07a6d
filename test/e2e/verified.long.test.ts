import { until } from '../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../support/face.ts';
import { gitOut } from '../support/git.ts';
import type { WorldTask } from '../support/world.ts';

let face: Face;
let meanwhile: () => Promise<void> = async () => {};
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' }, before: () => meanwhile() });
});
afterAll(() => face.world.close());
afterEach(() => {
  face.world.github.fail(() => undefined);
  face.world.github.rare.signsCommits = true;
  meanwhile = async () => {};
});

interface Commit {
  sha: string;
  message: string;
  tree: { sha: string };
  author: { name: string; email: string };
  committer: { name: string };
  parents: { sha: string }[];
}

const git = (...args: string[]) => gitOut(face.world.github.folderOf('mona/sample'), ...args);
const headOf = (task: WorldTask) => git('rev-parse', task.branchName ?? '');
const commitOf = (sha: string) => face.mona<Commit>('GET', `${repo}/git/commits/${sha}`);
const refsOfOurs = () => git('for-each-ref', 'refs/deckhand');
const committerOf = (task: WorldTask) => git('log', '-1', '--format=%cn', task.branchName ?? '');
const countOf = (task: WorldTask) => Number(git('rev-list', '--count', `main..${task.branchName}`));
/** Lists what the log of the last run says about pushes. */
async function pushLog(task: WorldTask): Promise<string[]> {
  const [run] = await face.world.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const events = await face.world.get<{ type: string; text: string }[]>(`/runs/${run?.id}/events`);
  return events.filter(({ type }) => type === 'push').map(({ text }) => text);
}
const lacks = (log: string[]) => log.filter((line) => line.startsWith('the commit is not signed'));

test('GitHub makes and signs the commit, of the same tree and message, and our ref goes', async () => {
  const { inReview, push, world } = face;
  await push('main', '.deckhand.yml', 'signOff: true\n');
  const { task } = await inReview({ 'made.txt': 'x\n' });
  const commit = await commitOf(headOf(task));
  expect(commit.committer.name).toBe('GitHub');
  expect(commit.author.name).toBe('deckhand[bot]');
  expect(commit.parents).toMatchObject([{ sha: git('rev-parse', 'main') }]);
  expect(commit.message).toContain(`Task: ${task.id}\nCo-authored-by: mona`);
  expect(commit.message).toContain(`Signed-off-by: ${commit.author.name} <${commit.author.email}>`);
  expect([countOf(task), refsOfOurs(), lacks(await pushLog(task))]).toEqual([1, '', []]);
  const pull = await face.mona<{ head: { sha: string } }>('GET', `${repo}/pulls/${face.pullOf(task)}`);
  expect(pull.head.sha).toBe(commit.sha);
  const prs = await world.get<object[]>(`/tasks/${task.id}/prs`);
  expect(prs).toMatchObject([{ prNumber: face.pullOf(task) }]);
  expect(git('diff', '--name-only', `main...${task.branchName}`)).toBe('made.txt');
});

test('a revision, a merge of the base branch and a rewind are signed, too', async () => {
  const { inReview, next, push, say, settled, world } = face;
  const { number, task } = await inReview({ 'README.md': 'by the agent\n' });
  const first = headOf(task);
  next({ 'more.txt': 'x\n' });
  await say(number, '/agent revise Say more.');
  await settled(number, 'in_review', 2);
  const second = headOf(task);
  expect((await commitOf(second)).parents).toMatchObject([{ sha: first }]);
  expect(committerOf(task)).toBe('GitHub');

  next({ 'README.md': 'by both\n' });
  await push('main', 'README.md', 'by a person\n');
  await settled(number, 'in_review', 3);
  const merge = await commitOf(headOf(task));
  expect(merge.parents.map(({ sha }) => sha)).toEqual([second, git('rev-parse', 'main')]);
  expect(merge.committer.name).toBe('GitHub');

  const runs = await world.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  // The first turn of the rewound run is that of the earlier one.
  const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
  face.plays('', [write('other.txt', 'x\n')], [finish]);
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/rewind`, {
    runId: runs[0]?.id,
    turn: 1,
    text: 'Else.',
  });
  await settled(number, 'in_review', 4);
  // The rewound run began with the merge, so its commit is one, too.
  expect((await commitOf(headOf(task))).parents.map(({ sha }) => sha)).toEqual([merge.sha, merge.parents[1]?.sha]);
  expect([committerOf(task), refsOfOurs()]).toEqual(['GitHub', '']);
});

test('a commit that is not to be signed is pushed as it is', async () => {
  const { inReview, push, world } = face;
  await push('main', '.deckhand.yml', 'verified: never\n');
  const asked: string[] = [];
  world.github.fail((method, path) => {
    if (/\/git\/(commits|refs)/.test(path)) asked.push(`${method} ${path}`);
    return undefined;
  });
  const never = await inReview({ 'never.txt': 'x\n' });
  expect([committerOf(never.task), lacks(await pushLog(never.task)), asked]).toEqual(['deckhand[bot]', [], []]);
  await push('main', '.deckhand.yml', '{}\n');
});

test.each([404, 422])('GitHub answers %i to the making of commits: pushed as it is', async (status) => {
  const { inReview, world } = face;
  world.github.fail((method, path) => (method === 'POST' && /\/git\/commits$/.test(path) ? { status } : undefined));
  const { task } = await inReview({ [`refused-${status}.txt`]: 'x\n' });
  expect([committerOf(task), countOf(task), refsOfOurs()]).toEqual(['deckhand[bot]', 1, '']);
  expect(lacks(await pushLog(task))).toEqual([
    `the commit is not signed by GitHub: GitHub answered HTTP ${status}: made to fail`,
  ]);
});

test.each([
  ['our ref', 'GIT', /receive-pack/, 403],
  ['the new branch', 'POST', /\/git\/refs$/, 403],
] as const)('GitHub refuses %s: pushed as it is', async (_what, verb, pattern, status) => {
  const { inReview, world } = face;
  let isFirst = true;
  world.github.fail((method, path) => {
    if (!isFirst || method !== verb || !pattern.test(path)) return undefined;
    isFirst = false;
    return { status };
  });
  const { task } = await inReview({ [`refused-${verb}.txt`]: 'x\n' });
  expect([committerOf(task), countOf(task), refsOfOurs()]).toEqual(['deckhand[bot]', 1, '']);
  expect(lacks(await pushLog(task))).toHaveLength(1);
});

test('a push that somebody else made meanwhile is not overwritten', async () => {
  const { inReview, next, push, say, settled } = face;
  const { number, task } = await inReview({ 'made-2.txt': 'x\n' });
  next({ 'made-2.txt': 'y\n' });
  let isFirst = true;
  meanwhile = async () => {
    if (isFirst) await push(task.branchName ?? '', 'theirs.txt', 'x\n');
    isFirst = false;
  };
  await say(number, '/agent revise Say y.');
  const failed = await until('the failure', async () => {
    const now = await face.get(task);
    return now.failure !== null && now;
  });
  expect(failed.failure).toMatchObject({ category: 'push_rejected' });
  expect([git('log', '-1', '--format=%s', task.branchName ?? ''), refsOfOurs()]).toEqual(['by a person', '']);
  meanwhile = async () => {};
  await say(number, '/agent retry');
  await settled(number, 'in_review', 3);
  expect([committerOf(task), git('show', `${task.branchName}:theirs.txt`)]).toEqual(['GitHub', 'x']);
});

test('a ref that a run left is removed by the next comparison, and no other', async () => {
  const { inReview, next, say, settled, world } = face;
  let pushes = 0;
  // The second push of a run with a signed commit is the one that removes our ref.
  world.github.fail((method, path) =>
    method === 'GIT' && path.endsWith('/git-receive-pack') && ++pushes === 2 ? { status: 403 } : undefined,
  );
  const { number, task } = await inReview({ 'left.txt': 'x\n' });
  const runs = () => world.get<{ id: string; status: string }[]>(`/tasks/${task.id}/runs`);
  const [ended] = await runs();
  const names = () => git('for-each-ref', '--format=%(refname)', 'refs/deckhand').split('\n');
  expect(names()).toEqual([`refs/deckhand/${ended?.id}`]);
  const compare = () => world.service.api(world.token, 'POST', '/agents/pool/reconcile', {});

  const others = ['refs/deckhand/notes', 'refs/deckhand/run_01kn00000000000000000000zz'];
  for (const ref of others) git('update-ref', ref, 'main');
  let during: string[] = [];
  meanwhile = async () => {
    meanwhile = async () => {};
    const [live] = await runs();
    git('update-ref', `refs/deckhand/${live?.id}`, 'main');
    await compare();
    expect(live?.status).toBe('running');
    during = names().filter((ref) => ref !== `refs/deckhand/${live?.id}`);
    expect(names()).toHaveLength(during.length + 1);
  };
  next({ 'left.txt': 'y\n' });
  await say(number, '/agent revise Say y.');
  await settled(number, 'in_review', 2);
  expect([during, names()]).toEqual([others, others]);
  for (const ref of others) git('update-ref', '-d', ref);
});

// The last one, because the service remembers for ten minutes that a host does not sign.
test('what the host does not sign is pushed as it is', async () => {
  const { inReview, world } = face;
  world.github.rare.signsCommits = false;
  const unsigned = await inReview({ 'unsigned.txt': 'x\n' });
  expect([committerOf(unsigned.task), countOf(unsigned.task), refsOfOurs()]).toEqual(['deckhand[bot]', 1, '']);
  expect(lacks(await pushLog(unsigned.task))).toEqual([
    'the commit is not signed by GitHub: the host made a commit that is not verified (unsigned)',
  ]);
});
