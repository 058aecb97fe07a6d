import { orderProblem } from '../../src/domain/wizard.ts';

const task = (ref: string, ...dependsOn: string[]) => ({ ref, dependsOn });

test.each<[string, ReturnType<typeof task>[], string | undefined]>([
  ['without dependencies', [task('a'), task('b')], undefined],
  ['in a chain, in any order', [task('c', 'b'), task('a'), task('b', 'a')], undefined],
  ['with the same ref', [task('a'), task('a')], 'must each have a ref of their own'],
  ['with an unknown one', [task('a', 'b')], 'must depend only on each other: no task in this list has the ref b'],
  ['in a circle', [task('a', 'b'), task('b', 'a'), task('c')], 'must not depend on each other in a cycle: a, b'],
  [
    'with a long unknown one',
    [task('a', 'x'.repeat(101))],
    `must depend only on each other: no task in this list has the ref ${'x'.repeat(100)}`,
  ],
  [
    'with a long ref on themselves',
    [task('x'.repeat(101), 'x'.repeat(101))],
    `must not depend on each other in a cycle: ${'x'.repeat(100)}`,
  ],
  ['on themselves', [task('a', 'a')], 'must not depend on each other in a cycle: a'],
])('planned tasks %s', (_how, tasks, problem) => {
  expect(orderProblem(tasks)).toBe(problem);
});
