import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { findCgroups } from './limits/cgroup.ts';
import { type ConfinementOptions, confine } from './limits/confinement.ts';
import { neutralFolder, neutralPath, readableFolder, readablePath } from './neutral-path.ts';
import type { RunLimits, Sandbox, SandboxState } from './sandbox.ts';
import { selfTest } from './self-test.ts';

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
