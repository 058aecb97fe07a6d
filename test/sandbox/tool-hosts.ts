import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type HostClient, hostClient } from '../../src/sandbox/open-tools.ts';

const main = join(import.meta.dirname, '../../src/sandbox/inside/main.mjs');

/** Call it once in a test file: each test gets an empty workspace, and tool hosts that are ordinary processes. */
export function toolHosts() {
  const children: ChildProcess[] = [];
  let work: string;
  beforeEach(() => {
    work = mkdtempSync(join(tmpdir(), 'deckhand-files-'));
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(work, { recursive: true, force: true });
  });
  return {
    work: () => work,
    open: ({ options = [], env = {} }: { options?: string[]; env?: NodeJS.ProcessEnv } = {}): HostClient => {
      const child = spawn(process.execPath, [main, work, ...options], { env, stdio: 'pipe' });
      children.push(child);
      return hostClient(child);
    },
    write: (files: Record<string, string>) => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(work, path)), { recursive: true });
        writeFileSync(join(work, path), text);
      }
    },
    read: (path: string) => readFileSync(join(work, path), 'utf8'),
  };
}
