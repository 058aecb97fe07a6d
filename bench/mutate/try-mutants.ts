import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applied, type Mutant } from './mutant.ts';
import { runTests } from './run-tests.ts';
import type { Sampled } from './sample.ts';
import { openScratch, type Scratch } from './scratch.ts';

export interface Result {
  area: string;
  mutant: Mutant;
  outcome: 'killed' | 'survived' | 'timeout';
  ms: number;
  /** The first test that failed. */
  killedBy: string | undefined;
}

export interface Progress {
  done: number;
  all: number;
  leftMs: number;
}

interface Given {
  root: string;
  postgresUrl: string;
  slots: number;
  signal: AbortSignal;
  /** How long the tests of an entry take without a mutant. */
  tellUsual(area: string, ms: number): void;
  tell(result: Result, progress: Progress): void;
}

/** A mutant may take this many times as long as the tests take without it. */
const patience = 3;
/** Starting Jest on a busy machine, which short tests would not allow for. */
const startMs = 10_000;
const baselineLimitMs = 300_000;

/**
 * Tries all mutants, some at a time, each in its own copy of the working tree.
 * @throws when tests fail without a mutant, or when the signal aborts
 */
export async function tryMutants(areas: Sampled[], given: Given): Promise<Result[]> {
  const scratches: Scratch[] = [];
  try {
    while (scratches.length < given.slots) scratches.push(await openScratch(given.root));
    const usualMs = new Map<Sampled, number>();
    await inSlots(scratches, areas, given.signal, async (scratch, area) => {
      usualMs.set(area, await timeUnchanged(scratch, area, given));
    });
    return await tryAll(scratches, areas, usualMs, given);
  } finally {
    await Promise.all(scratches.map((scratch) => scratch.remove()));
  }
}

async function timeUnchanged(scratch: Scratch, { name, tests }: Sampled, given: Given): Promise<number> {
  const { outcome, ms, output } = await runTests(scratch.folder, tests, { ...given, limitMs: baselineLimitMs });
  given.signal.throwIfAborted();
  if (outcome !== 'passed') throw new Error(`The tests of ${name} fail without any mutant:\n${output}`);
  given.tellUsual(name, ms);
  return ms;
}

async function tryAll(
  scratches: Scratch[],
  areas: Sampled[],
  usualMs: Map<Sampled, number>,
  given: Given,
): Promise<Result[]> {
  const results: Result[] = [];
  const usual = (area: Sampled) => usualMs.get(area) ?? 0;
  const tasks = areas.flatMap((area) => area.mutants.map((mutant) => ({ area, mutant })));
  const allMs = tasks.reduce((sum, { area }) => sum + usual(area), 0);
  let doneMs = 0;
  const began = performance.now();
  await inSlots(scratches, tasks, given.signal, async (scratch, { area, mutant }) => {
    const limitMs = patience * usual(area) + startMs;
    const result = { area: area.name, ...(await tryOne(scratch, area, mutant, limitMs, given)) };
    results.push(result);
    doneMs += usual(area);
    const leftMs = ((performance.now() - began) * (allMs - doneMs)) / doneMs;
    given.tell(result, { done: results.length, all: tasks.length, leftMs });
  });
  return results;
}

async function tryOne(
  scratch: Scratch,
  { tests }: Sampled,
  mutant: Mutant,
  limitMs: number,
  { postgresUrl, signal }: Given,
): Promise<Omit<Result, 'area'>> {
  // Not from the working tree, which somebody may be editing.
  const original = await readFile(join(scratch.folder, mutant.file));
  await scratch.write(mutant.file, applied(original, mutant));
  try {
    const { outcome, ms, failed } = await runTests(scratch.folder, tests, { limitMs, postgresUrl, signal });
    signal.throwIfAborted();
    const named = { passed: 'survived', failed: 'killed', timeout: 'timeout' } as const;
    return { mutant, outcome: named[outcome], ms, killedBy: failed };
  } finally {
    await scratch.write(mutant.file, original);
  }
}

/** Does the tasks in their order, one at a time in each slot. */
async function inSlots<T>(
  scratches: Scratch[],
  tasks: T[],
  signal: AbortSignal,
  act: (scratch: Scratch, task: T) => Promise<void>,
): Promise<void> {
  const waiting = [...tasks];
  const work = async (scratch: Scratch) => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      signal.throwIfAborted();
      await act(scratch, task);
    }
  };
  const ends = await Promise.allSettled(scratches.map((scratch) => work(scratch).finally(() => waiting.splice(0))));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
