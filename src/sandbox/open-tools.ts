import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { RunFailed } from '../domain/run.ts';
import { openCommandTools, readPaced } from './command-host.ts';
import { fileToolsLayout, hostFolder, rootNames } from './layout.ts';
import { nodeInside, type SandboxParts } from './machine/system.ts';
import { isProcessTool } from './processes.ts';
import type { Machine, MachineSettings, RestoredFile, ToolAnswer, ToolHost } from './sandbox.ts';
import { restrictProcess, type SandboxedProcess, startSandboxed } from './sandboxed-process.ts';

/**
 * The longest response of a tool host: 30,000 characters, up to six times as long in JSON, and 1,000 for the other
 * fields.
 */
const maxLine = 6 * 30_000 + 1000;

/** Far longer than any file tool takes. */
const answerMs = 60_000;

/** Calls the tools of a tool host. Requests and responses are JSON objects, one per line. */
export interface HostClient {
  /** Calls a tool. @throws RunFailed `sandbox` when the tool host has ended */
  call(tool: string, args: object): Promise<ToolAnswer>;
}

export function hostClient(child: ChildProcess): HostClient {
  const waiting = new Map<number, { resolve: (answer: ToolAnswer) => void; reject: (error: Error) => void }>();
  let last = 0;
  let complaint = '';
  let gone: RunFailed | undefined;
  const end = (why: string) => {
    gone ??= new RunFailed('sandbox', `the tool host ended: ${complaint.trim().split('\n').pop() || why}`);
    for (const call of waiting.values()) call.reject(gone);
    waiting.clear();
    child.kill('SIGKILL');
  };
  child.once('error', (error) => end(error.message));
  child.once('exit', (code, by) => end(by ?? `code ${code}`));
  child.stdin?.on('error', () => {});
  readPaced([child.stderr], (chunk) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-2000);
  });
  let line = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    if (gone !== undefined) return;
    line += chunk;
    for (let at = line.indexOf('\n'); at >= 0; at = line.indexOf('\n')) {
      const answer = at > maxLine ? undefined : parseAnswer(line.slice(0, at));
      line = line.slice(at + 1);
      if (answer === undefined || !waiting.has(answer.id)) return end('it sent an answer that fits no call');
      waiting.get(answer.id)?.resolve({ ok: answer.ok, text: answer.text });
      waiting.delete(answer.id);
    }
    if (line.length > maxLine) end('it sent an answer that is too long');
  });
  return {
    call: (tool, args) => {
      if (gone !== undefined) return Promise.reject(gone);
      const id = ++last;
      const answer = new Promise<ToolAnswer>((resolve, reject) => waiting.set(id, { resolve, reject }));
      const timer = setTimeout(() => end(`${tool} did not answer within ${answerMs / 1000} s`), answerMs);
      const stop = () => clearTimeout(timer);
      answer.then(stop, stop);
      child.stdin?.write(`${JSON.stringify({ id, tool, args })}\n`);
      return answer;
    },
  };
}

function parseAnswer(line: string): (ToolAnswer & { id: number }) | undefined {
  try {
    const { id, ok, text } = JSON.parse(line) as Record<string, unknown>;
    if (typeof id === 'number' && typeof ok === 'boolean' && typeof text === 'string') return { id, ok, text };
  } catch {
    // Returns undefined, and the caller reports the malformed response.
  }
  return undefined;
}

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
      for (const some of inBatches(files)) {
        const answer = await ask('restore', { files: some });
        if (!answer.ok) throw new RunFailed('sandbox', `the workspace could not be restored: ${answer.text}`);
      }
    },
    mount: (name, workTree, gitDir) => {
      if (!rootNames.has(name)) commands?.mount(name, workTree, gitDir);
    },
    configure: (settings) => commands?.configure(settings),
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

/** Characters of files that are sent to the tools in one message. A hundred million hold the event loop for half a second. */
const batchChars = 5_000_000;

/** Divides the files to restore, deletions first: a file may take the place of a folder. */
function* inBatches(files: RestoredFile[]): Iterable<RestoredFile[]> {
  let [batch, chars]: [RestoredFile[], number] = [[], 0];
  const deletedFirst = [...files].sort((a, b) => Number(a.content !== null) - Number(b.content !== null));
  for (const file of deletedFirst) {
    batch.push(file);
    chars += file.path.length + (file.content?.length ?? 0);
    if (chars < batchChars) continue;
    yield batch;
    [batch, chars] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
