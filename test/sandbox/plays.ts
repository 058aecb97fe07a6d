import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gitOut } from '../support/git.ts';
import type { Play } from './play-tools.ts';

const program = fileURLToPath(new URL('./play-tools.ts', import.meta.url));

const ordinary = ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups'];

/** Users who run the service, with the command that becomes them. */
export const users: [string, string[]][] = [['the user who runs the tests', []]];
if (process.getuid?.() === 0 && canRead(ordinary)) users.push(['an ordinary user', ordinary]);

function canRead([first = '', ...as]: string[]): boolean {
  try {
    execFileSync(first, [...as, 'test', '-r', program]);
    return true;
  } catch {
    return false;
  }
}

type Call = Play['calls'][number];

export const run = (command: string, name = 'one'): Call => ({
  run: name,
  tool: 'run_command',
  args: { command, timeoutSeconds: 120 },
});
export const start = (name: string, command: string): Call => ({
  run: 'one',
  tool: 'start_process',
  args: { name, command },
});
/** Reads the output of a process until it contains a text. */
export const see = (name: string, until: string): Call => ({ run: 'one', tool: 'read_output', args: { name }, until });

/** Returns the output of an answer without its first line. */
export const outputOf = (answer = '') => answer.slice(answer.indexOf('\n') + 1);

/** Plays calls of tools in a process of its own; see `Play`. */
export function openPlays() {
  const root = mkdtempSync(join(tmpdir(), 'deckhand-machine-'));
  chmodSync(root, 0o755);
  let plays = 0;
  return {
    root,
    close: () => rmSync(root, { recursive: true, force: true }),
    /** Plays calls in two runs, `one` and `other`, as a user. Returns undefined where no sandbox works. */
    play: (as: string[], calls: Call[], how: Pick<Play['runs'][string], 'settings' | 'news'> = {}) =>
      play(join(root, `play${plays++}`), as, calls, how),
  };
}

async function play(folder: string, as: string[], calls: Call[], how: object) {
  for (const name of ['one', 'other']) makeRun(join(folder, name));
  if (as.length > 0) execFileSync('chown', ['-R', '1000:1000', folder]);
  const before = contentsOf(join(folder, 'one/git'));
  const runs = Object.fromEntries(['one', 'other'].map((name) => [name, { folder: join(folder, name), ...how }]));
  const given: Play = { toolsDir: join(folder, 'tools'), runs, calls };
  const [file = '', ...args] = [...as, process.execPath, program, JSON.stringify(given)];
  const { stdout } = await promisify(execFile)(file, args, { env: { PATH: process.env.PATH ?? '', TOKEN: 'canary' } });
  const { state, answers } = JSON.parse(stdout) as { state: { works: boolean; says: string }; answers: string[] };
  if (!state.works && process.env.CI) throw new Error(state.says);
  if (!state.works) console.warn(`skipped: ${state.says}`);
  expect(contentsOf(join(folder, 'one/git'))).toEqual(before);
  return state.works ? { folder, answers } : undefined;
}

/** Creates a workspace and a git folder as the service does: the folder is elsewhere, and its HEAD is detached. */
function makeRun(folder: string): void {
  const [work, git] = [join(folder, 'work'), join(folder, 'git')];
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, 'a.txt'), 'one\n');
  gitOut(folder, 'init', '-q', '--bare', git);
  gitOut(git, 'config', 'core.bare', 'false');
  const inWork = (...args: string[]) => gitOut(folder, `--git-dir=${git}`, `--work-tree=${work}`, ...args);
  inWork('add', '-A');
  inWork('commit', '-q', '-m', 'first');
  inWork('checkout', '-q', '--detach');
  writeFileSync(join(git, 'hooks/pre-commit'), '#!/bin/sh\necho a hook of the service; exit 1\n', { mode: 0o755 });
}

/** Returns every file of a folder with its content. */
function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'base64')]),
  );
}
