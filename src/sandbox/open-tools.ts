import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { RunFailed } from '../domain/run.ts';
import { openCommandTools } from './command-tools.ts';
import { hostClient } from './host-client.ts';
import { fileToolsLayout, hostFolder, rootNames, type SandboxParts } from './layout.ts';
import { nodeInside } from './machine/system.ts';
import { isProcessTool } from './processes.ts';
import type { Machine, MachineSettings, ToolHost } from './sandbox.ts';
import { restrictProcess, type SandboxedProcess, startSandboxed } from './sandboxed-process.ts';

export interface OpenTools {
  running: Pick<SandboxedProcess, 'child'> & { end(): Promise<unknown> };
  /** Opens the machine for commands; undefined without a sandbox. */
  openMachine?: (settings: MachineSettings) => Promise<Machine>;
  signal: AbortSignal;
  /** Checks whether the run exceeded a limit, which may be why a tool failed. */
  look(): Promise<void>;
}

const needsSandbox = 'needs a working sandbox, which this machine does not have';

/** Starts the file tools in a sandbox. */
export function sandboxedHost(parts: SandboxParts, shown: Parameters<typeof fileToolsLayout>[1]): SandboxedProcess {
  return startSandboxed(parts, fileToolsLayout(parts, shown), [nodeInside(parts), `${hostFolder}/main.mjs`, '/work']);
}

/** Starts the file tools as an ordinary process, with the run's own uid if the service is root. They check every path. */
export function plainHost(parts: SandboxParts, workTree: string): OpenTools['running'] {
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
  if (process.platform === 'linux') restrictProcess(child, parts);
  return { child, end };
}

export function openTools({ running, openMachine, signal, look }: OpenTools): ToolHost {
  const client = hostClient(running.child);
  /** If the run was ended, throws the reason for that rather than the error that the tools have ended. */
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
  const commands = openMachine === undefined ? undefined : openCommandTools(openMachine, signal, look);
  const abort = () => void running.end();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return {
    hasShell: commands !== undefined,
    call: async (tool, args) => {
      if (tool !== 'run_command' && !isProcessTool(tool)) return ask(tool, args);
      if (commands === undefined) return { ok: false, text: `${tool} ${needsSandbox}` };
      return orReason(commands.call(tool, args));
    },
    restore: async (files) => {
      const answer = await ask('restore', { files });
      if (!answer.ok) throw new RunFailed('sandbox', `the workspace could not be restored: ${answer.text}`);
    },
    mount: (name, workTree, gitDir) => {
      if (!rootNames.has(name)) commands?.mount(name, workTree, gitDir);
    },
    equip: (settings) => commands?.equip(settings),
    machine: async () => {
      if (commands === undefined) throw new RunFailed('sandbox', `a command ${needsSandbox}`);
      return orReason(commands.machine());
    },
    endProcesses: async () => (commands === undefined ? [] : orReason(commands.endProcesses())),
    close: async () => {
      signal.removeEventListener('abort', abort);
      await Promise.all([running.end(), commands?.close()]);
    },
  };
}
