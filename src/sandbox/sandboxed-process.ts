import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { RunFailed } from '../domain/run.ts';
import { type SandboxLayout, socketFilter } from './layout.ts';
import type { SandboxParts } from './machine/system.ts';
import type { RunLimits } from './sandbox.ts';

/** A process in a sandbox, with its descendants. */
export interface SandboxedProcess {
  child: ChildProcess;
  /** The pid of the first process inside, as the host sees it; undefined if none started. */
  born: Promise<number | undefined>;
  /** Kills all processes of the sandbox. Resolves with true when they are gone, or with false when it gives up waiting. */
  end(): Promise<boolean>;
}

/** The file descriptors of a sandbox. Those from `firstFileFd` hold the contents of `SandboxLayout.files`. */
const [statusFd, argumentsFd, filterFd, gateFd, firstFileFd] = [3, 4, 5, 6, 7];
const filter = socketFilter();

/** How long to wait for a process to start before killing it, and for it to end afterwards. */
const patienceMs = 3000;

/** Lower priority than the service, which must respond while commands use the whole processor. */
export const niceness = 5;

/** Makes the kernel's OOM killer choose processes of sandboxes before any others. */
export const oomScore = 1000;

/**
 * Node reserves 0.6 GB of address space, and 8 MB per thread, but uses little of it. The watchdog limits actual use.
 */
const leastDataMb = 4096;

/** Returns the limits that the kernel enforces for each process: file size, memory, core file and open files. */
export function processLimits({ memoryMb }: RunLimits) {
  return { fsize: 268_435_456, data: Math.max(memoryMb, leastDataMb) * 1024 ** 2, core: 0, nofile: 4096 };
}

/**
 * Starts a program in a sandbox, without the service's environment. `detached` gives it a session of its own, without a
 * terminal that it could write to.
 */
export function startSandboxed(parts: SandboxParts, layout: SandboxLayout, program: string[]): SandboxedProcess {
  const inputs = inputsOf(layout);
  const isOpen = (fd: number) => fd <= statusFd || inputs.has(fd);
  const length = firstFileFd + Object.keys(layout.files).length;
  const stdio: StdioOptions = Array.from({ length }, (_, fd) => (isOpen(fd) ? 'pipe' : 'ignore'));
  const args = commandLine(parts, layout, program);
  const child = spawn('prlimit', args, { ...parts.who, env: {}, cwd: '/', stdio, detached: true });
  // When the process is out of file descriptors, spawn returns no process and no streams; `error` is emitted
  // afterwards.
  child.on('error', () => {});
  if (child.stdio === undefined)
    throw new RunFailed('sandbox', 'the machine has too many files open; raise its limit (ulimit -n)');
  // Do this before bubblewrap has read its arguments, because it then starts other processes.
  restrictProcess(child, parts);
  for (const [fd, content] of inputs) {
    const pipe = child.stdio[fd] as Writable;
    pipe.on('error', () => {});
    pipe.end(content);
  }
  let hasEnded = false;
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  }).then(() => {
    hasEnded = true;
  });
  const born = innerPid(child.stdio[statusFd] as Readable);
  trackWhileRunning(parts, born, gone);
  let ending: Promise<boolean> | undefined;
  const endOnce = async () => {
    // Wait for the pid of the inner process. If bubblewrap is killed before the inner process has asked the kernel to
    // die with its parent, the inner process survives.
    const pid = await within(patienceMs, Promise.race([born, gone.then(() => undefined)]));
    // bubblewrap ends after the inner process, so when bubblewrap has ended nothing is left. If bubblewrap were killed
    // first, processes that are still ending would remain.
    const isKilled = pid !== undefined && kill(pid);
    if (isKilled) await within(patienceMs, gone);
    const isGone = hasEnded || (pid !== undefined && !isKilled);
    child.kill('SIGKILL');
    await within(patienceMs, gone);
    for (const stream of child.stdio) stream?.destroy();
    return isGone;
  };
  return {
    child,
    born,
    end: () => {
      // Only once: later the pid may belong to another process.
      ending ??= endOnce();
      return ending;
    },
  };
}

/** Returns what the service writes to the descriptors of a sandbox. The program inside inherits none of them. */
function inputsOf(layout: SandboxLayout): Map<number, string | Buffer> {
  const inputs = new Map<number, string | Buffer>();
  if (layout.network !== undefined) inputs.set(gateFd, '');
  if (filter !== undefined) inputs.set(filterFd, filter);
  for (const [i, content] of Object.values(layout.files).entries()) inputs.set(firstFileFd + i, content);
  return inputs.set(argumentsFd, `${bubblewrapArguments(layout).join('\0')}\0`);
}

