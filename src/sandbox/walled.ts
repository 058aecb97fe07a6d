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

/** A process behind the wall, with everything that it started. */
export interface Walled {
  child: ChildProcess;
  /** Ends all of it, and returns when it is gone or cannot be waited for. */
  end(): Promise<void>;
}

const passwd = 'root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n';

/** How long to wait for a process to start before killing it, and for it to be gone afterwards. */
const patienceMs = 3000;

/** Below the service, which must answer while commands take all of the processor. */
export const niceness = 10;

/** The kernel's OOM killer takes the processes of sandboxes before any other. */
export const oomScore = 1000;

/** Node asks for 0.6 GB and for 8 MB a thread, of which it uses little; what is used is the watchdog's to count. */
const leastDataMb = 4096;

/** What the kernel allows each process: file size, memory, core file and open files. */
export function processLimits({ memoryMb }: RunLimits) {
  return { fsize: 268_435_456, data: Math.max(memoryMb, leastDataMb) * 1024 ** 2, core: 0, nofile: 4096 };
}

/** Starts a program inside; `--unshare-all` takes the network away too. The environment of the host does not exist there. */
export function startWalled(wall: Wall, program: string[], script = ''): Walled {
  const outside = Object.entries(processLimits(wall.limits)).map(([name, value]) => `--${name}=${value}`);
  // Set inside, so that the kernel counts the processes of this sandbox's user namespace only (Linux 5.14 and newer);
  // set outside, it would count those of every sandbox with the same user.
  const inside = ['/usr/bin/prlimit', `--nproc=${wall.limits.processes}`, '--'];
  const args = [...outside, '--', 'bwrap', '--args', String(argumentsFd), '--', ...inside, ...program];
  const stdio: StdioOptions = Array.from({ length: argumentsFd + 1 }, () => 'pipe');
  const child = spawn('prlimit', args, { ...wall.who, env: {}, cwd: '/', stdio });
  // With too many files open there is no process and no stream, only the error to come.
  child.on('error', () => {});
  if (child.stdio === undefined) throw new RunFailed('sandbox', 'the machine has too many files open');
  // Before bubblewrap has its arguments, and so before it starts any other process.
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
    // Killed before it has asked to die with its parent, the inner process would stay behind; so its pid is waited for.
    const pid = await within(patienceMs, Promise.race([born, gone.then(() => undefined)]));
    // bubblewrap ends by itself once it has reaped the inner process, so its end says that nothing is left. Killed at
    // once, it would leave behind what is still dying.
    if (pid !== undefined && kill(pid)) await within(patienceMs, gone);
    child.kill('SIGKILL');
    await within(patienceMs, gone);
    for (const stream of child.stdio) stream?.destroy();
  };
  return {
    child,
    end: () => {
      // Its pid may be somebody else's by the second time.
      ending ??= endOnce();
      return ending;
    },
  };
}

/** Makes a process that was just started, and all that it will start, yield to the service: cgroup, memory, processor. */
export function subdue({ pid }: ChildProcess, { enter }: Pick<WallParts, 'enter'>): void {
  if (pid === undefined) return;
  try {
    enter?.(pid);
    // By root it also sets the least that the process may set itself.
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(oomScore));
    setPriority(pid, niceness);
  } catch (error) {
    kill(pid);
    throw new RunFailed('sandbox', `a process could not be limited: ${(error as Error).message}`);
  }
}

/** Keeps the list of the sandboxes that are running. */
async function enlist({ sandboxes }: Wall, born: Promise<number | undefined>, gone: Promise<void>): Promise<void> {
  const pid = await Promise.race([born, gone.then(() => undefined)]);
  if (pid === undefined) return;
  sandboxes.add(pid);
  await gone;
  sandboxes.delete(pid);
}

/** bubblewrap tells the pid of what it started: `{ "child-pid": 123 }`. */
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

/** False when it is gone already. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

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
