import type { Samples, Spent } from './history.ts';
import type { Durations } from './schedule.ts';

/** A task that is not done yet. All times are in milliseconds. */
export interface OpenTask {
  id: string;
  /** The agent that owns it. */
  owner: string | null;
  /** `idle`: nobody works on it. `queued`, `working`: it has such a run. `in_review`: people have to act. */
  phase: 'idle' | 'queued' | 'working' | 'in_review';
  /** The numbers, in the list of open tasks, of those it waits for. */
  dependsOn: readonly number[];
  /** Whether the sprint ends only with this task. The others are listed because tasks of the sprint wait for them. */
  isCounted: boolean;
  /** How long each of its parts has taken so far. */
  spent: Spent;
}

/** A sequence of random numbers that is the same for the same seed, so that the same data give the same forecast. */
export interface Random {
  /** Returns a number between 0 and 1, both excluded. */
  uniform(): number;
  /** Returns a number of the standard normal distribution. */
  normal(): number;
}

/** Creates a sequence. The generator is sfc32, its seed an FNV-1a hash of the text. Not for secrets. */
export function seededRandom(seed: string): Random {
  let [a, b, c, counter] = [hash(seed, 0), hash(seed, 1), hash(seed, 2), 1];
  const uniform = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return ((sum >>> 0) + 0.5) / 2 ** 32;
  };
  // The first numbers still resemble the seed.
  for (let i = 0; i < 12; i++) uniform();
  let spare: number | undefined;
  const normal = (): number => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  return { uniform, normal };
}

function hash(text: string, salt: number): number {
  let value = 0x811c9dc5 ^ salt;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value;
}

/** A way of working, by agents or by hand, can be forecast only if this many tasks were finished that way. */
const fewestOfKind = 3;
/** Tasks vary more than a few samples show, so each draw is spread by this standard deviation of its logarithm. */
const spread = 0.3;
/** How much the pace differs between sprints, as a standard deviation of the logarithm. */
const sprintSpread = 0.15;
/** How uncertain the pace would be with a single sample, as a standard deviation of the logarithm. */
const sampleSpread = 0.6;
/** Of the tasks that already take longer than any sample, one in three takes twice that long in all: 2 ** -1.5. */
const tailExponent = 1.5;
/** How many draws to make in search of one that is longer than the time already spent. */
const triesForLonger = 8;

/** Returns whether people will finish a task by hand, judged by how tasks were finished so far. */
export function goesByHand(owner: string | null, { byAgents, byHand }: Samples): boolean {
  if (byAgents.length < fewestOfKind) return true;
  return owner === null && byHand.length > byAgents.length;
}

/**
 * Returns a function that draws how long the rest of each task takes, for one simulation. It draws from the durations of
 * finished tasks, with weights that are drawn too (a Bayesian bootstrap), so that few samples give wide results. The
 * function returns the same arrays each time.
 */
export function durationDrawer(tasks: readonly OpenTask[], samples: Samples, random: Random): () => Durations {
  const numbers = [...tasks.keys()];
  const byHand = numbers.filter((task) => goesByHand(tasks[task]!.owner, samples));
  const forAgents = numbers.filter((task) => !goesByHand(tasks[task]!.owner, samples));
  const begun = forAgents.filter((task) => hasBegun(tasks[task]!));
  const untouched = forAgents.filter((task) => !hasBegun(tasks[task]!));
  const known = samples.byAgents.length + samples.byHand.length;
  const deviation = Math.hypot(sprintSpread, sampleSpread / Math.sqrt(known));
  const durations = {
    before: new Float64Array(tasks.length),
    work: new Float64Array(tasks.length),
    after: new Float64Array(tasks.length),
  };
  const put = (task: number, { before, work, after }: Spent): void => {
    durations.before[task] = before;
    durations.work[task] = work;
    durations.after[task] = after;
  };
  return () => {
    const pace = Math.exp(deviation * random.normal());
    const people = drawer(samples.byHand, pace, random);
    for (const task of byHand) put(task, people.draw());
    const agents = drawer(samples.byAgents, pace, random);
    const rests = begun.map((task) => drawRest(tasks[task]!, agents, random));
    for (const [i, task] of begun.entries()) put(task, rests[i]!);
    // Tasks that are under way become samples too. Finished tasks alone would be mostly the quick ones.
    for (const [i, task] of begun.entries()) agents.add(whole(tasks[task]!.spent, rests[i]!, pace));
    for (const task of untouched) put(task, drawRest(tasks[task]!, agents, random));
    return durations;
  };
}

function hasBegun({ phase, spent }: OpenTask): boolean {
  return phase === 'working' || phase === 'in_review' || spent.work > 0;
}

function whole(spent: Spent, rest: Spent, pace: number): Spent {
  return {
    before: spent.before / pace,
    work: (spent.work + rest.work) / pace,
    after: (spent.after + rest.before + rest.after) / pace,
  };
}

interface Drawer {
  /** Draws how long a whole task takes. */
  draw(): Spent;
  /** Draws the durations of a task, one part of which has already lasted `passed`. Returns the rest of that part. */
  drawBeyond(part: keyof Spent, passed: number): Spent;
  /** Adds a sample to those that are drawn from. */
  add(sample: Spent): void;
}

function drawer(known: readonly Spent[], pace: number, random: Random): Drawer {
  const samples = [...known];
  const upTo: number[] = [];
  let total = 0;
  const weigh = (): void => {
    total -= Math.log(random.uniform());
    upTo.push(total);
  };
  for (let i = 0; i < known.length; i++) weigh();
  const add = (sample: Spent): void => {
    samples.push(sample);
    weigh();
  };
  const draw = (): Spent => {
    const { before, work, after } = samples[firstAbove(upTo, total * random.uniform())]!;
    const factor = pace * Math.exp(spread * random.normal());
    return { before: before * factor, work: work * factor, after: after * factor };
  };
  const drawBeyond = (part: keyof Spent, passed: number): Spent => {
    let drawn = draw();
    for (let tries = 1; drawn[part] <= passed && tries < triesForLonger; tries++) drawn = draw();
    const left = drawn[part] > passed ? drawn[part] - passed : passed * (random.uniform() ** (-1 / tailExponent) - 1);
    return { ...drawn, [part]: left };
  };
  return { draw, drawBeyond, add };
}

/** Draws how long the rest of a task takes. */
function drawRest({ phase, spent }: OpenTask, { draw, drawBeyond }: Drawer, random: Random): Spent {
  if (phase === 'in_review') return { ...drawBeyond('after', spent.after), before: 0, work: 0 };
  if (phase === 'working' || phase === 'queued') return { ...drawBeyond('work', spent.work), before: 0 };
  if (spent.work === 0) return spent.before > 0 ? drawBeyond('before', spent.before) : draw();
  // An agent has tried the task, and a person has to start it again. Part of the time that finished tasks spent after
  // the work therefore passes before it.
  const { work, after } = drawBeyond('work', spent.work);
  const share = random.uniform();
  return { before: share * after, work, after: (1 - share) * after };
}

/** Returns the first index whose value is above a limit, or the last index. The values are in order. */
export function firstAbove(values: ArrayLike<number>, limit: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
