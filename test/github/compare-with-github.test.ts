import { chooseWork } from '../../src/github/inbox/compare-with-github.ts';

const work = [1, 2, 3, 4, 5].map((number) => ({ numbers: [number, number + 10] }));
const numbersOf = (list: { numbers: number[] }[]) => list.map(({ numbers }) => numbers[0]);

test('a pass compares all tasks that changed on GitHub and some of the others', () => {
  const { due, others } = chooseWork(work, new Set([14, 5]), 2);
  expect(numbersOf(due)).toEqual([1, 2, 4, 5]);
  expect(numbersOf(others)).toEqual([3]);
});

test('if GitHub cannot report what changed, a pass still compares no more than its share', () => {
  const { due, others } = chooseWork(work, undefined, 3);
  expect(numbersOf(due)).toEqual([1, 2, 3]);
  expect(numbersOf(others)).toEqual([4, 5]);
});
