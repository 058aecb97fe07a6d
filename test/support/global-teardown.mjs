import { rm } from 'node:fs/promises';

export default async function globalTeardown() {
  await globalThis.__postgres.postgres.stop();
  await rm(globalThis.__postgres.dataDir, { recursive: true, force: true });
}
