import { type Random, seededRandom } from '../../../src/domain/forecast/draws.ts';
import type { ForecastFacts, OpenHistory } from '../../../src/domain/forecast/forecast.ts';
import { doneAt, type RunTime, type Stay, type TaskHistory } from '../../../src/domain/forecast/history.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How a made-up project works. Forecasts know none of this. */
interface World {
  agents: number;
  /** Median and deviation of the logarithm of an agent's work on a task. */
  work: [number, number];
  /** The same of what people take to review, to retry or to assign a task. */
  people: [number, number];
  /** Whether people act only from 9 to 17 o'clock. */
  hasNights: boolean;
  failures: number;
  reviews: number;
  revisions: number;
  lateStarts: number;
  dependencies: number;
  agentFactors: number[];
}

/** A sprint that has been carried out to its end. */
interface Sprint {
  startedAt: number;
  endedAt: number;
  tasks: TaskHistory[];
}

/** A moment of a made-up sprint, and what happened afterwards. */
export interface Moment {
  facts: ForecastFacts;
  /** When the last task of the sprint was done. */
  end: number;
  startedAt: number;
  earlier: Sprint[];
  /** How long another, unrelated sprint of this project took. */
  usualLength: number;
}

const between = (random: Random, low: number, high: number) => low + (high - low) * random.uniform();
const whole = (random: Random, low: number, high: number) => Math.floor(between(random, low, high + 1));
const logBetween = (random: Random, low: number, high: number) => low * (high / low) ** random.uniform();
const logNormal = (random: Random, [median, deviation]: [number, number]) =>
  median * Math.exp(deviation * random.normal());

function makeWorld(random: Random): World {
  const agents = whole(random, 1, 6);
  return {
    agents,
    work: [logBetween(random, 5 * minute, 3 * hour), between(random, 0.3, 0.9)],
    people: [logBetween(random, 10 * minute, 8 * hour), between(random, 0.4, 1)],
    hasNights: random.uniform() < 0.5,
    failures: between(random, 0, 0.25),
    reviews: random.uniform() < 0.2 ? 0 : between(random, 0.5, 1),
    revisions: between(random, 0, 0.3),
    lateStarts: between(random, 0, 0.3),
    dependencies: between(random, 0, 0.6),
    agentFactors: Array.from({ length: agents }, () => Math.exp(0.2 * random.normal())),
  };
}

/** Adds a time of people, which passes only during their hours. */
function afterPeople(from: number, takes: number, hasNights: boolean): number {
  if (!hasNights) return from + takes;
  let [at, left] = [from, takes];
  for (;;) {
    const today = Math.floor(at / day) * day;
    const [opens, closes] = [today + 9 * hour, today + 17 * hour];
    at = Math.max(at, opens);
    if (at < closes && left <= closes - at) return at + left;
    left -= Math.max(0, closes - at);
    at = today + day;
  }
}

interface Doing extends TaskHistory {
  stays: Stay[];
  runs: RunTime[];
  owner: string;
  agent: number;
  work: number;
}

