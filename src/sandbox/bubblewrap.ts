import { execFile, spawn } from 'node:child_process';
import { lchown, mkdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RunFailed } from '../domain/run.ts';
import { hostClient } from './host-client.ts';
import { reachable } from './reachable.ts';
import type { Sandbox, SandboxState, ToolHost } from './sandbox.ts';
import { selfTest } from './self-test.ts';
import { runCommand } from './shell.ts';
import { rootNames, startWalled, type Wall, type Walled, type WallParts } from './walled.ts';

const run = promisify(execFile);
const source = (name: string) => fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));

/** As root the tools run under a number of their own: not nobody, whose process limit PostgreSQL would share. */
const toolUid = 61_234;

export interface SandboxOptions {
  setting: 'auto' | 'bwrap' | 'off';
  /** Copies of Node and the tool host go here when the checkout cannot be reached by the tools' uid. */
  reachableDir: string;
}

/**
 * Finds out what works here and says so. With `bwrap` asked for and not working the caller should refuse to start;
 * there is no silent fall-back to an open shell.
 */
export async function openSandbox({ setting, reachableDir }: SandboxOptions): Promise<Sandbox> {
  const uid = process.getuid?.() === 0 ? toolUid : undefined;
  const who = uid === undefined ? {} : { uid, gid: uid };
  const module = async (name: string) =>
    reachable(source(name), `${name}-${(await stat(source(name))).mtimeMs}.mjs`, reachableDir, who);
  const parts = {
    who,
    node: await reachable(process.execPath, `node-${process.version}`, reachableDir, who),
    toolHost: await module('tool-host'),
    looseEdit: await module('loose-edit'),
  };
  const own = async (folder: string) => {
    if (uid !== undefined) await run('chown', ['-hR', `${uid}:${uid}`, folder]);
  };
  const state = setting === 'off' ? off : await selfTest(parts);
  return {
    state,
    own,
    open: async (workTree, gitDir, signal) => {
      if (!state.works) return openTools(plainHost(parts, workTree), undefined, signal);
      const scratch = { tmp: `${workTree}.tmp`, home: `${workTree}.home` };
      for (const folder of [scratch.tmp, scratch.home]) await mkdir(folder, { recursive: true });
      // Also the work tree itself, in which bubblewrap makes the place for .git; its files may come later.
      for (const folder of [workTree, scratch.tmp, scratch.home]) if (uid !== undefined) await lchown(folder, uid, uid);
      const wall = { ...parts, workTree, gitDir, others: [], scratch };
      return openTools(walledHost(wall), wall, signal);
    },
  };
}

const off: SandboxState = { works: false, says: 'switched off by SANDBOX=off: agents have file tools, no run_command' };

function walledHost(wall: Wall): Walled {
  return startWalled(wall, ['/opt/node/bin/node', '/opt/host.mjs', '/work', '/opt/loose-edit.mjs']);
}

/** The file tools as an ordinary process; as root under the tools' uid. They check every path themselves. */
function plainHost({ node, toolHost, looseEdit, who }: WallParts, workTree: string): Walled {
  const child = spawn(node, [toolHost, workTree, looseEdit], { ...who, env: {}, cwd: '/', stdio: 'pipe' });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const end = () => {
    child.kill('SIGKILL');
    return gone;
  };
  return { child, end };
}

function openTools({ child, end }: Walled, wall: Wall | undefined, signal: AbortSignal): ToolHost {
  const client = hostClient(child);
  /** Where the host was ended with its run, that is the reason, and not that it is gone. */
  const ask = (tool: string, args: object) =>
    client.call(tool, args).catch((error) => {
      signal.throwIfAborted();
      throw error;
    });
  const abort = () => void end();
  signal.addEventListener('abort', abort, { once: true });
  return {
    hasShell: wall !== undefined,
    call: async (tool, args) => {
      if (tool !== 'run_command') return ask(tool, args);
      if (wall === undefined) return { ok: false, text: 'run_command needs a working sandbox, and there is none here' };
      return runCommand(wall, args as { command: string }, signal);
    },
    restore: async (files) => {
      const answer = await ask('restore', { files });
      if (!answer.ok) throw new RunFailed('sandbox', `the workspace could not be restored: ${answer.text}`);
    },
    mount: (name, workTree, gitDir) => {
      if (!rootNames.has(name)) wall?.others.push({ name, workTree, gitDir });
    },
    close: async () => {
      signal.removeEventListener('abort', abort);
      await end();
    },
  };
}
