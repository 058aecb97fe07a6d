import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { CgroupTree } from './limits/cgroup.ts';
import { processUse } from './limits/process-use.ts';
import { takeRunUser } from './limits/run-user.ts';
import type { RunLimits, SandboxState } from './sandbox.ts';
import { socketFilter } from './seccomp.ts';
import { runCommand } from './shell.ts';
import type { Wall, WallParts } from './wall-arguments.ts';
import { niceness, oomScore, processLimits } from './walled.ts';

const run = promisify(execFile);

/**
 * Returns the requirements for a sandbox. Each has a description, a command that tests it, and the line that the
 * command must print.
 */
function wanted(limits: RunLimits) {
  const { data, fsize, core, nofile } = processLimits(limits);
  return [
    ['is an unprivileged user', 'id -u', '1000'],
    // The output has two header lines. Every further line is a network device.
    ['has no network', 'grep -cv lo: /proc/net/dev', '2'],
    [
      'cannot change kernel settings',
      '(echo x > /proc/sys/kernel/hostname) 2>/dev/null && echo open || echo closed',
      'closed',
    ],
    [
      'cannot write to system folders',
      'for d in / /usr /etc /opt /dev; do (: > $d/x) 2>/dev/null && echo $d; done; echo closed',
      'closed',
    ],
    ["has none of the service's environment variables", 'env | grep -c TOKEN', '0'],
    ['sees no paths of the host', "tr '\\0' '\\n' < /proc/1/cmdline | grep -c -- -bind", '0'],
    // In the units of the shell: kilobytes, processes, blocks of 512 bytes.
    ['has limited memory', 'ulimit -d', String(data / 1024)],
    ['has a limited number of processes', 'ulimit -p', String(limits.processes)],
    ['has a limited file size', 'ulimit -f', String(fsize / 512)],
    ['has a limited number of open files', 'ulimit -n', String(nofile)],
    ['writes no core file', 'ulimit -c', String(core)],
    ['is killed before the service when memory runs out', 'cat /proc/self/oom_score_adj', String(oomScore)],
    [
      'cannot lower its oom_score_adj',
      '(echo 0 > /proc/self/oom_score_adj) 2>/dev/null && echo open || echo closed',
      'closed',
    ],
    ['has a lower priority than the service', 'nice', String(niceness)],
    [
      'cannot create sockets that bypass the network namespace',
      "sed -n 's/^Seccomp:[[:space:]]*//p' /proc/self/status",
      socketFilter() === undefined ? '0' : '2',
    ],
  ] as const;
}

/** How long the test command writes. It must write more than is shown, so a busy machine gets more time. */
const triedSeconds = [0.2, 1, 4];

export interface SelfTest {
  files: Pick<WallParts, 'node' | 'toolHost'>;
  limits: RunLimits;
  cgroups: CgroupTree | undefined;
  /** A folder for the test's files. */
  place: string;
}

/** Starts commands in a sandbox with empty folders, and checks from inside and outside that every protection works. */
export async function selfTest({ files, limits, cgroups, place }: SelfTest): Promise<SandboxState> {
  const version = await run('bwrap', ['--version'], { env: { PATH: '/usr/local/bin:/usr/bin:/bin' } }).catch(
    () => undefined,
  );
  if (version === undefined) return broken('bubblewrap is not installed (apt-get install bubblewrap)');
  const user = process.getuid?.() === 0 ? await takeRunUser() : undefined;
  const group = await cgroups?.open(limits);
  const probe = await mkdtemp(join(place, 'probe-'));
  try {
    const [workTree = '', gitDir = '', tmp = '', home = ''] = ['work', 'git', 'tmp', 'home'].map((n) => join(probe, n));
    for (const folder of [workTree, gitDir, tmp, home]) await mkdir(folder);
    for (const folder of [probe, workTree, gitDir, tmp, home]) await chmod(folder, 0o777);
    const who = user === undefined ? {} : { uid: user.uid, gid: user.uid };
    const parts: WallParts = { ...files, who, limits, sandboxes: new Set(), enter: group?.enter };
    const wall = { ...parts, workTree, gitDir, others: [], scratch: { tmp, home } };
    const missing = (await lookAround(wall)) ?? (await runWild(wall));
    if (missing !== undefined)
      return broken(`bubblewrap does not work here (${missing}); user namespaces may be forbidden`);
    const how = group !== undefined ? 'a cgroup limits each run' : await countedHow(wall);
    const works = 'agents run commands without network, as an unprivileged user';
    return { works: true, says: `${version.stdout.trim()}: ${works}; ${how}` };
  } finally {
    await rm(probe, { recursive: true, force: true });
    await group?.close();
    await user?.release();
  }
}

