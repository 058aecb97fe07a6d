#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';

// In the repository the sources run as they are, and the package has only the compiled files.
const source = new URL('../src/cli/main.ts', import.meta.url);
const compiled = new URL('../dist/client/src/cli/main.js', import.meta.url);
const file = process.features.typescript && existsSync(source) ? source : compiled;
if (existsSync(file)) {
  const { main } = await import(file.href);
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  process.exitCode = await main(process.argv.slice(2), version);
} else {
  process.stderr.write(
    `deckhand: Node ${process.version} cannot run the sources. Use Node 24 in the repository, or "npm run cli".\n`,
  );
  process.exitCode = 1;
}
