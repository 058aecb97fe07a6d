import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seeded, shuffled } from '../siege/traffic.ts';
import { keyOf } from './accepted.ts';
import { type Area, sourcesOf, testsOf } from './areas.ts';
import { findMutants } from './find-mutants.ts';
import type { Mutant } from './mutant.ts';

/** An area with the mutants that will be tried. */
export interface Sampled {
  name: string;
  tests: string[];
  /** How many the sample was drawn from, without the accepted ones. */
  all: number;
  mutants: Mutant[];
}

/** All mutants of an area, the accepted ones included. */
export function mutantsOf(area: Area, root: string): Mutant[] {
  return sourcesOf(area, root).flatMap(({ file, functions }) =>
    findMutants(file, readFileSync(join(root, file), 'utf8'), functions),
  );
}

/** A random sample of an area. The same seed draws the same mutants, whichever other areas are tried. */
export function sample(area: Area, root: string, accepted: Set<string>, seed: number, size: number): Sampled {
  const open = mutantsOf(area, root).filter((mutant) => !accepted.has(keyOf(mutant)));
  const mutants = shuffled(open, seeded(seed)).slice(0, size);
  return { name: area.name, tests: testsOf(area, root), all: open.length, mutants };
}
