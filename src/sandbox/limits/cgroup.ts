import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pRetry from 'p-retry';
import type { RunLimits } from '../sandbox.ts';
import type { Exceeded } from './watched-run.ts';

/** A part of the machine's control groups (version 2) that the service may divide. */
export interface CgroupTree {
  open(limits: RunLimits): Promise<RunGroup>;
}

/** The control group of a run. */
export interface RunGroup {
  /** Moves a process into the group. Whatever it starts afterwards is in it too. */
  enter(pid: number): void;
  exceeded(): Promise<Exceeded | undefined>;
  /** Ends the processes that are left, and removes the group. Never throws. */
  close(): Promise<void>;
}

export interface CgroupOptions {
  mount?: string;
  /** The file in which the kernel names the group of this process. */
  own?: string;
  isDelegated?(service: string): Promise<boolean>;
}

/** The group of the service's own processes: a group that limits its children must not contain processes. */
const serviceGroup = 'service';
const needed = ['memory', 'pids'];

/**
 * The service's part of the control groups, if it may divide it: with `Delegate=yes` of systemd, or in a container with a
 * writable /sys/fs/cgroup. Otherwise undefined, even where root could write: other groups are not touched.
 */
export async function findCgroups(options: CgroupOptions = {}): Promise<CgroupTree | undefined> {
  const { mount = '/sys/fs/cgroup', own = '/proc/self/cgroup', isDelegated = systemdDelegates } = options;
  try {
    const path = /^0::(\/.*)$/m.exec(await readFile(own, 'utf8'))?.[1] ?? '';
    const service = /^.*\/([^/]+\.service)(?=\/|$)/.exec(path);
    if (service === null && path !== '/') return undefined;
    const tree = join(mount, service?.[0] ?? '/');
    // The machine's root group has no such file, the root of a container's namespace does.
    await access(join(tree, 'cgroup.type'));
    await access(join(tree, 'cgroup.subtree_control'), constants.W_OK);
    const controllers = (await readFile(join(tree, 'cgroup.controllers'), 'utf8')).trim().split(' ');
    if (!needed.every((name) => controllers.includes(name))) return undefined;
    // Only a delegated group is writable for an ordinary user. Root can write anywhere, so it has to ask.
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

/** Moves all processes into one group, so that others can be created beside it, and removes groups of ended runs. */
async function divide(tree: string): Promise<void> {
  const pids = (await readFile(join(tree, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean);
  if (pids.length > 0) await mkdir(join(tree, serviceGroup), { recursive: true });
  // A process that has ended cannot be moved. If a living one cannot be moved, the next step fails.
  for (const pid of pids) await writeFile(join(tree, serviceGroup, 'cgroup.procs'), pid).catch(() => {});
  await writeFile(join(tree, 'cgroup.subtree_control'), needed.map((name) => `+${name}`).join(' '));
  // Groups with living processes, perhaps of another worker, cannot be removed.
  for (const name of await readdir(tree)) if (name.startsWith('run-')) await rmdir(join(tree, name)).catch(() => {});
}

async function openGroup(folder: string, { memoryMb, processes }: RunLimits): Promise<RunGroup> {
  const close = () => closeGroup(folder);
  const set = (file: string, value: number | string) => writeFile(join(folder, file), String(value));
  await mkdir(folder);
  try {
    await set('pids.max', processes);
    await set('memory.max', memoryMb * 1024 ** 2);
    // A kernel without swap does not have the file.
    await set('memory.swap.max', 0).catch(() => {});
    // When memory runs out, the kernel ends all processes of the run instead of one of them.
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

/** A group can be removed when its processes are gone, which takes a moment: 20 attempts within a second. */
const removal = { retries: 19, minTimeout: 50, factor: 1 };

async function closeGroup(folder: string): Promise<void> {
  await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => {});
  await pRetry(() => rmdir(folder), removal).catch(() => {});
}
