import type { Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import { type Killable, testKillPoints } from '../../support/kill-points.ts';
import { expectShownOnce } from '../../support/shown-once.ts';
import type { WorldTask } from '../../support/world.ts';

type Task = WorldTask & { issueNumber: number };
const script: Said[] = [
  [write('made.txt', 'x\n')],
  [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }],
];

async function play({ world, get }: Killable, begin: () => void): Promise<Task> {
  begin();
  const number = await world.issue('/agent start');
  const inReview = async () => {
    const all = await get<Task[]>(`/projects/${world.project.id}/tasks?limit=100`);
    const task = all.find(({ issueNumber }) => issueNumber === number);
    return task?.status === 'in_review' && task;
  };
  return until(`the task of issue ${number} in review`, inReview, 600_000);
}

async function expectOneOfEach(service: Killable, task: Task): Promise<void> {
  const { world, get } = service;
  expect(task.failure).toBeNull();
  await expectShownOnce(service, task, 1);
  const folder = world.github.folderOf('mona/sample');
  // GitHub made the commit that is there, whatever was made before.
  expect(gitOut(folder, 'log', '-1', '--format=%cn %s', task.branchName ?? '')).toMatch(/^GitHub /);
  expect(gitOut(folder, 'for-each-ref', 'refs/deckhand')).toBe('');
  expect(gitOut(folder, 'diff', '--name-only', `main...${task.branchName}`)).toBe('made.txt');
  const [run] = await get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const log = await get<{ text: string }[]>(`/runs/${run?.id}/events`);
  expect(log.filter(({ text }) => text.startsWith('the commit is not signed'))).toEqual([]);
}

/** The steps of a signed push: our ref, the question and the commit, the record of it, the branch, and the end of our ref. */
const steps = /^(GIT .*receive-pack|POST .*\/git\/(commits|refs)|commit of run_steps)$/;

testKillPoints(
  'killed at any step of a signed push, or with its response lost, a run makes one signed commit, and our ref goes',
  {
    script: (_request, turn) => script[Math.min(turn, script.length - 1)] ?? 'Done.',
    prepare: async () => {},
    play,
    expectOneOfEach,
    rehearsals: 2,
    ofEveryRun: steps,
    few: [
      { kind: 'after', name: /receive-pack/ },
      { kind: 'after', name: /git\/commits/ },
      { kind: 'lost', name: /git\/commits/ },
      { kind: 'before', name: /git\/refs/ },
      { kind: 'after', name: /git\/refs/ },
      { kind: 'before', name: /receive-pack/ },
    ],
  },
);
