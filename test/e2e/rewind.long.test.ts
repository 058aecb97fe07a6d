import type { Said } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { handsOf } from '../support/face.ts';
import { gitOut } from '../support/git.ts';
import { openWorld, type World, type WorldTask } from '../support/world.ts';

interface Run {
  id: string;
  kind: string;
  status: string;
  steps: number;
  costUsd: number;
  rewoundFrom: { runId: string; turn: number } | null;
}
interface Turn {
  turn: number;
  costUsd: number;
  calls: { name: string; result: string; ok: boolean }[];
}

const write = (path: string, content: string) => ({ name: 'write_file', arguments: { path, content } });
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };

let world: World;
let script: Said[] = [];

beforeAll(async () => {
  world = await openWorld((_request, turn) => script[Math.min(turn, script.length - 1)] ?? 'Done.', {
    settings: { SANDBOX: 'off' },
  });
});
afterAll(() => world.close());

const runsOf = (task: { id: string }) => world.get<Run[]>(`/tasks/${task.id}/runs`);
/** Waits until the task of an issue is in review after this many runs. */
const settled = (number: number, count: number) =>
  until(`issue ${number} in review after ${count} runs`, async () => {
    const all = await world.get<(WorldTask & { issueNumber: number })[]>(`/projects/${world.project.id}/tasks`);
    const task = all.find(({ issueNumber }) => issueNumber === number);
    if (task?.status !== 'in_review') return undefined;
    const runs = await runsOf(task);
    return runs.length === count && runs.every(({ status }) => status === 'succeeded' || status === 'failed') && task;
  });
const rewind = (task: { id: string }, runId: string, turn: number, text: string) =>
  world.service.api<WorldTask>(world.token, 'POST', `/tasks/${task.id}/rewind`, { runId, turn, text });
const on = (branch: string | null, path: string) =>
  gitOut(world.github.folderOf('mona/sample'), 'show', `${branch}:${path}`);

test('a rewound run has the prompt and the files of the turn, and adds a commit to the branch', async () => {
  script = [[write('made.txt', 'one\n')], [write('made.txt', 'two\n'), write('later.txt', 'x\n')], [finish]];
  const number = await world.issue('/agent start');
  const task = await settled(number, 1);
  const [first] = await runsOf(task);
  const asked = [...world.model.requests];
  const head = gitOut(world.github.folderOf('mona/sample'), 'rev-parse', task.branchName ?? '');
  const look = [
    { name: 'read_file', arguments: { path: 'made.txt' } },
    { name: 'read_file', arguments: { path: 'later.txt' } },
  ];
  script = ['', look, [write('made.txt', 'three\n')], [finish]];

  const moved = await rewind(task, first?.id ?? '', 1, 'Count to three.');
  expect(moved.status).toBe('in_progress');
  const done = await settled(number, 2);

  const [run] = await runsOf(task);
  expect(run).toMatchObject({ kind: 'rewind', status: 'succeeded', rewoundFrom: { runId: first?.id, turn: 1 } });
  const requests = world.model.requests.slice(asked.length);
  // The second request of the first run follows its first turn.
  const prefix = JSON.stringify(asked[1]?.messages).slice(0, -1);
  expect(JSON.stringify(requests[0]?.messages).startsWith(prefix)).toBe(true);
  expect(JSON.stringify(requests[0]?.tools)).toBe(JSON.stringify(asked[1]?.tools));
  const [said, ...none] = requests[0]?.messages.slice(asked[1]?.messages.length) ?? [];
  expect([said?.role, String(said?.content).endsWith('Count to three.'), none]).toEqual(['user', true, []]);

  const turns = await world.get<Turn[]>(`/runs/${run?.id}/turns`);
  expect(turns.map(({ turn }) => turn)).toEqual(turns.map((_, i) => i + 1));
  expect(turns[1]?.calls.map(({ result, ok }) => [ok, result.includes('one')])).toEqual([
    [true, true],
    [false, false],
  ]);
  expect(run?.steps).toBe(requests.length);
  expect(turns).toHaveLength(1 + requests.length);
  expect(turns[0]?.costUsd).toBe(0);
  expect(run?.costUsd).toBeGreaterThan(0);
  expect(turns.reduce((sum, { costUsd }) => sum + costUsd, 0)).toBeCloseTo(run?.costUsd ?? 0, 10);

  expect([done.branchName, done.prUrl]).toEqual([task.branchName, task.prUrl]);
  expect(on(done.branchName, 'made.txt')).toBe('three');
  expect(() => on(done.branchName, 'later.txt')).toThrow();
  expect(gitOut(world.github.folderOf('mona/sample'), 'rev-parse', `${done.branchName}^`)).toBe(head);
});

test('by comment, after a person pushed: their commit stays in the branch, and nothing is pushed by force', async () => {
  const { say, push, updateBranch } = handsOf(world);
  script = [[write('a.txt', 'one\n')], [write('a.txt', 'two\n')], [finish]];
  const number = await world.issue('/agent start');
  const task = await settled(number, 1);
  await push(task.branchName ?? '', 'a.txt', 'by a person\n');
  // What the base branch brought is not undone.
  await push('main', 'NEWS.md', 'of the base\n');
  await updateBranch(task.branchName ?? '');
  const head = gitOut(world.github.folderOf('mona/sample'), 'rev-parse', task.branchName ?? '');
  script = ['', [write('b.txt', 'new\n')], [finish]];
  await say(number, '/agent rewind 1 Add b instead.');
  const done = await settled(number, 2);
  expect((await runsOf(task))[0]).toMatchObject({ kind: 'rewind', status: 'succeeded', failure: null });
  expect(['a.txt', 'b.txt', 'NEWS.md'].map((path) => on(done.branchName, path))).toEqual(['one', 'new', 'of the base']);
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('Only changes of the base branch');
  expect(gitOut(world.github.folderOf('mona/sample'), 'rev-parse', `${done.branchName}^`)).toBe(head);
  await say(number, '/agent rewind 99');
  await until('the refusal', async () =>
    (await world.comments(number)).some(({ body }) => body.includes('so there is no turn 99')),
  );
});
