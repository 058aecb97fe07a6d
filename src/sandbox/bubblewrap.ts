import { mkdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { findCgroups } from './cgroup.ts';
import { confine } from './confinement.ts';
import { reachable } from './reachable.ts';
import type { RunLimits, Sandbox, SandboxState } from './sandbox.ts';
import { selfTest } from './self-test.ts';

const source = (name: string) => fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));

export interface SandboxOptions {
  setting: 'auto' | 'bwrap' | 'off';
  /** Links or copies of Node and the tool host go here: a path that tells nothing, and that the tools' users can reach. */
  toolsDir: string;
  limits: RunLimits;
}

/**
 * Finds out what works here and says so. With `bwrap` asked for and not working the caller should refuse to start;
 * there is no silent fall-back to an open shell.
 */
export async function openSandbox({ setting, toolsDir, limits }: SandboxOptions): Promise<Sandbox> {
  await mkdir(toolsDir, { recursive: true, mode: 0o711 });
  const module = async (name: string) =>
    reachable(source(name), `${name}-${(await stat(source(name))).mtimeMs}.mjs`, toolsDir);
  const files = {
    node: await reachable(process.execPath, `node-${process.version}`, toolsDir),
    toolHost: await module('tool-host'),
    looseEdit: await module('loose-edit'),
  };
  const cgroups = setting === 'off' ? undefined : await findCgroups();
  const state = setting === 'off' ? off : await selfTest({ files, limits, cgroups, place: toolsDir });
  const options = { files, limits, hasWall: state.works, cgroups };
  return { state, confine: (signal) => confine(options, signal) };
}

const off: SandboxState = { works: false, says: 'switched off by SANDBOX=off: agents have file tools, no run_command' };
