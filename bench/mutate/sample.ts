import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seeded, shuffled } from '../siege/traffic.ts';
import { keyOf } from './accepted.ts';
import { type Area, sourcesOf, testsOf } from './areas.ts';
import { findMutants, mutantsIn } from './find-mutants.ts';
import type { Mutant } from './mutant.ts';

/** An entry of an area with the mutants that will be tried. */
export interface Sampled {
  name: string;
  tests: string[];
  mutants: Mutant[];
}

/** All mutants of an entry, the accepted ones included. */
export function mutantsOf(area: Area, root: string): Mutant[] {
  return sourcesOf(area, root).flatMap(({ file, functions }) =>
    findMutants(file, readFileSync(join(root, file), 'utf8'), functions),
  );
}

/**
 * Returns how many sources of an area have a mutant.
 * @throws when one does not parse or lacks a function that the area names
 */
export function countMutable(area: Area, root: string): number {
  return sourcesOf(area, root).filter(({ file, functions }) => {
    const { done } = mutantsIn(file, readFileSync(join(root, file), 'utf8'), functions).next();
    return !done;
  }).length;
}

/**
 * Draws a random sample of an area, given as its entries, and returns it with the number of mutants that are not
 * accepted. The same seed draws the same mutants, whichever other areas are tried.
 */
export function sample(
  entries: Area[],
  root: string,
  accepted: Set<string>,
  seed: number,
  size: number,
): { all: number; sampled: Sampled[] } {
  const open = entries.flatMap((entry) =>
    mutantsOf(entry, root)
      .filter((mutant) => !accepted.has(keyOf(mutant)))
      .map((mutant) => ({ entry, mutant })),
  );
  const drawn = shuffled(open, seeded(seed)).slice(0, size);
  const sampled = entries.map((entry) => ({
    name: entry.name,
    tests: testsOf(entry, root),
    mutants: drawn.filter((each) => each.entry === entry).map((each) => each.mutant),
  }));
  return { all: open.length, sampled: sampled.filter(({ mutants }) => mutants.length > 0) };
}