/**
 * Waits until the service has closed its end of a pipe, then becomes another program. While a process joins a user
 * namespace, only root may change its priority and its OOM score.
 */
const gate = `read -r _ <&${gateFd}; exec "$@" ${gateFd}<&-`;

/**
 * Returns the arguments of `prlimit`, which sets the limits and becomes bubblewrap.
 *
 * The limit on processes is set in a user namespace, so that the kernel counts only the processes in it (Linux 5.14 and
 * newer): all commands that share a network, or one sandbox. Set outside of them, it would apply to all sandboxes of the
 * same user together.
 */
function commandLine({ limits }: SandboxParts, { network }: SandboxLayout, program: string[]): string[] {
  const each = Object.entries(processLimits(limits)).map(([name, value]) => `--${name}=${value}`);
  const processes = `--nproc=${limits.processes}`;
  const bubblewrap = ['bwrap', '--args', String(argumentsFd), '--'];
  if (network === undefined) return [...each, '--', ...bubblewrap, '/usr/bin/prlimit', processes, '--', ...program];
  const join = ['nsenter', '--preserve-credentials', '--user', '--net', '--target', String(network), '--'];
  return [...each, processes, '--', '/bin/sh', '-c', gate, 'sh', ...join, ...bubblewrap, ...program];
}

/**
 * Returns bubblewrap's arguments. They contain paths of the host, and a sandbox can read its command line in /proc/1,
 * so bubblewrap reads them from a file descriptor instead.
 */
function bubblewrapArguments({ args, files }: SandboxLayout): string[] {
  const own = ['--json-status-fd', String(statusFd), ...(filter === undefined ? [] : ['--seccomp', String(filterFd)])];
  const contents = Object.keys(files).flatMap((path, i) => ['--ro-bind-data', String(firstFileFd + i), path]);
  const all = [...own, ...contents, ...args];
  // bubblewrap would read the rest as further arguments.
  if (all.some((arg) => arg.includes('\0')))
    throw new RunFailed('sandbox', 'a variable or a path for commands contains a NUL character; remove it');
  return all;
}

/**
 * Moves a new process, and everything it starts, into the run's cgroup, makes it the OOM killer's first choice, and
 * lowers its priority. The process must lead a session of its own.
 */
export function restrictProcess({ pid }: ChildProcess, { enter }: Pick<SandboxParts, 'enter'>): void {
  if (pid === undefined) return;
  try {
    enter?.(pid);
    // Because root writes this value, the process cannot set a lower one.
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(oomScore));
    setPriority(pid, niceness);
    lowerSession(pid);
  } catch (error) {
    kill(pid);
    throw new RunFailed('sandbox', `a process could not be limited: ${(error as Error).message}`);
  }
}

/** The kernel lets ordinary users change the priority of sessions ten times a second, all users together. */
const [sessionTries, sessionPauseMs] = [20, 110];

/**
 * Lowers the priority of a process's session. Without a CPU cgroup, Linux divides the processor between sessions first,
 * and `nice` counts only within one (sched(7), "The autogroup feature"). Kernels without that feature have no such file.
 */
function lowerSession(pid: number, tries = sessionTries): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch (error) {
    const isTooSoon = (error as NodeJS.ErrnoException).code === 'EAGAIN';
    if (isTooSoon && tries > 1) setTimeout(() => lowerSession(pid, tries - 1), sessionPauseMs).unref();
  }
}

/** Keeps a sandbox in the list of running sandboxes while it runs. */
async function trackWhileRunning(
  { sandboxes }: SandboxParts,
  born: Promise<number | undefined>,
  gone: Promise<void>,
): Promise<void> {
  const pid = await Promise.race([born, gone.then(() => undefined)]);
  if (pid === undefined) return;
  sandboxes.add(pid);
  await gone;
  sandboxes.delete(pid);
}

/** Reads the pid that bubblewrap reports for the process it started: `{ "child-pid": 123 }`. */
function innerPid(status: Readable): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = '';
    status.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-1000);
      const pid = Number(/"child-pid": (\d+)/.exec(text)?.[1]);
      if (pid > 1) resolve(pid);
    });
    status.on('error', () => resolve(undefined));
    status.once('close', () => resolve(undefined));
  });
}

/** Kills a process; returns false if it no longer exists. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** Returns the result of some work, or undefined when it takes longer than `ms`. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
