import { keyOf } from './accepted.ts';
import type { Progress, Result } from './try-mutants.ts';

/** The least share of killed mutants that an area should have. */
export const goal = 0.85;

export function resultLine({ area, mutant, outcome, ms }: Result, { done, all, leftMs }: Progress): string {
  const place = `${mutant.file}:${mutant.line}`;
  const left = `${Math.ceil(leftMs / 60_000)} min left`;
  return `${String(done).padStart(4)}/${all}  ${outcome.padEnd(8)}  ${area}  ${place}  ${mutant.change}  (${(ms / 1000).toFixed(1)} s, ${left})`;
}

export interface Score {
  area: string;
  killed: number;
  timeout: number;
  survived: number;
  /** From 0 to 1. A mutant that takes too long counts as killed: the tests would not pass. */
  share: number;
}

export function scoreOf(area: string, results: Result[]): Score {
  const count = (outcome: Result['outcome']) =>
    results.filter((each) => each.area === area && each.outcome === outcome).length;
  const [killed, timeout, survived] = [count('killed'), count('timeout'), count('survived')];
  const all = killed + timeout + survived;
  return { area, killed, timeout, survived, share: all === 0 ? 1 : (killed + timeout) / all };
}

/** The figures of each area, then the survivors as accepted.txt would name them. */
export function summary(scores: Score[], results: Result[]): string {
  const rows = scores.map(({ area, killed, timeout, survived, share }) => {
    const figures = [killed, timeout, survived].map((figure) => String(figure).padStart(8)).join('');
    return `${area.padEnd(18)}${figures}${`${Math.floor(share * 100)} %`.padStart(9)}${share < goal ? '  below the goal' : ''}`;
  });
  const survivors = results
    .filter(({ outcome }) => outcome === 'survived')
    .map(({ mutant }) => `${keyOf(mutant).replace(':', `:${mutant.line}:`)}`)
    .sort();
  const head = `${'area'.padEnd(18)}${'killed'.padStart(8)}${'timeout'.padStart(8)}${'survived'.padStart(9)}${'share'.padStart(8)}`;
  return [head, ...rows, '', survivors.length === 0 ? 'No survivors.' : 'Survivors:', ...survivors].join('\n');
}
