import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { socketFilter } from './layout.ts';
import { type CgroupTree, findCgroups } from './limits/cgroup.ts';
import { type ConfinementOptions, confine } from './limits/confinement.ts';
import { processUse } from './limits/process-use.ts';
import { takeRunUser } from './limits/run-user.ts';
import { openMachine } from './machine/machine.ts';
import type { SandboxParts } from './machine/system.ts';
import { neutralFolder, neutralPath, readableFolder, readablePath } from './neutral-path.ts';
import type { Machine, RunLimits, Sandbox, SandboxState } from './sandbox.ts';
import { niceness, oomScore, processLimits } from './sandboxed-process.ts';

export interface SandboxOptions {
  setting: 'auto' | 'bwrap' | 'off';
  /**
   * Folder for hard links or copies of Node and the tool host. Sandboxes can read it, and its path reveals nothing
   * about this machine.
   */
  toolsDir: string;
  limits: RunLimits;
}

/**
 * Tests whether bubblewrap works on this machine and returns the result as `state`. There is no silent fallback to a
 * shell without a sandbox: with the setting `bwrap` the caller refuses to start when bubblewrap does not work.
 */
export async function openSandbox({ setting, toolsDir, limits }: SandboxOptions): Promise<Sandbox> {
  const cgroups = setting === 'off' ? undefined : await findCgroups();
  const test = async () => selfTest({ files: await filesIn(toolsDir, true), limits, cgroups, place: toolsDir });
  const state = setting === 'off' ? off : await test().catch(untried);
  return {
    state,
    confine: async (signal) =>
      confine({ files: await filesIn(toolsDir, state.works), limits, hasSandbox: state.works, cgroups }, signal),
  };
}

const off: SandboxState = { works: false, says: 'switched off by SANDBOX=off: agents have file tools, no run_command' };

function untried(error: Error): SandboxState {
  return { works: false, says: `bubblewrap could not be tested (${error.message}): agents have no run_command` };
}

/**
 * Returns the paths of Node and the tool host. Called for each run, because systems delete files in /var/tmp that were
 * not used for weeks.
 */
async function filesIn(toolsDir: string, isSandboxed: boolean): Promise<ConfinementOptions['files']> {
  await mkdir(toolsDir, { recursive: true, mode: 0o711 });
  const [find, findFolder] = isSandboxed ? [neutralPath, neutralFolder] : [readablePath, readableFolder];
  return {
    node: await find(process.execPath, `node-${process.version}`, toolsDir),
    toolHost: await findFolder(fileURLToPath(new URL('./inside', import.meta.url)), 'host', toolsDir),
  };
}

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
    ['has limited memory', limitNamed('Max data size'), String(data)],
    ['has a limited number of processes', limitNamed('Max processes'), String(limits.processes)],
    ['has a limited file size', limitNamed('Max file size'), String(fsize)],
    ['has a limited number of open files', limitNamed('Max open files'), String(nofile)],
    ['writes no core file', limitNamed('Max core file size'), String(core)],
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

/** Returns a command that prints a limit on its own process. Shells print limits in units of their own. */
function limitNamed(name: string): string {
  return `sed -n 's/^${name} *\\([0-9]*\\) .*/\\1/p' /proc/self/limits`;
}

/** The longest time for one test command, and for all of them. */
const [commandSeconds, longestMs] = [10, 60_000];

/**
 * How long the test command writes. It must write more than is shown, and its processes must be seen, so a busy machine
 * gets more time.
 */
const triedSeconds = [0.2, 1, 4];

export interface SelfTest {
  files: Pick<SandboxParts, 'node' | 'toolHost'>;
  limits: RunLimits;
  cgroups: CgroupTree | undefined;
  /** A folder for the test's files. */
  place: string;
}

/** Starts commands in a sandbox with empty folders, and checks from inside and outside that every protection works. */
async function selfTest({ files, limits, cgroups, place }: SelfTest): Promise<SandboxState> {
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
    const parts: SandboxParts = { ...files, who, limits, sandboxes: new Set(), enter: group?.enter };
    const open = (limited: SandboxParts) =>
      openMachine(
        { parts: limited, signal: AbortSignal.timeout(longestMs), counted: new Set() },
        { workTree, gitDir, scratch: { tmp, home } },
      );
    const missing = await open(parts).then((machine) => problemOf(machine, parts), messageOf);
    if (missing !== undefined)
      return broken(`bubblewrap does not work here (${missing}); creating or joining user namespaces may be forbidden`);
    const how = group !== undefined ? 'a cgroup limits each run' : await countedHow(parts, open);
    const works = 'agents run commands as an unprivileged user, in a network of their own';
    return { works: true, says: `${version.stdout.trim()}: ${works}; ${how}` };
  } finally {
    await rm(probe, { recursive: true, force: true });
    await group?.close();
    await user?.release();
  }
}

