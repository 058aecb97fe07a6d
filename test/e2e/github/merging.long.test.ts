import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' } });
});
afterAll(() => face.world.close());
afterEach(() =>
  Object.assign(face.world.github.rare, { requires: undefined, isBlocked: false, allowsAutoMerge: true }),
);

type Merging = { state: string; since: string; reason: string } | null;
type Shown = { id: string; status: string; merging: Merging; message?: string };
/** Calls the API, which may refuse. */
async function call(method: string, id: string, body?: object): Promise<{ status: number; body: Shown }> {
  const { url } = face.world.service;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { Authorization: `Bearer ${face.world.token}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${url}/api/v1/tasks/${id}/merge`, { method, headers, ...sent });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
}
const merge = (id: string, body: object) => call('POST', id, body);
const stop = (id: string) => call('DELETE', id);
const shown = (id: string) => face.world.get<Shown>(`/tasks/${id}`);
const mergingOf = (id: string, state: string | null) =>
  until(`merging ${state}`, async () => {
    const now = await shown(id);
    return (now.merging?.state ?? null) === state && now;
  });
const done = (id: string) => until('done', async () => (await shown(id)).status === 'done');

test('what is not ready waits for GitHub, says so everywhere, and is done when GitHub has merged it', async () => {
  const { inReview, told, world } = face;
  const { number, task } = await inReview({ 'waits.txt': 'x\n' });
  world.github.rare.isBlocked = true;
  const asked = await merge(task.id, { when: 'ready' });
  expect([asked.status, asked.body.merging]).toEqual([
    202,
    {
      state: 'waiting',
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      reason: 'It waits for the checks and reviews that its base branch requires.',
    },
  ]);
  await told(number, 'Waiting to be merged');
  // Asking again changes nothing.
  expect((await merge(task.id, { when: 'ready' })).status).toBe(202);
  world.github.rare.isBlocked = false;
  await world.github.merges.settle();
  await done(task.id);
  expect((await shown(task.id)).merging).toBeNull();
  const audit = await world.get<{ action: string; object: { id: string }; detail: object }[]>(
    `/projects/${world.project.id}/audit?limit=100`,
  );
  const records = audit.filter(({ object }) => object.id === task.id);
  expect(records.filter(({ action }) => action === 'task.merge')).toMatchObject([
    { detail: { merging: [null, 'waiting'] } },
  ]);
});

test('it can be taken back; a command asks for it, too', async () => {
  const { inReview, say, world, told } = face;
  const { number, task } = await inReview({ 'back.txt': 'x\n' });
  expect((await stop(task.id)).status).toBe(409);
  world.github.rare.isBlocked = true;
  await say(number, '/agent merge when ready');
  await mergingOf(task.id, 'waiting');
  expect((await stop(task.id)).status).toBe(204);
  await mergingOf(task.id, null);
  world.github.rare.isBlocked = false;
  await world.github.merges.settle();
  expect((await shown(task.id)).status).toBe('in_review');
  await say(number, '/agent merge soon');
  await told(number, 'Write `merge`, or `merge when ready`');
  // To what is complete, GitHub refuses auto-merge.
  expect((await merge(task.id, { when: 'ready' })).body).toMatchObject({ status: 'done', merging: null });
});

test('where auto-merge is not allowed, the refusal says so', async () => {
  const { inReview, world } = face;
  const { task } = await inReview({ 'off.txt': 'x\n' });
  Object.assign(world.github.rare, { isBlocked: true, allowsAutoMerge: false });
  const { status, body } = await merge(task.id, { when: 'ready' });
  expect([status, body.message]).toEqual([409, expect.stringMatching(/does not allow auto-merge\. Allow it in its/)]);
});

test('a merge queue takes it, and its failed checks tell the person and the agent', async () => {
  const { inReview, next, world, told, pullOf, kinds } = face;
  const { number, task } = await inReview({ 'queue.txt': 'x\n' });
  Object.assign(world.github.rare, { requires: 'queue', allowsAutoMerge: false });
  const now = await merge(task.id, {});
  expect([now.status, now.body.message]).toEqual([
    409,
    expect.stringMatching(
      /^The base branch requires a merge queue\. Use "merge when ready" instead.*Changes must be made through the merge queue/,
    ),
  ]);
  expect((await merge(task.id, { when: 'ready' })).body.merging?.state).toBe('queued');
  await told(number, 'In the merge queue');
  await world.github.merges.dequeue('mona/sample', pullOf(task), 'MERGE_CONFLICT');
  await mergingOf(task.id, null);
  await told(number, 'Not merged');
  const inbox = await world.get<{ taskId: string; text: string }[]>('/me/inbox');
  expect(inbox.find(({ taskId }) => taskId === task.id)?.text).toMatch(
    /out of its merge queue: it conflicts with its base branch, or with a pull request before it in the queue\.$/,
  );
  expect((await merge(task.id, { when: 'ready' })).body.merging?.state).toBe('queued');
  next({ 'queue.txt': 'fixed\n' });
  await world.github.merges.dequeue('mona/sample', pullOf(task), 'CI_FAILURE');
  await until('the revision', async () => (await kinds(task)).join() === 'revise,start');
  await until('its end', async () => (await shown(task.id)).status === 'in_review');
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('out of its merge queue');
});

