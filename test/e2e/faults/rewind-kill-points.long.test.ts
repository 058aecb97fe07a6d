import type { ModelRequest, Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { handsOf, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import { type Killable, testKillPoints } from '../../support/kill-points.ts';
import { expectShownOnce } from '../../support/shown-once.ts';
import type { WorldTask } from '../../support/world.ts';

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const before: Said[] = [
  [write('made.txt', 'one\n')],
  [write('made.txt', 'two\n'), write('later.txt', 'x\n')],
  [finish],
];
const after: Said[] = [[write('made.txt', 'three\n')], [finish]];
const wanted = 'Count to three.';

/** A run that goes back to the first turn has that turn in its conversation, and what the person said. */
const answer = ({ messages }: ModelRequest, turn: number): Said => {
  const isRewound = JSON.stringify(messages).includes(wanted);
  return (isRewound ? after[turn - 1] : before[turn]) ?? [finish];
};

interface Run {
  id: string;
  kind: string;
  status: string;
  rewoundFrom: { runId: string; turn: number } | null;
}
interface Played {
  task: WorldTask & { issueNumber: number };
  first: Run;
  /** The head of the task's branch when the person went back. */
  head: string;
  /** The messages after the first turn, as the first run sent them. */
  prefix: string;
}

/** Waits until the task of an issue is in review after this many runs. Before that, calls `act`. */
async function settled({ world, get }: Killable, number: number, count: number, act = async (_runs: Run[]) => {}) {
  return until(
    `issue ${number} in review after ${count} runs`,
    async () => {
      const all = await get<Played['task'][]>(`/projects/${world.project.id}/tasks?limit=100`);
      const task = all.find(({ issueNumber }) => issueNumber === number);
      if (task === undefined) return undefined;
      const runs = await get<Run[]>(`/tasks/${task.id}/runs`);
      const isLive = runs.some(({ status }) => ['queued', 'running', 'waiting'].includes(status));
      if (task.status === 'in_review' && !isLive && runs.length === count) return { task, runs };
      await act(runs);
      return undefined;
    },
    600_000,
  );
}

let files = 0;

/** Plays a first run, changes that people push, and a person who goes back to the first turn. */
async function play(service: Killable, begin: () => void): Promise<Played> {
  const { world } = service;
  const { push, updateBranch } = handsOf(world);
  const number = await world.issue('/agent start');
  const asked = world.model.requests.length;
  const { task, runs } = await settled(service, number, 1);
  const [first] = runs as [Run];
  const prefix = JSON.stringify(world.model.requests[asked + 1]?.messages).slice(0, -1);
  // The rewound run merges what the branch got from the base branch since then.
  await push('main', `news-${++files}.md`, 'of the base\n');
  await updateBranch(task.branchName ?? '');
  const head = gitOut(world.github.folderOf('mona/sample'), 'rev-parse', task.branchName ?? '');
  begin();
  const rewind = async (known: Run[]) => {
    // A request whose response was lost may have been carried out, which the runs show.
    if (known.length > 1) return;
    await service.tryPost(`/tasks/${task.id}/rewind`, { runId: first.id, turn: 1, text: wanted });
  };
  const done = await settled(service, number, 2, rewind);
  return { task: done.task, first, head, prefix };
}

async function expectOneOfEach(service: Killable, { task, first, head, prefix }: Played): Promise<void> {
  const { world, get } = service;
  expect(task.failure).toBeNull();
  const runs = await get<Run[]>(`/tasks/${task.id}/runs`);
  expect(runs).toEqual([
    expect.objectContaining({
      kind: 'rewind',
      status: 'succeeded',
      rewoundFrom: { runId: first.id, turn: 1 },
    }),
    expect.objectContaining({ id: first.id, kind: 'start', status: 'succeeded' }),
  ]);
  // The conversation is that of the first turn, followed once by what the person said.
  const prompt = JSON.stringify(world.model.requests.at(-1)?.messages);
  expect([prompt.startsWith(prefix), prompt.split(wanted).length]).toEqual([true, 2]);
  const turns = await get<{ turn: number }[]>(`/runs/${runs[0]?.id}/turns`);
  // The copied turn, the change, and two times `finish`, because the first one shows the agent its change. A worker that
  // takes over asks once more if its end was not stored.
  expect(turns.map(({ turn }) => turn)).toEqual(turns.length === 5 ? [1, 2, 3, 4, 5] : [1, 2, 3, 4]);
  expect((await get<{ handoffs: unknown[] }>(`/tasks/${task.id}/handoffs`)).handoffs).toHaveLength(2);
  expect(await get<unknown[]>(`/tasks/${task.id}/prs`)).toHaveLength(1);
  const audit = await get<{ action: string; object: { id: string } }[]>(
    `/projects/${world.project.id}/audit?limit=100`,
  );
  const actions = audit.filter(({ object }) => object.id === task.id).map(({ action }) => action);
  expect(actions).toEqual(['task.propose', 'task.rewind', 'task.propose', 'task.start']);
  const folder = world.github.folderOf('mona/sample');
  const branch = task.branchName ?? '';
  expect(gitOut(folder, 'rev-parse', `${branch}^`)).toBe(head);
  expect(gitOut(folder, 'show', '--format=', '--name-status', branch).split(/\s+/)).toEqual([
    'D',
    'later.txt',
    'M',
    'made.txt',
  ]);
  expect(gitOut(folder, 'show', `${branch}:made.txt`)).toBe('three');
  // The commit of the first run, the merge of the base branch, and the commit of the rewound run.
  await expectShownOnce(service, task, 3);
}

/** The points of a rewind: the request with its copy, telling the agent, the first turn, and the push. */
const steps = /^(commit of .*run_contexts|commit of run_turns|model 1|GIT .*receive-pack)/;

testKillPoints(
  'killed at any point of going back to a turn, or with a response lost, there is one more run and one more commit',
  {
    script: answer,
    prepare: async () => {},
    play,
    expectOneOfEach,
    rehearsals: 1,
    ofEveryRun: steps,
    few: [
      { kind: 'lost', name: /run_contexts/ },
      { kind: 'after', name: /receive-pack/ },
    ],
  },
);