const broken = (why: string): SandboxState => ({ works: false, says: `${why}: agents have no run_command` });

const messageOf = (error: Error) => error.message;

/** Returns the first protection that a machine lacks, and closes it. */
async function problemOf(machine: Machine, parts: SandboxParts): Promise<string | undefined> {
  try {
    return (
      (await lookAround(machine, parts.limits)) ?? (await shareNetwork(machine)) ?? (await runWild(machine, parts))
    );
  } finally {
    await machine.close();
  }
}

async function lookAround(machine: Machine, limits: RunLimits): Promise<string | undefined> {
  const all = wanted(limits);
  const command = all.map(([, look]) => look).join('\n');
  const { output } = await machine.run(command, { seconds: commandSeconds });
  const found = output.trim().split('\n');
  // If there are fewer lines than tests, the commands did not run. The last lines give the reason.
  if (found.length < all.length) return found.slice(-2).join(' ');
  const failed = all.find(([, , value], i) => found[i] !== value);
  return failed && `the sandbox failed its self-test "a command in the sandbox ${failed[0]}"`;
}

/** A link that names the network namespace of the process that reads it. */
const ownNetwork = '/proc/self/ns/net';

/** Checks that commands share a network, and that it is not the service's. */
async function shareNetwork(machine: Machine): Promise<string | undefined> {
  const look = () => machine.run(`readlink ${ownNetwork}`, { seconds: commandSeconds });
  const [one, other] = await Promise.all([look(), look()]);
  if (!/^net:\[\d+\]\n$/.test(one.output))
    return `the network of a command is unknown: ${one.output.trim() || one.how}`;
  if (one.output.trim() === readlinkSync(ownNetwork)) return 'commands are in the network of the service';
  return one.output === other.output ? undefined : 'the commands of a run do not share a network';
}

/**
 * Runs a command that writes endlessly and starts a background process. Checks that the output is limited and that no
 * process is left.
 */
async function runWild(
  machine: Machine,
  parts: SandboxParts,
  [seconds = 0, ...longer]: number[] = triedSeconds,
): Promise<string | undefined> {
  // A number that occurs in no other process's arguments.
  const mark = `${process.pid}${Date.now()}`;
  const running = machine.run(`setsid sleep ${mark} & yes`, { seconds });
  const seen = await mostProcesses(parts, running);
  const { how, output } = await running;
  if (how !== `stopped after ${seconds} s`) return 'the running time of a command is not limited';
  const isCut = output.includes('[… cut;');
  // Expect two processes that hold the network, and bubblewrap, the shell, `sleep` and `yes`.
  const isCounted = seen >= 6;
  if (!(isCut && isCounted) && longer.length > 0) return runWild(machine, parts, longer);
  if (!isCut) return 'the output of a command is not limited';
  if (!isCounted) return 'the processes of a command cannot be counted';
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(`sleep\0${mark}`)) return 'a command leaves processes behind';
  }
  return undefined;
}

/** Returns the peak number of processes that the watchdog counts while a command runs. */
async function mostProcesses({ sandboxes, limits }: SandboxParts, running: Promise<unknown>): Promise<number> {
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
 * Determines whether the kernel counts the processes of each run separately, or those of all processes of the same user
 * together.
 */
async function countedHow(parts: SandboxParts, open: (parts: SandboxParts) => Promise<Machine>): Promise<string> {
  if (parts.who.uid !== undefined) return 'each run has a separate user and is limited by a watchdog';
  const machine = await open({ ...parts, limits: { ...parts.limits, processes: fewProcesses } });
  const { exitCode } = await machine.run('(true)', { seconds: commandSeconds });
  await machine.close();
  return exitCode === 0
    ? 'processes are counted for each run separately, and a watchdog limits each run'
    : 'all runs share one count of processes (before Linux 5.14), and a watchdog limits each run';
}
