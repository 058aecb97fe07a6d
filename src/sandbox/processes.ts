import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine, RunningCommand, ToolAnswer } from './sandbox.ts';

/** Processes that run at the same time, and names of ended ones whose output is kept. */
const [maxRunning, maxKept] = [8, 32];
/** Characters kept from the start and from the end of a process's output. */
const shownChars = 8000;
/**
 * How long to wait for the first output of a new process, and for new output when the model asks for it. Without the
 * wait, the model would ask again and again.
 */
const [firstLookMs, lookMs] = [1000, 3000];

interface Process {
  running: RunningCommand;
  /** How it ended; undefined while it runs. */
  how?: string;
  /** The output that the last look showed. */
  shown?: string;
}

/** The background processes of a run. Each is a command in a sandbox of its own, without a time limit. */
export interface Processes {
  call(tool: ProcessTool, args: { name: string; command?: string }): Promise<ToolAnswer>;
  /** Returns the names of those that are running. */
  names(): string[];
  /** Ends all of them. */
  close(): Promise<void>;
}

type ProcessTool = 'start_process' | 'read_output' | 'stop_process';

export function isProcessTool(tool: string): tool is ProcessTool {
  return ['start_process', 'read_output', 'stop_process'].includes(tool);
}

/** `machine` is called for each process to start. */
export function openProcesses(machine: () => Promise<Machine>, signal: AbortSignal): Processes {
  const known = new Map<string, Process>();
  let isClosed = false;
  const close = async () => {
    isClosed = true;
    await Promise.all([...known.values()].map(({ running }) => running.end()));
  };
  const abort = () => void close();
  signal.addEventListener('abort', abort, { once: true });
  const tools: Record<ProcessTool, (args: { name: string; command: string }) => Promise<ToolAnswer>> = {
    start_process: async ({ name, command }) => {
      signal.throwIfAborted();
      if (isClosed) return { ok: false, text: 'the run is ending, so no process can start' };
      const opened = await machine();
      const problem = startProblem(known, name);
      if (problem !== undefined) return { ok: false, text: problem };
      const process = start(opened, command);
      known.delete(name);
      known.set(name, process);
      forgetOldest(known);
      await newsOf(process, firstLookMs);
      return { ok: true, text: report(name, process) };
    },
    read_output: async ({ name }) => {
      const process = known.get(name);
      if (process === undefined) return unknown(known, name);
      if (process.how === undefined && process.shown === process.running.output()) await newsOf(process, lookMs);
      return { ok: true, text: report(name, process) };
    },
    stop_process: async ({ name }) => {
      const process = known.get(name);
      if (process === undefined) return unknown(known, name);
      const wasRunning = process.how === undefined;
      await process.running.end();
      known.delete(name);
      const what = wasRunning ? `stopped ${name}` : `${name} had ended before (${process.how})`;
      return { ok: true, text: `${what}\n${process.running.output()}` };
    },
  };
  return {
    call: (tool, args) => tools[tool]({ command: '', ...args }),
    names: () => runningOf(known),
    close: async () => {
      signal.removeEventListener('abort', abort);
      await close();
    },
  };
}

/** Waits until a process writes or ends, but not for long. */
async function newsOf({ running }: Process, ms: number): Promise<void> {
  const stopped = new AbortController();
  const late = sleep(ms, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
  await Promise.race([running.news(), late]);
  stopped.abort();
}

function start(machine: Machine, command: string): Process {
  const process: Process = { running: machine.start(command, shownChars) };
  void process.running.ended.then(({ how }) => {
    process.how = how;
  });
  return process;
}

const runningOf = (known: Map<string, Process>) =>
  [...known].filter(([, { how }]) => how === undefined).map(([n]) => n);

function startProblem(known: Map<string, Process>, name: string): string | undefined {
  const running = runningOf(known);
  if (running.includes(name)) return `a process named ${name} is running; stop it first, or choose another name`;
  if (running.length < maxRunning) return undefined;
  return `at most ${maxRunning} processes run at the same time; stop one of ${running.join(', ')} first`;
}

function forgetOldest(known: Map<string, Process>): void {
  const ended = [...known].filter(([, { how }]) => how !== undefined).map(([name]) => name);
  for (const name of ended.slice(0, Math.max(0, known.size - maxKept))) known.delete(name);
}

/** Says how a process is doing, then shows the start and the end of its output. */
function report(name: string, process: Process): string {
  const { running, how } = process;
  const seconds = Math.round(running.seconds());
  // Not in seconds: stuck.ts ignores those when it compares results, but here the passing time is progress.
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  process.shown = running.output();
  return `[${name}: ${how ?? 'running'}, ${time} minutes]\n${process.shown || '(no output yet)'}`;
}

function unknown(known: Map<string, Process>, name: string): ToolAnswer {
  const names = [...known.keys()].join(', ') || 'none';
  const text = `there is no process ${name}; known ones: ${names}. Processes end when another worker continues the run`;
  return { ok: false, text };
}
