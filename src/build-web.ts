import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Builds the dashboard when it is missing or older than its sources; `npm run build` builds it in any case.
const sources = fileURLToPath(new URL('./web/', import.meta.url));
const index = fileURLToPath(new URL('../dist/web/index.html', import.meta.url));

function isCurrent(): boolean {
  if (!existsSync(index)) return false;
  const builtAt = statSync(index).mtimeMs;
  return readdirSync(sources, { recursive: true, encoding: 'utf8' }).every(
    (name) => statSync(join(sources, name)).mtimeMs < builtAt,
  );
}

if (process.argv.includes('--always') || !isCurrent()) {
  const began = performance.now();
  process.stderr.write('building the dashboard …\n');
  // Without it, as in an installation without development packages, the service runs without its dashboard.
  const { build } = await import('vite').catch(() => ({ build: undefined }));
  if (build === undefined) process.stderr.write('vite is not installed: npm ci, then npm run build\n');
  await build?.({ root: sources, configFile: join(sources, 'vite.config.ts'), logLevel: 'warn' });
  if (build) process.stderr.write(`built in ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
}
