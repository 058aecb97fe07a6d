import {
  doneAt,
  mostFinished,
  type RunTime,
  type Stay,
  samplesOf,
  spentOn,
  startableAt,
  type TaskHistory,
} from '../../../src/domain/forecast/history.ts';

const stay = (status: Stay['status'], from: number, to: number): Stay => ({ status, from, to });
const run = (from: number, to: number, waited = 0): RunTime => ({ from, to, waited });
const task = (id: string, stays: Stay[], more: Partial<TaskHistory> = {}): TaskHistory => ({
  id,
  owner: null,
  dependsOn: [],
  stays,
  runs: [],
  ...more,
});
/** A task that was ready from the first time on and done at the second. */
const finished = (id: string, from: number, done: number, more: Partial<TaskHistory> = {}) =>
  task(id, [stay('ready', from, done), stay('done', done, Infinity)], more);

test.each<[string, Stay[], number | undefined]>([
  ['was in no sprint', [], undefined],
  ['is open', [stay('ready', 1, 9)], undefined],
  ['is done', [stay('ready', 1, 5), stay('done', 5, 9)], 5],
  ['was done when it entered its sprint', [stay('done', 3, 9)], 3],
  ['was done in two sprints', [stay('ready', 1, 5), stay('done', 5, 6), stay('done', 8, 9)], 5],
  [
    'was reopened',
    [stay('done', 1, 2), stay('ready', 2, 3), stay('done', 3, 4), stay('ready', 4, 6), stay('done', 6, 9)],
    6,
  ],
])('a task that %s', (_what, stays, done) => {
  expect(doneAt(stays)).toBe(done);
});

test('a task can start when it has entered its sprint and its dependencies are done', () => {
  const done = new Map([
    ['early', 4],
    ['late', 20],
  ]);
  const startable = (stays: Stay[], dependsOn: string[]) => startableAt(task('t', stays, { dependsOn }), done);
  expect(startable([stay('backlog', 10, 11), stay('ready', 11, 12)], ['early'])).toBe(10);
  expect(startable([stay('ready', 10, 12)], ['early', 'late'])).toBe(20);
  expect(startable([stay('ready', 0, 12)], ['unknown'])).toBe(0);
  expect(startable([], [])).toBe(Infinity);
});

test('what a task has taken is divided into the time before, in and after its runs', () => {
  const stays = [
    stay('backlog', 0, 10),
    stay('ready', 10, 20),
    stay('in_progress', 20, 30),
    stay('in_review', 30, 50),
    stay('waiting_on_subtasks', 50, 60),
    stay('ready', 60, 64),
  ];
  // The second run is under way at time 100; the third has not begun.
  const runs = [run(24, 29, 1), run(70, 120, 3), run(110, 130)];
  expect(spentOn(task('t', stays, { runs }), 5, 100)).toEqual({
    before: 5 + 10,
    work: 29 - 24 - 1 + (100 - 70 - 3),
    after: 20 + 4 + 1 + 3,
  });
  expect(spentOn(task('t', stays), 5, 15)).toEqual({ before: 10, work: 0, after: 0 });
  expect(spentOn(task('t', stays, { runs: [run(0, 8, 2)] }), 0, 15)).toEqual({ before: 0, work: 6, after: 17 });
});

test('the pace of people is the time since the task before', () => {
  const tasks = [
    finished('e', 40, 52, { dependsOn: ['agents'] }),
    finished('c', 30, 34),
    finished('a', 0, 10),
    finished('d', 0, 34),
    finished('b', 2, 16),
    finished('agents', 0, 50, { runs: [run(20, 30)] }),
  ];
  expect(samplesOf(tasks)).toEqual({
    byHand: [10, 6, 4, 0, 2].map((work) => ({ before: 0, work, after: 0 })),
    byAgents: [{ before: 20, work: 10, after: 30 }],
  });
});

test('a task counts only if its work is known: it was finished in its sprint, and its runs were not deleted', () => {
  expect(
    samplesOf([
      task('open', [stay('ready', 0, 9)]),
      task('never in a sprint', []),
      task('done before', [stay('done', 5, 9)]),
      task('lost its runs', [stay('in_progress', 0, 5), stay('done', 5, 9)]),
    ]),
  ).toEqual({ byAgents: [], byHand: [] });
});

test('only the latest finished tasks count', () => {
  const many = Array.from({ length: 102 }, (_, i) => finished(`t${i}`, 10 * i, 10 * i + i + 1));
  const { byHand } = samplesOf(many.toReversed());
  expect([byHand.length, mostFinished]).toEqual([100, 100]);
  expect([byHand[0]?.work, byHand.at(-1)?.work]).toEqual([3, 11]);
});
