import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { RunFailed } from '../domain/run.ts';
import { hostClient } from './host-client.ts';
import { isProcessTool, openProcesses } from './processes.ts';
import type { ToolHost } from './sandbox.ts';
import { runCommand } from './shell.ts';
import { hostFolder, nodeInside, rootNames, type Wall, type WallParts } from './wall-arguments.ts';
import { startWalled, subdue, type Walled } from './walled.ts';

export interface OpenTools {
  walled: Walled;
  /** Where commands run; undefined without a sandbox. */
  wall: Wall | undefined;
  signal: AbortSignal;
  /** Checks whether the run exceeded a limit, which may be why a tool failed. */
  look(): Promise<void>;
}

/** Starts the file tools in a sandbox. */
export function walledHost(wall: Wall): Walled {
  return startWalled(wall, [nodeInside(wall), `${hostFolder}/main.mjs`, '/work']);
}

/** Starts the file tools as an ordinary process, with the run's own uid if the service is root. They check every path. */
export function plainHost(parts: WallParts, workTree: string): Walled {
  const { node, toolHost, who } = parts;
  const child = spawn(node, [join(toolHost, 'main.mjs'), workTree], {
    ...who,
    env: {},
    cwd: '/',
    stdio: 'pipe',
    detached: true,
  });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const end = () => {
    child.kill('SIGKILL');
    return gone;
  };
  if (process.platform === 'linux') subdue(child, parts);
  return { child, end };
}

export function openTools({ walled, wall, signal, look }: OpenTools): ToolHost {
  const client = hostClient(walled.child);
  /** If the run was ended, fails with the reason for that instead of with the end of the tools. */
  const orReason = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      await look();
      signal.throwIfAborted();
      throw error;
    }
  };
  const ask = (tool: string, args: object) => orReason(client.call(tool, args));
  const runIn = async (inside: Wall, args: { command: string }) => {
    const answer = await runCommand(inside, args, signal);
    // The command was killed, possibly by the kernel because the run exceeded a limit.
    if (answer.exitCode === undefined || answer.exitCode > 128) await look();
    if (signal.reason instanceof RunFailed) throw signal.reason;
    return answer;
  };
  const processes = wall === undefined ? undefined : openProcesses(wall, signal);
  const abort = () => void walled.end();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return {
    hasShell: wall !== undefined,
    call: async (tool, args) => {
      if (tool !== 'run_command' && !isProcessTool(tool)) return ask(tool, args);
      if (wall === undefined || processes === undefined)
        return { ok: false, text: `${tool} needs a working sandbox, which this machine does not have` };
      if (isProcessTool(tool)) return orReason(processes.call(tool, args as { name: string }));
      return orReason(runIn(wall, args as { command: string }));
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
      await Promise.all([walled.end(), processes?.close()]);
    },
  };
}
