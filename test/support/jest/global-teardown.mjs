import { rmSync } from 'node:fs';

export default async function globalTeardown() {
  await globalThis.__postgres?.stop();
  // The reporter has read it (github-truth.mjs).
  if (globalThis.__records !== undefined) rmSync(globalThis.__records, { recursive: true, force: true });
}
