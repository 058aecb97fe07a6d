import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

// Builds the dashboard if it is missing or older than its sources; `npm run build` (`--always`) builds it in any case.
const sources = fileURLToPath(new URL('./web/', import.meta.url));
const index = fileURLToPath(new URL('../dist/web/index.html', import.meta.url));
const assets = fileURLToPath(new URL('../dist/web/assets/', import.meta.url));

function isCurrent(): boolean {
  if (!existsSync(index)) return false;
  const builtAt = statSync(index).mtimeMs;
  return readdirSync(sources, { recursive: true, encoding: 'utf8' }).every(
    (name) => statSync(join(sources, name)).mtimeMs < builtAt,
  );
}

/**
 * Stores compressed copies of the scripts and styles: compressing them for each visitor would take 40 ms of CPU time.
 */
function compressAssets(): void {
  for (const name of readdirSync(assets).filter((each) => /\.(js|css)$/.test(each))) {
    const text = readFileSync(join(assets, name));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(text, { level: 9 }));
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(text));
  }
}

if (process.argv.includes('--always') || !isCurrent()) {
  const began = performance.now();
  process.stderr.write('building the dashboard …\n');
  // Without development dependencies vite is not installed. The service then runs without its dashboard.
  const { build } = await import('vite').catch(() => ({ build: undefined }));
  if (build === undefined) process.stderr.write('vite is not installed: run npm ci, then npm run build\n');
  else {
    await build({ root: sources, configFile: join(sources, 'vite.config.ts'), logLevel: 'warn' });
    compressAssets();
    process.stderr.write(`built in ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
  }
}
