/** The functions that apart.test.ts calls in threads. */
const name = Math.random();

export const nameOfThread = () => name;
export const add = (a: number, b: number) => a + b;
export const sizes = (buffers: Uint8Array[]) => buffers.map((buffer) => buffer.length);
export const environment = () => Object.keys(process.env);
export function fail(why: string): void {
  throw new Error(why);
}
export function forever(): void {
  for (;;);
}
export function backtrack(): boolean {
  return /^(a+)+$/.test(`${'a'.repeat(40)}b`);
}
export function hoard(): void {
  const all = [];
  for (;;) all.push(Array.from({ length: 1000 }, Math.random));
}
export function leave(): void {
  process.exit(3);
}
