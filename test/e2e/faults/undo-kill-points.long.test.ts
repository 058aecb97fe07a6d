import type { Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { write } from '../../support/face.ts';
import { gitOut, gitWith } from '../../support/git.ts';
import { type Killable, testKillPoints } from '../../support/kill-points.ts';
import type { World, WorldTask } from '../../support/world.ts';

const names = ['sample', 'Docs', 'Tools'];
const folders = ['', '../Docs/', '../Tools/'];
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
/** The agent changes in each repository what the program says, with its test. */
const script: Said[] = [
  [
    ...names.slice(1).map((name) => ({ name: 'open_repository', arguments: { name } })),
    ...folders.flatMap((folder) => [
      write(`${folder}state.txt`, 'new\n'),
      write(`${folder}state.test.sh`, 'grep new state.txt\n'),
    ]),
  ],
  [finish],
];
const old = {
  '.deckhand.yml': 'checks: for each in *.test.sh; do sh $each || exit 1; done\n',
  'state.txt': 'old\n',
  'state.test.sh': 'grep old state.txt\n',
};

interface Task extends WorldTask {
  undoOf: string | null;
}
interface Pull {
  repositoryName: string;
  prNumber: number;
  status: string;
}
interface Played {
  done: Task;
  undo: Task;
  /** The repositories of the merged pull requests, in the order in which they are to be reverted. */
  order: { repositoryName: string; number: number }[];
  /** How many requests the model had before the undo. */
  asked: number;
}

const folderOf = ({ github }: Pick<World, 'github'>, name: string) => github.folderOf(`mona/${name}`);
const treesOf = (world: Pick<World, 'github'>) =>
  names.map((name) => gitOut(folderOf(world, name), 'rev-parse', 'main^{tree}'));

/** Adds files to the root of main, as a person would push them. */
function addToMain(folder: string, files: Record<string, string>): void {
  const added = Object.entries(files).map(
    ([path, content]) => `100644 blob ${gitWith(folder, content, 'hash-object', '-w', '--stdin')}\t${path}`,
  );
  const tree = gitWith(folder, `${[gitOut(folder, 'ls-tree', 'main'), ...added].join('\n')}\n`, 'mktree');
  gitOut(folder, 'update-ref', 'refs/heads/main', gitOut(folder, 'commit-tree', tree, '-p', 'main', '-m', 'old'));
}

let before: string[] = [];

/** Waits until the only task that `isIt` selects has this status and no unfinished run. Before that, calls `act`. */
async function settled(
  { world, get }: Killable,
  isIt: (task: Task) => boolean,
  status: string,
  act: (task: Task | undefined) => Promise<void> = async () => {},
): Promise<Task> {
  return until(
    `a task that is ${status}`,
    async () => {
      const found = (await get<Task[]>(`/projects/${world.project.id}/tasks?limit=100`)).filter(isIt);
      expect(found.length).toBeLessThan(2);
      const [task] = found;
      if (task?.status === status) {
        const runs = await get<{ status: string }[]>(`/tasks/${task.id}/runs`);
        if (runs.every((run) => !['queued', 'running', 'waiting'].includes(run.status))) return task;
      }
      await act(task);
      return undefined;
    },
    600_000,
  );
}

/** Makes a change of all three repositories and merges it, then undoes it and merges the undo. */
async function play(service: Killable, begin: () => void): Promise<Played> {
  const { world, get, tryPost } = service;
  before = treesOf(world);
  const number = await world.issue('/agent start');
  const isFirst = (task: Task) => (task as Task & { issueNumber: number | null }).issueNumber === number;
  const merge = async (task: Task | undefined) => {
    if (task?.status === 'in_review') await tryPost(`/tasks/${task.id}/merge`, {});
  };
  const { id } = await settled(service, isFirst, 'done', merge);
  expect(treesOf(world).filter((tree, i) => tree === before[i])).toEqual([]);
  const { pulls: order } = await get<{ pulls: Played['order'] }>(`/tasks/${id}/undo`);
  const asked = world.model.requests.length;
  begin();
  const isUndo = ({ undoOf }: Task) => undoOf === id;
  // A request whose response was lost may have been carried out, which the tasks show.
  const reviewed = await settled(service, isUndo, 'in_review', async (task) => {
    if (task === undefined) await tryPost(`/tasks/${id}/undo`, {});
  });
  const proof = await get<{ status: string; reason: string | null }>(`/tasks/${reviewed.id}/proof`);
  expect(proof).toMatchObject({ status: 'proved', reason: 'the tests from before the undone change pass again' });
  const undo = await settled(service, isUndo, 'done', merge);
  return { done: await get<Task>(`/tasks/${id}`), undo, order, asked };
}

async function expectOneOfEach({ world, get }: Killable, { done, undo, order, asked }: Played): Promise<void> {
  expect(undo.failure).toBeNull();
  expect(world.model.requests).toHaveLength(asked);
  const runs = await get<{ kind: string; status: string }[]>(`/tasks/${undo.id}/runs`);
  expect(runs).toEqual([expect.objectContaining({ kind: 'start', status: 'succeeded' })]);
  // One pull request in each repository, opened in the order of the reverts, with one commit that names what it reverts.
  const pulls = await get<Pull[]>(`/tasks/${undo.id}/prs`);
  expect(pulls.map(({ repositoryName, status }) => [repositoryName, status])).toEqual(
    order.map(({ repositoryName }) => [repositoryName, 'merged']),
  );
  for (const { repositoryName, number } of order) {
    const mona = <T>(path: string) => world.github.as('mona')<T>('GET', `/repos/mona/${repositoryName}/${path}`);
    const all = await mona<{ number: number; head: { ref: string } }[]>('pulls?state=all&per_page=100');
    const [own, ...others] = all.filter(({ head }) => head.ref === undo.branchName);
    expect(others).toEqual([]);
    const commits = await mona<{ commit: { message: string } }[]>(`pulls/${own?.number}/commits`);
    const reverts = commits.filter(({ commit }) => commit.message.startsWith('Revert 3 pull requests of '));
    expect(reverts.map(({ commit }) => commit.message)).toEqual([expect.stringContaining(`(#${number}).`)]);
  }
  expect(treesOf(world)).toEqual(before);
  const audit = await get<{ action: string; object: { id: string } }[]>(
    `/projects/${world.project.id}/audit?limit=100`,
  );
  expect(audit.filter(({ action, object }) => action === 'task.undo' && object.id === done.id)).toHaveLength(1);
}

testKillPoints(
  'killed at any point of an undo over three repositories, or with a response lost, each change is reverted once, in order',
  {
    script: (_request: object, turn: number) => script[Math.min(turn, script.length - 1)] ?? 'Done.',
    seed: { more: names.slice(1) },
    prepare: async (world) => {
      for (const name of names) addToMain(folderOf(world, name), old);
      for (const name of names) await world.github.showBranches(`mona/${name}`);
      await until(
        'the repositories',
        async () => (await world.get<unknown[]>('/repositories')).length === names.length,
      );
    },
    play,
    expectOneOfEach,
    rehearsals: 2,
    ofEveryRun: /^GIT .*receive-pack/,
    few: [
      { kind: 'lost', name: /undone_pulls/ },
      { kind: 'before', name: /^GIT .*upload-pack/ },
      { kind: 'after', name: /^GIT .*receive-pack/ },
      { kind: 'lost', name: /^GIT .*receive-pack/ },
      { kind: 'after', name: /^POST .*\/pulls$/ },
    ],
  },
);
