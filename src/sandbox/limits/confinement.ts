import { execFile } from 'node:child_process';
import { lchown, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { RunFailed } from '../../domain/run.ts';
import { traced } from '../../tracing/traced.ts';
import { openMachine } from '../machine/machine.ts';
import type { SandboxParts } from '../machine/system.ts';
import { openTools, plainHost, sandboxedHost } from '../open-tools.ts';
import type { Confinement, Machine, MachineOptions, RunLimits, ToolHost } from '../sandbox.ts';
import type { CgroupTree } from './cgroup.ts';
import { type Watch, watchRun } from './disk-use.ts';
import { takeRunUser } from './run-user.ts';

/** Folders whose files count for a run's limit on disk. A folder that was added twice counts until deleted twice. */
export interface CountedFolders {
  all: Set<string>;
  add(folder: string): void;
  delete(folder: string): void;
}

function countedFolders(): CountedFolders {
  const uses = new Map<string, number>();
  const all = new Set<string>();
  const change = (folder: string, by: number) => {
    const left = (uses.get(folder) ?? 0) + by;
    uses.set(folder, left);
    if (left > 0) all.add(folder);
    else all.delete(folder);
  };
  return { all, add: (folder) => change(folder, 1), delete: (folder) => change(folder, -1) };
}

const run = promisify(execFile);

export interface ConfinementOptions {
  files: Pick<SandboxParts, 'node' | 'toolHost'>;
  limits: RunLimits;
  /** Whether bubblewrap works. */
  hasSandbox: boolean;
  /** The control groups in which each run gets its own; undefined if there are none. */
  cgroups: CgroupTree | undefined;
}

/**
 * The kernel's limit on processes is this much higher than the run's own, so that the watchdog can see the run exceed
 * its limit and end it. Otherwise a fork bomb would go on at the kernel's limit.
 */
const spareProcesses = 64;

/** Gives a run its own user (if the service is root), a cgroup (where possible) and a watchdog. */
export async function confine(options: ConfinementOptions, signal: AbortSignal): Promise<Confinement> {
  const { files, limits, hasSandbox, cgroups } = options;
  const user = process.getuid?.() === 0 ? await takeRunUser() : undefined;
  const group = await cgroups?.open(limits).catch(async (error: Error) => {
    await user?.release();
    throw new RunFailed('sandbox', `no cgroup could be created for the run: ${error.message}`);
  });
  const exceeded = new AbortController();
  const sandboxes = new Set<number>();
  const counted = countedFolders();
  const end = (why: RunFailed) => exceeded.abort(why);
  const watch = watchRun({ limits, sandboxes, folders: counted.all, exceeded: group?.exceeded, end });
  const who = user === undefined ? {} : { uid: user.uid, gid: user.uid };
  const enforced = { ...limits, processes: limits.processes + spareProcesses };
  const parts: SandboxParts = { ...files, who, limits: enforced, sandboxes, enter: group?.enter };
  const ended = AbortSignal.any([signal, exceeded.signal]);
  const place = { parts, signal: ended, counted, watch };
  return {
    signal: ended,
    own: async (workTree) => {
      if (user === undefined) return;
      // There may be millions of files.
      await run('chown', ['-hR', `${user.uid}:${user.uid}`, workTree], { signal: ended }).catch((error) => {
        ended.throwIfAborted();
        throw error;
      });
    },
    open: (workTree, gitDir) => (hasSandbox ? openSandboxed(place, workTree, gitDir) : openPlain(place, workTree)),
    machine: async (settings) => {
      if (!hasSandbox)
        throw new RunFailed('sandbox', 'a command needs a working sandbox, which this machine does not have');
      return machineIn(place, settings);
    },
    close: async () => {
      watch.stop();
      await group?.close();
      await user?.release();
    },
  };
}

interface Place {
  parts: SandboxParts;
  signal: AbortSignal;
  counted: CountedFolders;
  watch: Watch;
}

/** Opens the tools of a work tree in a sandbox. Their machine opens with the first command. */
async function openSandboxed(place: Place, workTree: string, gitDir: string): Promise<ToolHost> {
  const { parts, signal, watch } = place;
  const scratch = { tmp: `${workTree}.tmp`, home: `${workTree}.home` };
  const dismiss = await admit(place, [workTree, scratch.tmp, scratch.home]);
  const running = sandboxedHost(parts, { workTree, git: gitDir, scratch });
  const openOne = (settings: Partial<MachineOptions>) => machineIn(place, { ...settings, workTree, gitDir, scratch });
  return closing(openTools({ running, openMachine: openOne, signal, look: watch.look }), dismiss);
}

async function openPlain(place: Place, workTree: string): Promise<ToolHost> {
  const { parts, signal, watch } = place;
  const dismiss = await admit(place, [workTree]);
  return closing(openTools({ running: plainHost(parts, workTree), signal, look: watch.look }), dismiss);
}

function tracedMachine(machine: Machine): Machine {
  return {
    ...machine,
    run: (command, options) =>
      traced('sandbox command', {}, async (describe) => {
        const end = await machine.run(command, options);
        describe({ 'process.exit.code': end.exitCode });
        return end;
      }),
  };
}

async function machineIn(place: Place, options: MachineOptions): Promise<Machine> {
  const dismiss = await admit(place, [options.workTree, options.scratch.tmp, options.scratch.home]);
  try {
    return closing(tracedMachine(await traced('sandbox open', {}, () => openMachine(place, options))), dismiss);
  } catch (error) {
    dismiss();
    throw error;
  }
}

/**
 * Creates folders that do not exist yet, gives them to the run's user, and counts their files. Includes the work tree,
 * which may still be empty, because bubblewrap creates the mount point of .git in it. Returns a function to call before
 * they may be removed.
 */
async function admit({ parts: { who }, counted }: Place, folders: string[]): Promise<() => void> {
  for (const folder of folders) {
    await mkdir(folder, { recursive: true });
    if (who.uid !== undefined && who.gid !== undefined) await lchown(folder, who.uid, who.gid);
  }
  for (const folder of folders) counted.add(folder);
  return () => {
    for (const folder of folders.splice(0)) counted.delete(folder);
  };
}

/** Adds a step to the end of tools or of a machine. */
function closing<T extends { close(): Promise<void> }>(opened: T, then: () => void): T {
  return { ...opened, close: () => opened.close().then(then) };
}
