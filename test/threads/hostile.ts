import { threadCpuUsage } from 'node:process';

/** The functions that apart.long.test.ts calls in threads. */
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
/** Like a thread that gets no processor. */
export function wait(ms: number): string {
  return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
/** Uses the processor for `ms`, with pauses like those on a busy machine. */
export function workSlowly(ms: number): number {
  for (const end = spentMs() + ms; spentMs() < end; wait(20)) for (const pause = spentMs() + 10; spentMs() < pause; );
  return ms;
}
const spentMs = () => (threadCpuUsage().user + threadCpuUsage().system) / 1000;
export function hoard(): void {
  const all = [];
  for (;;) all.push(Array.from({ length: 1000 }, Math.random));
}
export function leave(): void {
  process.exit(3);
}
