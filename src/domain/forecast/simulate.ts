import { durationDrawer, firstAbove, goesByHand, type OpenTask, seededRandom } from './draws.ts';
import type { Samples } from './history.ts';
import { anyLane, type Distribution, scheduler } from './schedule.ts';

export interface Simulation {
  /** Those in phase `working` come first: they have their agents already. */
  tasks: readonly OpenTask[];
  samples: Samples;
  /** How many agents can work in the project. */
  agents: number;
  seed: string;
  times: number;
  /** Ends of days, in milliseconds from the start of the simulation, in order. */
  dayEnds: readonly number[];
}

export interface Simulated {
  /** When the last counted task was done, in milliseconds from the start; one entry per simulation, in order. */
  ends: number[];
  /** For each end of a day, how many counted tasks were open then; one entry per simulation, in order. */
  open: number[][];
}

/**
 * Simulates the open tasks many times, each time with other durations. The same seed and the same data give the same
 * results.
 */
export function simulate({ tasks, samples, agents, seed, times, dayEnds }: Simulation): Simulated {
  const draw = durationDrawer(tasks, samples, seededRandom(seed));
  const run = scheduler(planFor(tasks, samples, agents));
  const counted = [...tasks.keys()].filter((task) => tasks[task]!.isCounted);
  const simulated: Simulated = { ends: [], open: dayEnds.map(() => []) };
  for (let time = 0; time < times; time++) {
    const done = run(draw());
    const finished = Float64Array.from(counted, (task) => done[task]!).sort();
    simulated.ends.push(finished.at(-1) ?? 0);
    for (const [day, end] of dayEnds.entries()) simulated.open[day]!.push(countAfter(finished, end));
  }
  for (const values of [simulated.ends, ...simulated.open]) values.sort((a, b) => a - b);
  return simulated;
}

/** Each agent is a lane; the last lane is the people, who finish one task after the other. */
function planFor(tasks: readonly OpenTask[], samples: Samples, agents: number): Distribution {
  const owners = [...new Set(tasks.flatMap(({ owner }) => owner ?? []))];
  const poolSize = Math.max(1, agents, owners.length);
  const laneOf = ({ owner }: OpenTask) => (owner === null ? anyLane : owners.indexOf(owner));
  return {
    lanes: tasks.map((task) => (goesByHand(task.owner, samples) ? poolSize : laneOf(task))),
    laneCount: poolSize + 1,
    poolSize,
    dependsOn: tasks.map(({ dependsOn }) => dependsOn),
  };
}

function countAfter(values: Float64Array, limit: number): number {
  const last = values.at(-1);
  return last === undefined || last <= limit ? 0 : values.length - firstAbove(values, limit);
}
