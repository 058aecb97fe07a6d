import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, write } from '../../support/face.ts';
import { gitAsync, gitOut, gitWith } from '../../support/git.ts';

// The repository has a private submodule, docs, which has a tag with one more file.
let face: Face;
let [first, second] = ['', ''];

beforeAll(async () => {
  face = await openFace({ seed: { more: ['Docs'], isPrivate: true, people: ['mona'] } });
  const { world, push, inClone } = face;
  await until('both repositories', async () => (await world.get<unknown[]>('/repositories')).length === 2);
  const docs = world.github.folderOf('mona/Docs');
  first = gitOut(docs, 'rev-parse', 'main');
  const blob = gitWith(docs, 'new\n', 'hash-object', '-w', '--stdin');
  const tree = gitWith(docs, `${gitOut(docs, 'ls-tree', 'main')}\n100644 blob ${blob}\tNEW.md\n`, 'mktree');
  second = gitOut(docs, 'commit-tree', tree, '-p', first, '-m', 'second');
  gitOut(docs, 'tag', '-a', '-m', 'a tag', 'v2', second);
  await inClone('main', 'main', false, async (clone) => {
    await gitAsync(clone, 'config', '-f', '.gitmodules', 'submodule.docs.path', 'docs');
    await gitAsync(clone, 'config', '-f', '.gitmodules', 'submodule.docs.url', '../Docs');
    await gitAsync(clone, 'update-index', '--add', '--cacheinfo', `160000,${first},docs`);
    await gitAsync(clone, 'add', '.gitmodules');
    await gitAsync(clone, 'commit', '-q', '-m', 'by a person');
  });
  await push('main', '.deckhand.yml', 'checkout: { submodules: true }\nchecks: [cat docs/NEW.md]\n');
});
afterAll(() => face.world.close());

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const move = { name: 'set_submodule', arguments: { path: 'docs', commit: 'v2' } };
const look = { name: 'run_command', arguments: { command: 'cat docs/NEW.md; sleep 1000 & ls docs/.git' } };

const onBranch = (branch: string | null) =>
  gitOut(face.world.github.folderOf('mona/sample'), 'ls-tree', branch ?? '', 'docs');

test('a submodule that the task does not name moves once a person has allowed it', async () => {
  const { world, plays, settled } = face;
  plays([move], [look, write('made.txt', 'x\n')], [finish], [finish]);
  const number = await world.issue('/agent start', { title: 'Make a file', body: '' });
  const { id } = await face.taskOf(number);
  const attention = async () => (await world.get<{ attention: { text: string } | null }>(`/tasks/${id}`)).attention;
  await until('the wait', async () => (await attention()) !== null);
  expect((await attention())?.text).toContain(`docs is a submodule that moves from ${first.slice(0, 12)} to ${second}`);
  const answers = world.model.requests.at(-1)?.messages.filter(({ role }) => role === 'tool');
  expect(answers?.map(({ content }) => String(content))).toEqual(
    expect.arrayContaining([
      expect.stringMatching(`^the submodule is at ${second} now`),
      expect.stringMatching(/^\[exit code 2\].*\nnew\n/s),
    ]),
  );
  const { files } = await world.get<{ files: object[] }>(`/tasks/${id}/diff`);
  expect(files).toMatchObject([
    { path: 'docs', hunks: [{ lines: [`-Subproject commit ${first}`, `+Subproject commit ${second}`] }] },
    { path: 'made.txt' },
  ]);
  // The worker that pushes has a new workspace, which it makes from what was stored.
  await world.service.api(world.token, 'POST', `/tasks/${id}/approve`);
  const task = await settled(number, 'in_review', 1);
  expect(onBranch(task.branchName)).toBe(`160000 commit ${second}\tdocs`);
  const [run] = await world.get<{ id: string }[]>(`/tasks/${id}/runs`);
  const texts = (await world.get<{ text: string }[]>(`/runs/${run?.id}/events`)).map(({ text }) => text);
  expect(texts).toContain(`moved the submodule docs to ${second}`);
  expect(JSON.stringify([texts, world.model.requests])).not.toMatch(/ghs_/);
});

test('a submodule that the task names moves without a question', async () => {
  const { world, plays, settled } = face;
  plays([move], [finish], [finish]);
  const number = await world.issue('/agent start', { title: 'Bump the submodule docs to v2', body: '' });
  const task = await settled(number, 'in_review', 1);
  expect(onBranch(task.branchName)).toBe(`160000 commit ${second}\tdocs`);
});
