import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import type { WorldTask } from '../../support/world.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' } });
});
afterAll(() => face.world.close());
afterEach(() => Object.assign(face.world.github.rare, { requires: undefined, isBlocked: false }));

type Shown = { status: string; merging: { state: string } | null };
const git = (...args: string[]) => gitOut(face.world.github.folderOf('mona/sample'), ...args);
const has = (branch: string, path: string) => git('ls-tree', '-r', '--name-only', branch).split('\n').includes(path);
const shown = (task: WorldTask) => face.world.get<Shown>(`/tasks/${task.id}`);
const changeBase = ({ pull }: { pull: number }, base: string) =>
  face
    .mona('PATCH', `${repo}/pulls/${pull}`, { base })
    .then(() => face.world.service.api(face.world.token, 'POST', '/agents/pool/reconcile'));
/** Makes a branch that nobody has looked at. */
async function branchOff(branch: string, path: string): Promise<void> {
  await face.inClone('main', branch, false, async () => {});
  await face.push(branch, path, 'x\n');
}
/** Merges a new task when it is ready, which it is not yet. */
async function waiting(path: string) {
  const made = await face.inReview({ [path]: 'x\n' });
  face.world.github.rare.isBlocked = true;
  await face.world.service.api(face.world.token, 'POST', `/tasks/${made.task.id}/merge`, { when: 'ready' });
  expect((await shown(made.task)).merging?.state).toBe('waiting');
  return made;
}
/** Lets GitHub merge what waits. */
async function lift(): Promise<void> {
  Object.assign(face.world.github.rare, { requires: undefined, isBlocked: false });
  await face.world.github.merges.settle();
}

test('a merge is taken back when somebody changes the base on GitHub', async () => {
  await branchOff('loose', 'loose.txt');
  const made = await waiting('for-main.txt');
  await changeBase(made, 'loose');
  await face.told(made.number, /took back the merge of .*: it goes to the branch loose now, not to main/);
  expect((await shown(made.task)).merging).toBeNull();
  await lift();
  expect([has('loose', 'for-main.txt'), (await shown(made.task)).status]).toEqual([false, 'in_review']);
});

test('no other base is merged into a branch whose merge waits, also if the base comes back', async () => {
  const made = await waiting('kept.txt');
  await branchOff('unseen', 'unseen.txt');
  // The other branch requires branches to be up to date.
  face.world.github.rare.requires = 'up to date';
  const head = git('rev-parse', made.task.branchName ?? '');
  await changeBase(made, 'unseen');
  await face.told(made.number, 'it goes to the branch unseen now, not to main');
  await changeBase(made, 'main');
  await lift();
  expect(git('rev-parse', made.task.branchName ?? '')).toBe(head);
  expect([has('main', 'unseen.txt'), (await shown(made.task)).status]).toEqual([false, 'in_review']);
});

test('a merge is taken back instead of updating its branch when who asked for it lost write permission', async () => {
  const { inReview, mona, say, push, told, world } = face;
  const may = (permission: string) => mona('PUT', `${repo}/collaborators/stranger`, { permission });
  await may('push');
  const { number, task } = await inReview({ 'lost.txt': 'x\n' });
  world.github.rare.isBlocked = true;
  await say(number, '/agent merge when ready', 'stranger');
  await until('merging', async () => (await shown(task)).merging?.state === 'waiting');
  await may('pull');
  world.github.rare.requires = 'up to date';
  await push('main', 'moved.txt', 'x\n');
  await told(number, /took back the merge of .*: stranger has no write permission in the repository/);
  expect([(await shown(task)).merging, has(task.branchName ?? '', 'moved.txt')]).toEqual([null, false]);
});

test('a run takes back the merge of another pull request that somebody opened from its branch', async () => {
  const { inReview, mona, next, say, settled, world } = face;
  const { number, task } = await inReview({ 'seen.txt': 'x\n' });
  const head = task.branchName ?? '';
  await branchOff('elsewhere', 'elsewhere.txt');
  world.github.rare.isBlocked = true;
  const { node_id: id } = await mona<{ node_id: string }>('POST', `${repo}/pulls`, {
    ...{ title: 'Mine', head, base: 'elsewhere' },
  });
  const query =
    'mutation ($id: ID!) { enablePullRequestAutoMerge(input: { pullRequestId: $id }) { pullRequest { id } } }';
  const answer = await fetch(`${world.github.url}/graphql`, {
    method: 'POST',
    headers: { Authorization: 'token person-mona' },
    body: JSON.stringify({ query, variables: { id } }),
  });
  expect(await answer.json()).toMatchObject({ data: { enablePullRequestAutoMerge: { pullRequest: { id } } } });
  next({ 'unseen.txt': 'y\n' });
  await say(number, '/agent revise Otherwise.');
  await settled(number, 'in_review', 2);
  await lift();
  expect([has(head, 'unseen.txt'), has('elsewhere', 'unseen.txt')]).toEqual([true, false]);
});
