import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { RunFailed } from '../domain/run.ts';
import type { RunLimits } from './sandbox.ts';
import {
  argumentsFd,
  filter,
  filterFd,
  passwdFd,
  scriptFd,
  statusFd,
  type Wall,
  type WallParts,
  wallArguments,
} from './wall-arguments.ts';

/** A process in a sandbox, with its descendants. */
export interface Walled {
  child: ChildProcess;
  /** Kills all processes of the sandbox. Resolves when they are gone, or when it gives up waiting. */
  end(): Promise<void>;
}

const passwd = 'root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n';

/** How long to wait for a process to start before killing it, and for it to end afterwards. */
const patienceMs = 3000;

/** Lower priority than the service, which must respond while commands use the whole processor. */
export const niceness = 10;

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
 * Starts a program in a sandbox, without network (`--unshare-all`) and without the service's environment. `detached`
 * gives it a session of its own, without a terminal that it could write to.
 */
export function startWalled(wall: Wall, program: string[], script = ''): Walled {
  const outside = Object.entries(processLimits(wall.limits)).map(([name, value]) => `--${name}=${value}`);
  // Set inside the sandbox, so that the kernel counts only the processes of its user namespace (Linux 5.14 and newer).
  // Set outside, the limit would apply to all sandboxes of the same user together.
  const inside = ['/usr/bin/prlimit', `--nproc=${wall.limits.processes}`, '--'];
  const args = [...outside, '--', 'bwrap', '--args', String(argumentsFd), '--', ...inside, ...program];
  const stdio: StdioOptions = Array.from({ length: argumentsFd + 1 }, () => 'pipe');
  const child = spawn('prlimit', args, { ...wall.who, env: {}, cwd: '/', stdio, detached: true });
  // When the process is out of file descriptors, spawn returns no process and no streams; `error` is emitted
  // afterwards.
  child.on('error', () => {});
  if (child.stdio === undefined)
    throw new RunFailed('sandbox', 'the machine has too many files open; raise its limit (ulimit -n)');
  // Do this before bubblewrap has read its arguments, because it then starts other processes.
  subdue(child, wall);
  for (const [fd, content] of [
    [passwdFd, passwd],
    [scriptFd, script],
    [filterFd, filter],
    [argumentsFd, `${wallArguments(wall).join('\0')}\0`],
  ] as const) {
    const pipe = child.stdio[fd] as Writable;
    pipe.on('error', () => {});
    pipe.end(content);
  }
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const born = innerPid(child.stdio[statusFd] as Readable);
  enlist(wall, born, gone);
  let ending: Promise<void> | undefined;
  const endOnce = async () => {
    // Wait for the pid of the inner process. If bubblewrap is killed before the inner process has asked the kernel to
    // die with its parent, the inner process survives.
    const pid = await within(patienceMs, Promise.race([born, gone.then(() => undefined)]));
    // bubblewrap ends after the inner process, so when bubblewrap has ended nothing is left. If bubblewrap were killed
    // first, processes that are still ending would remain.
    if (pid !== undefined && kill(pid)) await within(patienceMs, gone);
    child.kill('SIGKILL');
    await within(patienceMs, gone);
    for (const stream of child.stdio) stream?.destroy();
  };
  return {
    child,
    end: () => {
      // Only once: later the pid may belong to another process.
      ending ??= endOnce();
      return ending;
    },
  };
}

/**
 * Moves a new process, and everything it starts, into the run's cgroup, makes it the OOM killer's first choice, and
 * lowers its priority. The process must lead a session of its own.
 */
export function subdue({ pid }: ChildProcess, { enter }: Pick<WallParts, 'enter'>): void {
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
async function enlist({ sandboxes }: Wall, born: Promise<number | undefined>, gone: Promise<void>): Promise<void> {
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