const broken = (why: string): SandboxState => ({ works: false, says: `${why}: agents have no run_command` });

async function lookAround(wall: Wall): Promise<string | undefined> {
  const all = wanted(wall.limits);
  const command = all.map(([, look]) => look).join('\n');
  const { text } = await runCommand(wall, { command, timeoutSeconds: 10 }, AbortSignal.timeout(15_000));
  // The first line is the exit code.
  const found = text.trim().split('\n').slice(1);
  // If there are fewer lines than tests, the commands did not run. The last lines give the reason.
  if (found.length < all.length) return text.trim().split('\n').slice(-2).join(' ');
  const failed = all.find(([, , value], i) => found[i] !== value);
  return failed && `the sandbox failed its self-test "a command in the sandbox ${failed[0]}"`;
}

/**
 * Runs a command that writes endlessly and starts a background process. Checks that the output is limited and that no
 * process is left.
 */
async function runWild(wall: Wall, [seconds = 0, ...longer]: number[] = triedSeconds): Promise<string | undefined> {
  // A number that occurs in no other process's arguments.
  const mark = `${process.pid}${Date.now()}`;
  const command = `setsid sleep ${mark} & yes`;
  const running = runCommand(wall, { command, timeoutSeconds: seconds }, AbortSignal.timeout(15_000));
  const seen = await mostProcesses(wall, running);
  const { text } = await running;
  if (!text.startsWith(`[stopped after ${seconds} s]`)) return 'the running time of a command is not limited';
  if (!text.includes('[… cut;'))
    return longer.length > 0 ? runWild(wall, longer) : 'the output of a command is not limited';
  // Expect bubblewrap, the shell, `sleep` and `yes`.
  if (seen < 4) return 'the processes of a command cannot be counted';
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(`sleep\0${mark}`)) return 'a command leaves processes behind';
  }
  return undefined;
}

/** Returns the peak number of processes that the watchdog counts while a command runs. */
async function mostProcesses({ sandboxes, limits }: Wall, running: Promise<unknown>): Promise<number> {
  let isRunning = true;
  const stop = () => {
    isRunning = false;
  };
  running.then(stop, stop);
  let most = 0;
  while (isRunning) {
    most = Math.max(most, (await processUse(sandboxes, limits.processes)).processes);
    await sleep(20);
  }
  return most;
}

/** Fewer than the threads of this process. */
const fewProcesses = 8;

/**
 * Determines whether the kernel counts the processes of each sandbox separately, or those of all sandboxes of the same
 * user together.
 */
async function countedHow(wall: Wall): Promise<string> {
  if (wall.who.uid !== undefined) return 'each run has a separate user and is limited by a watchdog';
  const tight = { ...wall, limits: { ...wall.limits, processes: fewProcesses } };
  const { exitCode } = await runCommand(tight, { command: '(true)', timeoutSeconds: 10 }, AbortSignal.timeout(15_000));
  return exitCode === 0
    ? 'processes are counted for each sandbox separately, and a watchdog limits each run'
    : 'all sandboxes share one count of processes (before Linux 5.14), and a watchdog limits each run';
}
