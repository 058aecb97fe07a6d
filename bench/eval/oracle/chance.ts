import { createHash } from 'node:crypto';

/** Returns a number from 0 to below 1 that depends on the arguments only. */
export function chance(...parts: (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readUInt32BE(0) / 2 ** 32;
}

/** Chooses one of a list's elements. */
export function choice<T>(list: readonly [T, ...T[]], ...parts: (string | number)[]): T {
  return list[Math.floor(chance(...parts) * list.length)] ?? list[0];
}
