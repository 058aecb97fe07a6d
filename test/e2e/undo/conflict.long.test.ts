import type { Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { write } from '../../support/face.ts';
import { gitOut, gitWith } from '../../support/git.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

let world: World;
let script: Said[] = [];

beforeAll(async () => {
  world = await openWorld((_request, turn) => script[Math.min(turn, script.length - 1)] ?? 'Done.', {
    seed: { people: ['mona', 'bob'] },
    settings: { SANDBOX: 'off' },
  });
});
afterAll(() => world.close());

const finish = { name: 'finish', arguments: { summary: 'Resolved.', nextSteps: [] } };
const call = <T>(method: string, path: string) => world.service.api<T>(world.token, method, path);
const git = (...args: string[]) => gitOut(world.github.folderOf('mona/sample'), ...args);

/** Puts a file onto main, as somebody else would. */
async function changeOnMain(path: string, content: string): Promise<void> {
  const folder = world.github.folderOf('mona/sample');
  const blob = gitWith(folder, content, 'hash-object', '-w', '--stdin');
  const others = git('ls-tree', 'main')
    .split('\n')
    .filter((line) => !line.endsWith(`\t${path}`));
  const tree = gitWith(folder, `${[...others, `100644 blob ${blob}\t${path}`].join('\n')}\n`, 'mktree');
  git('update-ref', 'refs/heads/main', git('commit-tree', tree, '-p', 'main', '-m', 'later'));
  await world.github.showBranches('mona/sample');
}

test('a revert that conflicts goes to the agent; a quote answers in a comment; who may not write cannot undo', async () => {
  script = [[write('notes.txt', 'one\n')], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]];
  const number = await world.issue('/agent start');
  const task = await world.taskIn('in_review');
  const mona = world.github.as('mona');
  await mona('POST', `/repos/mona/sample/issues/${number}/comments`, { body: '/agent quote' });
  const said = await until('the quote', async () =>
    (await world.comments(number)).find(({ body }) => body.includes('A quote needs 9 finished tasks.')),
  );
  expect(said.body).toContain('There is no quote for this task yet.');
  await call('POST', `/tasks/${task.id}/merge`);
  await until('the merge', async () => (await world.get<WorldTask>(`/tasks/${task.id}`)).status === 'done');
  await changeOnMain('notes.txt', 'one\nand two\n');

  const bob = world.github.as('bob');
  const { id: comment } = await bob<{ id: number }>('POST', `/repos/mona/sample/issues/${number}/comments`, {
    body: '/agent undo',
  });
  expect(comment).toBeGreaterThan(0);

  const asked = world.model.requests.length;
  script = [[write('notes.txt', 'and two\n')], [finish]];
  await mona('POST', `/repos/mona/sample/issues/${number}/comments`, { body: '/agent undo' });
  const undo = await until('the undo in review', async () => {
    const all = await world.get<(WorldTask & { undoOf: string | null })[]>(`/projects/${world.project.id}/tasks`);
    const found = all.filter(({ undoOf }) => undoOf === task.id);
    // That of mona. The one of bob was ignored.
    expect(found.length).toBeLessThan(2);
    return found[0]?.status === 'in_review' && found[0];
  });
  const opening = JSON.stringify(world.model.requests[asked]?.messages);
  expect(opening).toContain('with conflicts in notes.txt');
  expect(git('show', `${undo.branchName}:notes.txt`)).toBe('and two');
  const [reply] = (await world.comments(number)).filter(({ body }) => body.includes('reverts what was merged'));
  expect(reply?.body).toContain(undo.id);
  const message = git('log', '-1', '--format=%B', undo.branchName ?? '');
  expect(message).toMatch(/^This reverts commit [0-9a-f]{40} \(#\d+\)\.$/m);
});
