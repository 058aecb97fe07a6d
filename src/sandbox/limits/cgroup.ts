import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pRetry from 'p-retry';
import type { Exceeded, RunLimits } from '../sandbox.ts';

/** A part of the machine's control groups (version 2) in which the service may create groups. */
export interface CgroupTree {
  open(limits: RunLimits): Promise<RunGroup>;
}

/** The control group of a run. */
export interface RunGroup {
  /** Moves a process into the group. Its later children are in the group too. */
  enter(pid: number): void;
  exceeded(): Promise<Exceeded | undefined>;
  /** Kills the remaining processes and removes the group. Never throws. */
  close(): Promise<void>;
}

export interface CgroupOptions {
  mount?: string;
  /** The file in which the kernel names the group of this process. */
  own?: string;
  isDelegated?(service: string): Promise<boolean>;
}

/** The group of the service's own processes. A cgroup with limited children must not contain processes directly. */
const serviceGroup = 'service';
const needed = ['memory', 'pids'];

/**
 * Finds the control group in which the service may create groups: one delegated by systemd (`Delegate=yes`), or the
 * root group of a container with a writable /sys/fs/cgroup. Returns undefined otherwise, even where root could write,
 * because other services' groups must not be modified.
 */
export async function findCgroups(options: CgroupOptions = {}): Promise<CgroupTree | undefined> {
  const { mount = '/sys/fs/cgroup', own = '/proc/self/cgroup', isDelegated = systemdDelegates } = options;
  try {
    const path = /^0::(\/.*)$/m.exec(await readFile(own, 'utf8'))?.[1] ?? '';
    const service = /^.*\/([^/]+\.service)(?=\/|$)/.exec(path);
    if (service === null && path !== '/') return undefined;
    const tree = join(mount, service?.[0] ?? '/');
    // This file is missing in the machine's root group and present in the root of a container's namespace.
    await access(join(tree, 'cgroup.type'));
    await access(join(tree, 'cgroup.subtree_control'), constants.W_OK);
    const controllers = (await readFile(join(tree, 'cgroup.controllers'), 'utf8')).trim().split(' ');
    if (!needed.every((name) => controllers.includes(name))) return undefined;
    // For an ordinary user only a delegated group is writable. Root can write everywhere, so check the delegation.
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

/**
 * Moves all processes into one child group, so that groups for runs can be created beside it. Removes groups of ended
 * runs.
 */
async function divide(tree: string): Promise<void> {
  const pids = (await readFile(join(tree, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean);
  if (pids.length > 0) await mkdir(join(tree, serviceGroup), { recursive: true });
  // A process that has ended cannot be moved. If a live one cannot be moved, the next step fails.
  for (const pid of pids) await writeFile(join(tree, serviceGroup, 'cgroup.procs'), pid).catch(() => {});
  await writeFile(join(tree, 'cgroup.subtree_control'), needed.map((name) => `+${name}`).join(' '));
  // Groups with live processes, perhaps of another worker, cannot be removed.
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

/** A group can be removed once its processes are gone, which takes a moment: 20 attempts within a second. */
const removal = { retries: 19, minTimeout: 50, factor: 1 };

async function closeGroup(folder: string): Promise<void> {
  await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => {});
  await pRetry(() => rmdir(folder), removal).catch(() => {});
}