/** Carries out a sprint, step by step in the order of time. Nothing is shared with the code under test. */
function carryOut(world: World, random: Random, name: string, startedAt: number): Sprint {
  const pace = Math.exp(0.15 * random.normal());
  const tasks: Doing[] = Array.from({ length: whole(random, 4, 30) }, (_, i) => {
    const agent = whole(random, 0, world.agents - 1);
    const waits = i > 0 && random.uniform() < world.dependencies;
    return {
      id: `${name}-${i}`,
      owner: `agent-${agent}`,
      agent,
      dependsOn: waits
        ? [...new Set([whole(random, 0, i - 1), whole(random, 0, i - 1)])].map((n) => `${name}-${n}`)
        : [],
      work: logNormal(random, world.work) * pace * (world.agentFactors[agent] ?? 1),
      stays: [],
      runs: [],
    };
  });
  const people = (from: number) => afterPeople(from, logNormal(random, world.people), world.hasNights);
  const done = new Map<string, number>();
  const freeAt = world.agentFactors.map(() => startedAt);
  const queued: { task: Doing; at: number; work: number }[] = [];
  const startReady = () => {
    for (const task of tasks) {
      if (task.stays.length > 0 || task.dependsOn.some((id) => !done.has(id))) continue;
      const startable = Math.max(startedAt, ...task.dependsOn.map((id) => done.get(id) ?? 0));
      const at = random.uniform() < world.lateStarts ? people(startable) : startable;
      task.stays.push({ status: 'ready', from: startedAt, to: at });
      queued.push({ task, at, work: task.work });
    }
  };
  startReady();
  while (queued.length > 0) {
    // The run that can begin first: its task is queued and its agent free.
    const beginsAt = ({ task, at }: (typeof queued)[number]) => Math.max(at, freeAt[task.agent] ?? 0);
    queued.sort((a, b) => beginsAt(a) - beginsAt(b) || a.at - b.at);
    const next = queued.shift();
    if (next === undefined) break;
    const { task, at, work } = next;
    const from = beginsAt(next);
    const hasFailed = random.uniform() < world.failures;
    const to = from + (hasFailed ? work * between(random, 0.3, 1) : work);
    freeAt[task.agent] = to;
    task.runs.push({ from, to, waited: 0 });
    task.stays.push({ status: 'in_progress', from: at, to });
    if (hasFailed) {
      const retry = people(to);
      task.stays.push({ status: 'ready', from: to, to: retry });
      queued.push({ task, at: retry, work });
      continue;
    }
    const reviewed = random.uniform() < world.reviews ? people(to) : to;
    task.stays.push({ status: 'in_review', from: to, to: reviewed });
    if (reviewed > to && random.uniform() < world.revisions) queued.push({ task, at: reviewed, work: work * 0.4 });
    else {
      task.stays.push({ status: 'done', from: reviewed, to: Number.POSITIVE_INFINITY });
      done.set(task.id, reviewed);
      startReady();
    }
  }
  return { startedAt, endedAt: Math.max(...done.values()), tasks };
}

/** Returns a task as it was at a time. */
function asOf({ stays, runs, ...task }: TaskHistory, now: number): TaskHistory {
  return {
    ...task,
    stays: stays.filter(({ from }) => from <= now).map((stay) => ({ ...stay, to: Math.min(stay.to, now) })),
    runs: runs.filter(({ from }) => from <= now).map((run) => ({ ...run, to: Math.min(run.to, now) })),
  };
}

function phaseOf({ stays, runs }: TaskHistory, now: number): OpenHistory['phase'] {
  if (stays.at(-1)?.status === 'in_review') return 'in_review';
  if (stays.at(-1)?.status !== 'in_progress') return 'idle';
  return runs.at(-1)?.to === now ? 'working' : 'queued';
}

/**
 * Makes up a project with up to five earlier sprints, and a moment in its current one. The moment is chosen without knowing
 * when the sprint ends, as in real life. Returns undefined if the sprint has ended by that moment.
 */
export function makeMoment(seed: string): Moment | undefined {
  const random = seededRandom(seed);
  const world = makeWorld(random);
  const sprints: Sprint[] = [];
  let at = Date.parse('2026-03-02T09:00:00Z');
  for (let i = whole(random, 0, 5); i >= 0; i--) {
    const sprint = carryOut(world, random, `sprint-${i}`, at);
    sprints.push(sprint);
    at = Math.max(Math.ceil(sprint.endedAt / day) * day + 9 * hour, at + 5 * day);
  }
  const current = sprints.pop();
  const another = carryOut(world, random, 'another', at);
  if (current === undefined) return undefined;
  const usualLength = another.endedAt - another.startedAt;
  const now = between(random, current.startedAt, current.startedAt + usualLength);
  if (now >= current.endedAt) return undefined;
  const tasks = current.tasks.map((task) => asOf(task, now));
  const isDone = ({ stays }: TaskHistory) => doneAt(stays) !== undefined;
  return {
    startedAt: current.startedAt,
    end: current.endedAt,
    earlier: sprints,
    usualLength,
    facts: {
      sprintId: seed,
      status: 'active',
      taskCount: tasks.length,
      open: tasks
        .filter((task) => !isDone(task))
        .map((task) => ({ ...task, phase: phaseOf(task, now), isCounted: true })),
      finished: [...sprints.flatMap((sprint) => sprint.tasks), ...tasks.filter(isDone)],
      agents: world.agents,
      now,
      startsAt: now,
    },
  };
}
