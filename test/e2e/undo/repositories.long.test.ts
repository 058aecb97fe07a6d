import type { Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { write } from '../../support/face.ts';
import { gitOut, gitWith } from '../../support/git.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

let world: World;
let script: Said[] = [];

beforeAll(async () => {
  world = await openWorld((_request, turn) => script[Math.min(turn, script.length - 1)] ?? 'Done.', {
    seed: { more: ['Docs', 'Tools'], isPrivate: true, people: ['mona', 'stranger', 'bob'] },
    settings: { SANDBOX: 'off' },
  });
  await until('the repositories', async () => (await world.get<unknown[]>('/repositories')).length === 3);
});
afterAll(() => world.close());

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const opened = ['Docs', 'Tools'].map((name) => ({ name: 'open_repository', arguments: { name } }));
const git = (name: string, ...args: string[]) => gitOut(world.github.folderOf(`mona/${name}`), ...args);
const filesOf = (name: string, ref = 'main') => git(name, 'ls-tree', '-r', '--name-only', ref).split('\n');

interface Pull {
  repositoryName: string;
  prNumber: number;
  status: string;
}

interface Task extends WorldTask {
  undoOf: string | null;
}

const pullsOf = (taskId: string) => world.get<Pull[]>(`/tasks/${taskId}/prs`);
const call = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);

/** Waits until a task has this status and no unfinished run. */
const settled = (id: string, status: string) =>
  until(`${id} ${status}`, async () => {
    const task = await world.get<Task>(`/tasks/${id}`);
    const runs = await world.get<{ status: string }[]>(`/tasks/${id}/runs`);
    return (
      task.status === status && runs.every((run) => !['queued', 'running', 'waiting'].includes(run.status)) && task
    );
  });

async function mergeBy(methods: Record<string, string>, pulls: Pull[]): Promise<void> {
  for (const [name, merge_method] of Object.entries(methods)) {
    const pull = pulls.find(({ repositoryName }) => repositoryName === name);
    await world.github.as('mona')('PUT', `/repos/mona/${name}/pulls/${pull?.prNumber}/merge`, { merge_method });
    // GitHub knows the time of a merge in whole seconds.
    await new Promise((done) => setTimeout(done, 1100));
  }
}

/** Adds a file to a branch, as a person would push it. */
function commitTo(name: string, branch: string, file: string): void {
  const folder = world.github.folderOf(`mona/${name}`);
  const blob = gitWith(folder, 'two\n', 'hash-object', '-w', '--stdin');
  const tree = gitWith(folder, `${git(name, 'ls-tree', branch)}\n100644 blob ${blob}\t${file}\n`, 'mktree');
  git(name, 'update-ref', `refs/heads/${branch}`, git(name, 'commit-tree', tree, '-p', branch, '-m', 'second'));
}

/** Makes a change of all three repositories that is merged: by a merge commit, a squash and a rebase of two commits. */
async function merged(file: string): Promise<WorldTask> {
  script = [
    [...opened, write(file, 'one\n'), write(`../Docs/${file}`, 'one\n'), write(`../Tools/${file}`, 'one\n')],
    [finish],
  ];
  const { id } = await call<{ id: string }>('POST', `/projects/${world.project.id}/tasks`, {
    title: `Add ${file}`,
    owner: (await world.get<{ id: string; builtIn?: string; name: string }[]>('/agents')).find(
      (a) => a.name === 'Developer',
    )?.id,
    status: 'ready',
  });
  await call('POST', `/tasks/${id}/start`);
  await settled(id, 'in_review');
  commitTo('Tools', (await world.get<Task>(`/tasks/${id}`)).branchName ?? '', `second-${file}`);
  await world.github.showBranches('mona/Tools');
  await mergeBy({ sample: 'merge', Docs: 'squash', Tools: 'rebase' }, await pullsOf(id));
  return settled(id, 'done');
}

test('a task over three repositories is undone without a model, in reverse order, and merged with one approval', async () => {
  const before = Object.fromEntries(['sample', 'Docs', 'Tools'].map((name) => [name, filesOf(name)]));
  const task = await merged('made.txt');
  expect(filesOf('Tools')).toEqual(expect.arrayContaining(['made.txt', 'second-made.txt']));
  expect(await world.get(`/tasks/${task.id}/undo`)).toMatchObject({
    pulls: [{ repositoryName: 'Tools' }, { repositoryName: 'Docs' }, { repositoryName: 'sample' }],
    problem: null,
    undoneBy: null,
  });
  const asked = world.model.requests.length;
  const undo = await call<Task>('POST', `/tasks/${task.id}/undo`);
  expect(undo).toMatchObject({ undoOf: task.id, status: 'in_progress', title: `Revert 3 pull requests of ${task.id}` });
  await expect(call('POST', `/tasks/${task.id}/undo`)).rejects.toThrow(/undoes this one already/);
  await settled(undo.id, 'in_review');
  expect(world.model.requests).toHaveLength(asked);
  const pulls = await pullsOf(undo.id);
  expect(pulls.map(({ repositoryName }) => repositoryName)).toEqual(['Tools', 'Docs', 'sample']);
  await call('POST', `/tasks/${undo.id}/merge`);
  await settled(undo.id, 'done');
  for (const name of ['sample', 'Docs', 'Tools']) expect(filesOf(name)).toEqual(before[name]);
  await expect(call('POST', `/tasks/${task.id}/undo`)).rejects.toThrow(`Task ${undo.id} has undone this one`);
  expect(await world.get(`/tasks/${task.id}/undo`)).toMatchObject({ pulls: [], undoneBy: undo.id });
});
