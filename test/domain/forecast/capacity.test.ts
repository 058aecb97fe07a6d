import { type PlannedWork, whatFits } from '../../../src/domain/forecast/schedule.ts';

const hour = 3_600_000;
const task = (id: string, hours: number | undefined, more: Partial<PlannedWork> = {}): PlannedWork => ({
  id,
  owner: 'agent_a',
  dependsOn: [],
  estimate: hours === undefined ? undefined : { likelyMs: hours * hour, workMs: hours * hour },
  ...more,
});
const fitting = (tasks: PlannedWork[], hours: number, agents = 1) => whatFits(tasks, { agents, ms: hours * hour });

test('an agent does one task at a time, and what it would finish too late does not fit', () => {
  expect(fitting([task('a', 2), task('b', 2), task('c', 2)], 4)).toEqual({
    fits: ['a', 'b'],
    tooLate: [{ id: 'c', doneMs: 6 * hour }],
    never: [],
    withoutEstimate: [],
  });
});

test('reviews do not occupy an agent', () => {
  const reviewed = (id: string) => task(id, 0, { estimate: { likelyMs: 4 * hour, workMs: hour } });
  expect(fitting([reviewed('a'), reviewed('b')], 5).fits).toEqual(['a', 'b']);
});

test('agents work at the same time, and a task without an owner takes the first free one', () => {
  expect(fitting([task('a', 4), task('b', 4, { owner: 'agent_b' })], 4, 2).fits).toEqual(['a', 'b']);
  expect(fitting([task('a', 4), task('b', 4, { owner: null })], 4, 2).fits).toEqual(['a', 'b']);
  expect(fitting([task('a', 4), task('b', 4, { owner: null })], 4, 1).fits).toEqual(['a']);
});

test('a task starts after its dependencies, also when another agent does it', () => {
  const chain = [task('a', 2), task('b', 2, { owner: 'agent_b', dependsOn: ['a', 'elsewhere'] })];
  expect(fitting(chain, 3, 2)).toMatchObject({ fits: ['a'], tooLate: [{ id: 'b', doneMs: 4 * hour }] });
});

test('tasks in a cycle are never done, and everything else is still planned', () => {
  const cycle = [task('a', 1, { dependsOn: ['b'] }), task('b', 1, { dependsOn: ['a'] })];
  expect(fitting([...cycle, task('c', 1, { dependsOn: ['a'] }), task('d', 1)], 9)).toMatchObject({
    fits: ['d'],
    never: ['a', 'b', 'c'],
  });
});

test('a task without an estimate counts with the median of the others', () => {
  expect(fitting([task('a', 1), task('b', 3), task('c', undefined)], 5)).toMatchObject({
    fits: ['a', 'b'],
    tooLate: [{ id: 'c', doneMs: 6 * hour }],
    withoutEstimate: ['c'],
  });
  // Of four hours, an agent works for one.
  const reviewed = ['a', 'b'].map((id) => task(id, 0, { estimate: { likelyMs: 4 * hour, workMs: hour } }));
  expect(fitting([...reviewed, task('c', undefined)], 5).tooLate).toEqual([{ id: 'c', doneMs: 6 * hour }]);
  expect(fitting([task('a', undefined)], 1)).toMatchObject({ fits: ['a'], withoutEstimate: ['a'] });
  expect(fitting([], 1, 0)).toEqual({ fits: [], tooLate: [], never: [], withoutEstimate: [] });
});

test('the tasks of one agent wait for each other, however many agents there are', () => {
  expect(fitting([task('a', 4), task('b', 4)], 4, 2).fits).toEqual(['a']);
});

test('without an agent, one will do the tasks; the longest work is the estimate itself', () => {
  const odd = task('b', 0, { owner: null, estimate: { likelyMs: hour, workMs: 3 * hour } });
  expect(fitting([task('a', 2, { owner: null }), odd], 2, 0).tooLate).toEqual([{ id: 'b', doneMs: 3 * hour }]);
});
