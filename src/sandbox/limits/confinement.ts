import { execFile } from 'node:child_process';
import { lchown, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { RunFailed } from '../../domain/run.ts';
import { openTools, plainHost, walledHost } from '../open-tools.ts';
import type { Confinement, RunLimits } from '../sandbox.ts';
import type { Wall, WallParts } from '../wall-arguments.ts';
import type { CgroupTree } from './cgroup.ts';
import { takeRunUser } from './run-user.ts';
import { watchRun } from './watchdog.ts';

const run = promisify(execFile);

export interface ConfinementOptions {
  files: Pick<WallParts, 'node' | 'toolHost'>;
  limits: RunLimits;
  /** Whether bubblewrap works. */
  hasWall: boolean;
  /** The control groups in which each run gets its own; undefined if there are none. */
  cgroups: CgroupTree | undefined;
}

/** Gives a run its own user (if the service is root), a cgroup (where possible) and a watchdog. */
export async function confine(options: ConfinementOptions, signal: AbortSignal): Promise<Confinement> {
  const { files, limits, hasWall, cgroups } = options;
  const user = process.getuid?.() === 0 ? await takeRunUser() : undefined;
  const group = await cgroups?.open(limits).catch(async (error: Error) => {
    await user?.release();
    throw new RunFailed('sandbox', `no cgroup could be created for the run: ${error.message}`);
  });
  const exceeded = new AbortController();
  const sandboxes = new Set<number>();
  const folders = new Set<string>();
  const end = (why: RunFailed) => exceeded.abort(why);
  const watch = watchRun({ limits, sandboxes, folders, exceeded: group?.exceeded, end });
  const who = user === undefined ? {} : { uid: user.uid, gid: user.uid };
  const parts: WallParts = { ...files, who, limits, sandboxes, enter: group?.enter };
  const ended = AbortSignal.any([signal, exceeded.signal]);
  return {
    signal: ended,
    own: async (workTree) => {
      if (user !== undefined) await run('chown', ['-hR', `${user.uid}:${user.uid}`, workTree]);
    },
    open: async (workTree, gitDir) => {
      const scratch = { tmp: `${workTree}.tmp`, home: `${workTree}.home` };
      const writable = hasWall ? [workTree, scratch.tmp, scratch.home] : [workTree];
      for (const folder of writable) await mkdir(folder, { recursive: true });
      // This includes the work tree, which may still be empty, because bubblewrap creates the mount point of .git in
      // it.
      for (const folder of writable) if (user !== undefined) await lchown(folder, user.uid, user.uid);
      for (const folder of writable) folders.add(folder);
      const wall: Wall | undefined = hasWall ? { ...parts, workTree, gitDir, others: [], scratch } : undefined;
      const walled = wall === undefined ? plainHost(parts, workTree) : walledHost(wall);
      const host = openTools({ walled, wall, signal: ended, look: watch.look });
      const close = async () => {
        await host.close();
        // From now on the workspace may be removed, so do not measure it any more.
        for (const folder of writable) folders.delete(folder);
      };
      return { ...host, close };
    },
    close: async () => {
      watch.stop();
      await group?.close();
      await user?.release();
    },
  };
}
