import { isInRollout } from '../../../src/domain/learning/comparison.ts';

const tasks = Array.from({ length: 2000 }, (_, i) => `task_01h455vb4pex5vsknk08${i}`);
const shareOf = (version: string, rollout: number) => tasks.filter((task) => isInRollout(version, task, rollout));

test('a version takes about the given share of tasks, all of them or none', () => {
  expect([shareOf('agent_a', 0).length, shareOf('agent_a', 100).length]).toEqual([0, tasks.length]);
  for (const rollout of [1, 20, 50, 90])
    expect(Math.abs(shareOf('agent_a', rollout).length / tasks.length - rollout / 100)).toBeLessThan(0.04);
});

test('a higher share keeps the tasks of a lower one', () => {
  expect(shareOf('agent_a', 60)).toEqual(expect.arrayContaining(shareOf('agent_a', 20)));
});

test('another version draws other tasks', () => {
  const both = shareOf('agent_a', 50).filter((task) => isInRollout('agent_b', task, 50));
  expect(Math.abs(both.length / tasks.length - 0.25)).toBeLessThan(0.04);
});

// Computed with another implementation of FNV-1a and of MurmurHash3's last steps. With other numbers, tasks would change
// their versions in the middle of a comparison.
test.each([
  ['agent_a', 'task_1', 98.6902735],
  ['agent_a', 'task_2', 22.1724656],
  ['agent_b', 'task_1', 82.6607438],
  ['agent_é', 'task_3', 66.869865],
])('version %s takes %s from %d %% on', (version, task, share) => {
  expect(isInRollout(version, task, share - 0.00001)).toBe(false);
  expect(isInRollout(version, task, share + 0.00001)).toBe(true);
});
