import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Watch, watchRun } from '../../src/sandbox/limits/disk-use.ts';
import { removeTree } from '../../src/sandbox/neutral-path.ts';
import { untilNoneHas } from '../support/machine/processes.ts';
import { isThorough } from '../support/thorough.ts';

const program = fileURLToPath(new URL('./rivals.ts', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'deckhand-limits-'));
chmodSync(root, 0o755);
// A command closes one of its folders.
afterAll(() => removeTree(root));

/** A number that occurs in no other process's arguments on this machine. */
const seconds = `8${process.pid}`;
const deletedFiles = (open: string, mb: number) =>
  `perl -e 'for (1 .. 4) { ${open}; print { $f[$_] } "x" x ${mb}_000_000; $f[$_]->flush } sleep ${seconds}'`;
const disk = /^sandbox: the run used more than 20 MB of disk \(MAX_RUN_DISK_MB\)$/;
const memory = /^sandbox: the run used more than 200 MB of memory \(MAX_RUN_MEMORY_MB\)$/;
const processes = /^sandbox: the run had more than 100 processes and threads \(MAX_RUN_PROCESSES\)$/;

/** The commands of hostile runs, and the failure that each should end with. */
const attacks: Record<string, [command: string, end: RegExp]> = {
  'a fork bomb': [`bash -c 'b() { b | b & }; b; sleep ${seconds}'`, processes],
  // The command starts fewer threads than the kernel's limit for one sandbox. Together with the tool host's threads,
  // they exceed the run's limit.
  threads: [`UV_THREADPOOL_SIZE=85 node -e 'fs.stat("/", () => {}); setTimeout(() => {}, ${seconds})'`, processes],
  'memory of several processes': [
    `for i in 1 2 3 4; do perl -e '$x = "x" x 60_000_000; sleep ${seconds}' & done; wait`,
    memory,
  ],
  'files in three folders': [`for d in /tmp ~ .; do head -c 10000000 /dev/zero > $d/big; done; sleep ${seconds}`, disk],
  'files in a closed folder': [
    `mkdir d; for i in 1 2 3 4 5 6; do head -c 4000000 /dev/zero > d/$i; done; chmod 0 d; sleep ${seconds}`,
    disk,
  ],
  'deleted files': [deletedFiles('open $f[$_], ">", "f"; unlink "f"', 6), disk],
  // 319 is the number of memfd_create on x64 only.
  ...(process.arch === 'x64' && {
    'memory in deleted files': [deletedFiles('open $f[$_], ">&=", syscall(319, $n = "f", 0)', 60), memory] as [
      string,
      RegExp,
    ],
  }),
  'many files': [
    `mkdir d; perl -e 'for (1 .. 6000) { open F, ">", "d/$_" }'; sleep ${seconds}`,
    /^sandbox: the run created more than 5120 files \(256 for each MB of MAX_RUN_DISK_MB\)$/,
  ],
};

const isRoot = process.getuid?.() === 0;
const ordinary = ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups'];
const users: [string, string[]][] = [['the user who runs the tests', []]];
// CI runs all tests as an ordinary user, and those that mention `getuid` as root. So only a thorough run tries both.
if (isRoot && isThorough && canRead(ordinary)) users.push(['an ordinary user', ordinary]);
else if (isRoot && isThorough)
  console.warn('not tested as an ordinary user, because that user cannot read this folder');

function canRead([first = '', ...as]: string[]): boolean {
  try {
    execFileSync(first, [...as, 'test', '-r', program]);
    return true;
  } catch {
    return false;
  }
}

interface Played {
  state: { works: boolean; says: string };
  ends: Record<string, string>;
  met: string[];
}

/** Runs all attacks at the same time, in a separate process. */
async function play(as: string[]): Promise<Played> {
  const folder = join(root, as.length === 0 ? 'own' : 'ordinary');
  mkdirSync(folder);
  if (as.length > 0) chownSync(folder, 1000, 1000);
  const commands = Object.fromEntries(Object.entries(attacks).map(([name, [command]]) => [name, command]));
  const [file = '', ...args] = [...as, process.execPath, program, folder, JSON.stringify(commands)];
  const { stdout } = await promisify(execFile)(file, args, { env: { PATH: process.env.PATH ?? '' } });
  return JSON.parse(stdout);
}

test('a run that exceeds a limit ends and names it; other runs continue, and no process is left', async () => {
  const ended = Object.fromEntries(
    Object.entries(attacks).map(([name, [, end]]) => [name, expect.stringMatching(end)]),
  );
  await Promise.all(
    users.map(async ([who, as]) => {
      const { state, ends, met } = await play(as);
      if (!state.works && !process.env.CI) return console.warn(`skipped: ${state.says}`);
      expect([who, ends]).toEqual([who, ended]);
      expect([who, ...new Set(met)]).toEqual([who, '[exit code 0', 'ok\n']);
    }),
  );
  await untilNoneHas(seconds);
});

test('when the disk is nearly full, only the run that uses the most of it ends', async () => {
  const watches: Watch[] = [];
  const ends: string[] = [];
  let told = () => {};
  const isTold = new Promise<void>((resolve) => {
    told = resolve;
  });
  const watched = (name: string, mb: number) => {
    const folder = join(root, name);
    mkdirSync(folder);
    execFileSync('fallocate', ['-l', `${mb}M`, join(folder, 'file')]);
    const limits = { memoryMb: 4096, diskMb: 10_240, processes: 1024 };
    const end = (why: Error) => {
      ends.push(`${name}: ${why.message}`);
      told();
    };
    const run = { limits, sandboxes: new Set<number>(), folders: new Set([folder]), end };
    // A reserve larger than the free space of any disk.
    watches.push(watchRun(run, () => 1e18));
  };
  for (const [name, mb] of [
    ['small', 65],
    ['large', 80],
    ['middle', 70],
  ] as const)
    watched(name, mb);
  try {
    await isTold;
    for (const { look } of watches) await look();
    expect(ends).toEqual([expect.stringMatching(/^large: less than \d+ MB are free on .* the most of it, 80 MB$/)]);
  } finally {
    for (const { stop } of watches) stop();
  }
});
