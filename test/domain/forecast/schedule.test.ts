import { seededRandom } from '../../../src/domain/forecast/draws.ts';
import { anyLane, type Distribution, deadlocked, scheduler } from '../../../src/domain/forecast/schedule.ts';

type Times = [before: number, work: number, after: number];

/** Returns a function that says when each task is done, given what each takes. */
function planned({
  lanes,
  dependsOn = lanes.map(() => []),
  ...more
}: Partial<Distribution> & Pick<Distribution, 'lanes'>) {
  const run = scheduler({ lanes, laneCount: 3, poolSize: 2, dependsOn, ...more });
  const all = (times: Times[], part: number) => Float64Array.from(times, (each) => each[part]!);
  return (times: Times[]) => [...run({ before: all(times, 0), work: all(times, 1), after: all(times, 2) })];
}

test('a lane does one task at a time, in the order in which they can begin', () => {
  const run = planned({ lanes: [0, 0, 0] });
  expect(
    run([
      [2, 5, 0],
      [0, 5, 0],
      [1, 5, 0],
    ]),
  ).toEqual([15, 5, 10]);
  expect(
    run([
      [1, 2, 0],
      [0, 9, 0],
      [1, 2, 0],
    ]),
  ).toEqual([11, 9, 13]);
  expect(
    run([
      [0, 1, 0],
      [0, 1, 0],
      [50, 1, 0],
    ]),
  ).toEqual([1, 2, 51]);
});

test('only the work occupies a lane, and a task without work needs none', () => {
  expect(
    planned({ lanes: [0, 0] })([
      [0, 5, 7],
      [0, 1, 0],
    ]),
  ).toEqual([12, 6]);
  expect(
    planned({ lanes: [0, 0] })([
      [0, 5, 0],
      [1, 0, 2],
    ]),
  ).toEqual([5, 3]);
});

test('a task without a lane takes the one of the pool that is free first; of several, the one with the smallest number', () => {
  const any = [anyLane, anyLane, anyLane];
  expect(
    planned({ lanes: any })([
      [0, 4, 0],
      [0, 2, 0],
      [0, 3, 0],
    ]),
  ).toEqual([4, 2, 5]);
  expect(
    planned({ lanes: [anyLane, 0, 1] })([
      [0, 2, 0],
      [0, 3, 0],
      [0, 7, 0],
    ]),
  ).toEqual([2, 5, 7]);
  expect(
    planned({ lanes: any, laneCount: 2, poolSize: 1 })([
      [0, 2, 0],
      [0, 2, 0],
      [0, 2, 0],
    ]),
  ).toEqual([2, 4, 6]);
});

test('a task begins after those that it waits for', () => {
  const chain = planned({ lanes: [0, 1], dependsOn: [[], [0]] });
  expect(
    chain([
      [0, 2, 1],
      [3, 2, 0],
    ]),
  ).toEqual([3, 8]);
  expect(
    chain([
      [0, 0, 0],
      [0, 2, 0],
    ]),
  ).toEqual([0, 2]);
  const both = planned({ lanes: [0, 1, 2], dependsOn: [[], [], [0, 1]] });
  expect(
    both([
      [0, 1, 8],
      [0, 2, 0],
      [0, 1, 0],
    ]),
  ).toEqual([9, 2, 10]);
  expect(
    both([
      [0, 1, 0],
      [0, 2, 7],
      [0, 1, 0],
    ]),
  ).toEqual([1, 9, 10]);
});

test('tasks in a circle, and those that wait for them, are never done', () => {
  const dependsOn = [[1], [0], [0, 3], []];
  const run = planned({ lanes: [0, 0, 0, 0], dependsOn });
  const times: Times[] = [
    [0, 1, 0],
    [0, 1, 0],
    [0, 1, 0],
    [0, 1, 0],
  ];
  expect(run(times)).toEqual([Infinity, Infinity, Infinity, 1]);
  expect(run(times)).toEqual([Infinity, Infinity, Infinity, 1]);
  expect(deadlocked(dependsOn)).toEqual([0, 1, 2]);
  expect(deadlocked([[], [0], [0, 1]])).toEqual([]);
});

test('one simulation leaves nothing behind for the next', () => {
  const run = planned({ lanes: [0, anyLane, 1], dependsOn: [[], [0], []] });
  const short: Times[] = [
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
  ];
  const done = run(short);
  expect(done).toEqual([6, 12, 6]);
  run(short.map(() => [50, 60, 70]));
  expect(run(short)).toEqual(done);
});

test('many tasks of a lane are done in the order in which they can begin, then by number', () => {
  const { uniform } = seededRandom('order');
  for (let count = 1; count <= 40; count++) {
    const times = Array.from({ length: count }, (): Times => [Math.floor(uniform() * 12), 1, 0]);
    const done: number[] = [];
    let free = 0;
    for (const task of [...times.keys()].sort((a, b) => times[a]![0] - times[b]![0] || a - b)) {
      free = Math.max(free, times[task]![0]) + 1;
      done[task] = free;
    }
    expect(planned({ lanes: times.map(() => 0) })(times)).toEqual(done);
  }
});
