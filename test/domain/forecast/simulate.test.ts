import type { OpenTask } from '../../../src/domain/forecast/draws.ts';
import type { Samples } from '../../../src/domain/forecast/history.ts';
import { type Simulation, simulate } from '../../../src/domain/forecast/simulate.ts';

const work = (count: number) => Array.from({ length: count }, () => ({ before: 0, work: 10, after: 0 }));
const agentsOnly: Samples = { byAgents: work(5), byHand: [] };
const handOnly: Samples = { byAgents: [], byHand: work(5) };

/** Tasks with these owners, of which all count unless others are named. */
const tasksOf = (owners: (string | null)[], counted = [...owners.keys()]) =>
  owners.map(
    (owner, i): OpenTask => ({
      id: `t${i}`,
      owner,
      phase: 'idle',
      dependsOn: [],
      isCounted: counted.includes(i),
      spent: { before: 0, work: 0, after: 0 },
    }),
  );
const simulated = (tasks: OpenTask[], more: Partial<Simulation> = {}) =>
  simulate({ tasks, samples: agentsOnly, agents: 2, seed: 'seed', times: 1, dayEnds: [], ...more });
const end = (owners: (string | null)[], more: Partial<Simulation> = {}) => simulated(tasksOf(owners), more).ends[0];

/** How long each task takes: what is drawn depends on the seed only, and without others nothing waits. */
function durationsOf(count: number, samples: Samples): number[] {
  const owners = Array.from({ length: count }, (_, i) => `agent_${i}`);
  // People do one task after the other, so that the first tasks are part of the time.
  const ends = owners.map((_, i) => simulated(tasksOf(owners, [i]), { samples }).ends[0]!);
  return samples === handOnly ? ends.map((each, i) => each - (ends[i - 1] ?? 0)) : ends;
}
const [a = 0, b = 0, c = 0] = durationsOf(3, agentsOnly);

test.each<[string, (string | null)[], number, number]>([
  ['one agent does one task after the other, whoever else is there', ['x', 'x'], 2, a + b],
  ['two agents work at the same time', ['x', 'y'], 2, Math.max(a, b)],
  ['two agents of whom the project knows only their tasks', ['x', 'y'], 0, Math.max(a, b)],
  ['tasks without an owner are spread over the agents', [null, null], 2, Math.max(a, b)],
  ['one agent takes all tasks without an owner', [null, null], 1, a + b],
  ['without an agent, one will come', [null, null], 0, a + b],
  ['the first free agent takes a task without an owner', ['x', 'y', null], 0, Math.max(a, b, Math.min(a, b) + c)],
])('%s', (_what, owners, agents, wanted) => {
  expect(Math.abs(a - b)).toBeGreaterThan(0.1);
  expect(end(owners, { agents })).toBeCloseTo(wanted, 9);
});

test('people do one task after the other, and agents work at the same time', () => {
  const [first = 0, second = 0] = durationsOf(2, handOnly);
  expect(second).toBeGreaterThan(0.1);
  expect(end(['x', 'y'], { samples: handOnly, agents: 9 })).toBeCloseTo(first + second, 9);
  const samples = { byAgents: work(3), byHand: work(4) };
  const alone = (counted: number) => simulated(tasksOf([null, 'x'], [counted]), { samples, agents: 1 }).ends[0]!;
  expect(end([null, 'x'], { samples, agents: 1 })).toBeCloseTo(Math.max(alone(0), alone(1)), 9);
  expect(alone(0) + alone(1)).toBeGreaterThan(Math.max(alone(0), alone(1)) + 0.1);
});

test('the end of each day has the number of tasks that are still open', () => {
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  const dayEnds = [low - 0.01, low, high - 0.01, high, high + 1];
  expect(simulated(tasksOf(['x', 'y']), { dayEnds }).open).toEqual([[2], [1], [1], [0], [0]]);
  expect(simulated(tasksOf(['x', 'y'], [0]), { dayEnds: [a - 0.01, a] }).open).toEqual([[1], [0]]);
});

test('without a task that counts, all is done at once', () => {
  expect(simulated(tasksOf(['x'], []), { dayEnds: [0, 5] })).toEqual({ ends: [0], open: [[0], [0]] });
});

test('the results of all simulations are in order', () => {
  const { ends, open } = simulated(tasksOf(['x', 'x', 'y']), { times: 30, dayEnds: [10, 20] });
  const inOrder = (values: number[]) => [...values].sort((one, other) => one - other);
  for (const values of [ends, ...open]) {
    expect(values).toHaveLength(30);
    expect(values).toEqual(inOrder(values));
    expect(new Set(values).size).toBeGreaterThan(1);
  }
});