test('commits that came after somebody asked are not merged', async () => {
  const { inReview, push, world, told } = face;
  const { number, task } = await inReview({ 'later.txt': 'x\n' });
  world.github.rare.isBlocked = true;
  await merge(task.id, { when: 'ready' });
  await push(task.branchName ?? '', 'sneaked.txt', 'x\n');
  await mergingOf(task.id, null);
  await told(number, /took back the merge of .*: commit \w{7} came after somebody asked for it/);
  world.github.rare.isBlocked = false;
  await world.github.merges.settle();
  expect((await shown(task.id)).status).toBe('in_review');
});

test('a run takes back the merge that waits', async () => {
  const { inReview, next, say, world, told, settled } = face;
  const { number, task } = await inReview({ 'again.txt': 'x\n' });
  world.github.rare.isBlocked = true;
  await merge(task.id, { when: 'ready' });
  next({ 'again.txt': 'y\n' });
  await say(number, '/agent revise Otherwise.');
  await settled(number, 'in_review', 2);
  expect((await shown(task.id)).merging).toBeNull();
  await told(number, 'took back the merge');
  world.github.rare.isBlocked = false;
  await world.github.merges.settle();
  expect((await shown(task.id)).status).toBe('in_review');
});

test('a run takes back a merge that no event told us of', async () => {
  const { inReview, next, say, world, told, settled } = face;
  const { number, task } = await inReview({ 'untold.txt': 'x\n' });
  world.github.rare.requires = 'queue';
  expect((await merge(task.id, { when: 'ready' })).body.merging?.state).toBe('queued');
  await told(number, 'In the merge queue');
  await world.sql('delete from merges', []);
  next({ 'untold.txt': 'y\n' });
  await say(number, '/agent revise Otherwise.');
  await settled(number, 'in_review', 2);
  await told(number, 'took back the merge');
  await world.github.merges.settle();
  expect((await shown(task.id)).status).toBe('in_review');
});

test('a branch that is behind is brought up to date: now says so, ready goes on', async () => {
  const { inReview, push, world, fileOn } = face;
  const { task } = await inReview({ 'behind.txt': 'x\n' });
  world.github.rare.requires = 'up to date';
  await push('main', 'moved-1.txt', 'x\n');
  const now = await merge(task.id, {});
  expect([now.status, now.body.message]).toEqual([409, expect.stringMatching(/It is brought up to date now\./)]);
  expect(fileOn(task.branchName ?? '', 'moved-1.txt')).toBe('x');
  await push('main', 'moved-2.txt', 'x\n');
  const heads = async () =>
    (await world.get<{ pullRequests: { headSha: string }[] }>(`/tasks/${task.id}/merge-readiness`)).pullRequests;
  await until('the new head', async () => (await heads())[0]?.headSha === fileHead(task.branchName ?? ''));
  expect((await merge(task.id, { when: 'ready' })).status).toBe(202);
  await until('the update', async () => (await hasFile(task.branchName ?? '', 'moved-2.txt')) && true);
  await mergingOf(task.id, 'waiting');
  await world.github.merges.settle();
  await done(task.id);
});

const fileHead = (branch: string) => gitOut(face.world.github.folderOf('mona/sample'), 'rev-parse', branch);
const hasFile = async (branch: string, path: string) => {
  try {
    return face.fileOn(branch, path) === 'x';
  } catch {
    return false;
  }
};

test('what people do on GitHub shows, too', async () => {
  const { inReview, world, pullOf, mona } = face;
  const { task } = await inReview({ 'there.txt': 'x\n' });
  world.github.rare.isBlocked = true;
  const { node_id: id } = await mona<{ node_id: string }>('GET', `${repo}/pulls/${pullOf(task)}`);
  const query =
    'mutation ($id: ID!) { enablePullRequestAutoMerge(input: { pullRequestId: $id }) { pullRequest { id } } }';
  const ask = (asked: string) =>
    fetch(`${world.github.url}/graphql`, {
      method: 'POST',
      headers: { Authorization: 'token person-mona' },
      body: JSON.stringify({ query: asked, variables: { id } }),
    });
  await ask(query);
  await mergingOf(task.id, 'waiting');
  await ask(query.replace('enable', 'disable'));
  await mergingOf(task.id, null);
});
