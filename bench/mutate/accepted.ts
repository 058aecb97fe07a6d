import type { Mutant } from './mutant.ts';

/** How a mutant is written in accepted.txt. Line numbers would change too often. */
export function keyOf({ file, change }: Mutant): string {
  return `${file}: ${change}`;
}

/**
 * Reads accepted.txt: a mutant on a line, and indented below it the reason why no test can kill it. Lines with `#` are
 * comments.
 * @throws when a reason is missing
 */
export function readAccepted(text: string): Set<string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const isReason = (line: string | undefined) => line?.startsWith(' ') ?? false;
  const keys = lines.filter((line) => !isReason(line));
  const unexplained = keys.find((key) => !isReason(lines[lines.indexOf(key) + 1]));
  if (unexplained !== undefined)
    throw new Error(`bench/mutate/accepted.txt: the next line must be indented and give the reason: ${unexplained}`);
  return new Set(keys);
}

/** Accepted mutants that the code no longer has. Their lines can be deleted. */
export function stale(accepted: Set<string>, found: Mutant[]): string[] {
  const keys = new Set(found.map(keyOf));
  return [...accepted].filter((key) => !keys.has(key));
}
