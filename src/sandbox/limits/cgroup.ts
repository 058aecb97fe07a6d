import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { RunLimits } from '../sandbox.ts';
import type { Exceeded } from './watchdog.ts';

/** A part of the machine's control groups (version 2) that is ours to divide. */
export interface CgroupTree {
  open(limits: RunLimits): Promise<RunGroup>;
}

/** The control group of a run. */
export interface RunGroup {
  /** Moves a process in; what it starts afterwards is in it too. */
  enter(pid: number): void;
  exceeded(): Promise<Exceeded | undefined>;
  /** Ends what is left in it. Never throws. */
  close(): Promise<void>;
}

export interface CgroupOptions {
  mount?: string;
  /** Where the kernel says which group this process is in. */
  own?: string;
  isDelegated?(service: string): Promise<boolean>;
}

/** Where this process itself goes: a group with controllers for its children may hold no process. */
const serviceGroup = 'service';
const needed = ['memory', 'pids'];

/**
 * The tree of this service when it may divide it: `Delegate=yes` of systemd, or a container with a writable
 * /sys/fs/cgroup. Undefined anywhere else; what belongs to others is not touched, even where root could.
 */
export async function findCgroups(options: CgroupOptions = {}): Promise<CgroupTree | undefined> {
  const { mount = '/sys/fs/cgroup', own = '/proc/self/cgroup', isDelegated = systemdDelegates } = options;
  try {
    const path = /^0::(\/.*)$/m.exec(await readFile(own, 'utf8'))?.[1] ?? '';
    const service = /^.*\/([^/]+\.service)(?=\/|$)/.exec(path);
    if (service === null && path !== '/') return undefined;
    const tree = join(mount, service?.[0] ?? '/');
    // The root of the machine has none; that of a container's namespace does.
    await access(join(tree, 'cgroup.type'));
    await access(join(tree, 'cgroup.subtree_control'), constants.W_OK);
    const controllers = (await readFile(join(tree, 'cgroup.controllers'), 'utf8')).trim().split(' ');
    if (!needed.every((name) => controllers.includes(name))) return undefined;
    // An ordinary user can write only where it was delegated; root can write anywhere.
    if (service?.[1] !== undefined && process.getuid?.() === 0 && !(await isDelegated(service[1]))) return undefined;
    await divide(tree);
    return { open: (limits) => openGroup(join(tree, `run-${randomUUID()}`), limits) };
  } catch {
    return undefined;
  }
}

async function systemdDelegates(service: string): Promise<boolean> {
  const env = { PATH: '/usr/bin:/bin' };
  const { stdout } = await promisify(execFile)('systemctl', ['show', '-p', 'Delegate', '--value', service], { env });
  return stdout.trim() === 'yes';
}

/** Moves all processes of the tree into one group, so that others can be made beside it; removes those of dead runs. */
async function divide(tree: string): Promise<void> {
  const pids = (await readFile(join(tree, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean);
  if (pids.length > 0) await mkdir(join(tree, serviceGroup), { recursive: true });
  // One that ended since it was listed cannot be moved; one that stays makes the next step fail.
  for (const pid of pids) await writeFile(join(tree, serviceGroup, 'cgroup.procs'), pid).catch(() => {});
  await writeFile(join(tree, 'cgroup.subtree_control'), needed.map((name) => `+${name}`).join(' '));
  // Those with living processes, of another worker perhaps, cannot be removed.
  for (const name of await readdir(tree)) if (name.startsWith('run-')) await rmdir(join(tree, name)).catch(() => {});
}

async function openGroup(folder: string, { memoryMb, processes }: RunLimits): Promise<RunGroup> {
  const close = () => closeGroup(folder);
  const set = (file: string, value: number | string) => writeFile(join(folder, file), String(value));
  await mkdir(folder);
  try {
    await set('pids.max', processes);
    await set('memory.max', memoryMb * 1024 ** 2);
    // A kernel without swap has no such file.
    await set('memory.swap.max', 0).catch(() => {});
    // A run out of memory ends as a whole, and not with a process missing here and there.
    await set('memory.oom.group', 1).catch(() => {});
  } catch (error) {
    await close();
    throw error;
  }
  const counted = async (file: string, event: string) => {
    const text = await readFile(join(folder, file), 'utf8').catch(() => '');
    return Number(new RegExp(`^${event} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  };
  return {
    enter: (pid) => writeFileSync(join(folder, 'cgroup.procs'), String(pid)),
    exceeded: async () => {
      if ((await counted('memory.events', 'oom_kill')) > 0) return 'memory';
      return (await counted('pids.events', 'max')) > 0 ? 'processes' : undefined;
    },
    close,
  };
}

/** How often to try to remove a group, whose processes take a moment to die, and how long to wait in between. */
const [tries, pauseMs] = [20, 50];

async function closeGroup(folder: string): Promise<void> {
  await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => {});
  for (let i = 0; i < tries; i++) {
    const isGone = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (isGone) return;
    await sleep(pauseMs);
  }
}
