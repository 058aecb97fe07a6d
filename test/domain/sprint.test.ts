import { decide } from '../../src/domain/machine.ts';
import { lengthProblem, type SprintEvent, type SprintFacts, sprintMachine } from '../../src/domain/sprint.ts';

const facts = { hasOtherActive: false, unfinishedTasks: [], carriesOver: false, isForced: false };

test.each<[SprintEvent, 'planning' | 'active', Partial<SprintFacts>, string | RegExp]>([
  ['start', 'planning', {}, 'active'],
  ['start', 'planning', { hasOtherActive: true }, /^Another sprint of the project is still active\./],
  ['complete', 'active', {}, 'completed'],
  ['complete', 'active', { unfinishedTasks: ['task_1', 'task_2'] }, /unfinished tasks: task_1, task_2\./],
  ['complete', 'active', { unfinishedTasks: ['task_1'], carriesOver: true }, 'completed'],
  ['cancel', 'active', {}, 'cancelled'],
  ['change', 'planning', {}, 'planning'],
  ['change', 'active', {}, 'active'],
  ['delete', 'active', {}, /^The sprint is active\./],
  ['delete', 'active', { isForced: true }, 'cancelled'],
])('%s a sprint in status %s with %j', (event, status, more, wanted) => {
  const outcome = decide(sprintMachine, status, event, { ...facts, ...more });
  if (typeof wanted === 'string') expect(outcome).toEqual({ kind: 'moves', to: wanted });
  else expect(outcome).toEqual({ kind: 'refused', reason: expect.stringMatching(wanted) });
});

test.each([
  ['2026-01-01', '2026-01-01', undefined],
  ['2026-01-02', '2026-01-01', 'must not be before startDate'],
  ['2026-01-01', '2036-01-02', undefined],
  ['2026-01-01', '2036-01-03', 'must be at most 3653 days after startDate'],
])('a sprint from %s to %s', (start, end, problem) => {
  expect(lengthProblem(start, end)).toBe(problem);
});
