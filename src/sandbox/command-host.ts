import type { Readable } from 'node:stream';
import { RunFailed } from '../domain/run.ts';
import { isProcessTool, openProcesses } from './processes.ts';
import type { Machine, MachineSettings, ToolAnswer, ToolHost } from './sandbox.ts';

/** Characters kept from the start and from the end of an output. */
const usualChars = 15_000;

/**
 * Bytes to read before a pause, which makes 10 MB/s. Without it, four commands that write as fast as they can took 94 %
 * of the event loop.
 */
const [burstBytes, pauseMs] = [1_000_000, 100];

/** Reads the output of a process at a limited rate. A process that writes faster blocks on its full pipe. */
export function readPaced(streams: (Readable | null)[], add: (chunk: Buffer) => void): void {
  const open = streams.filter((stream) => stream !== null);
  let bytes = 0;
  const resume = () => {
    bytes = 0;
    for (const stream of open) stream.resume();
  };
  for (const stream of open)
    stream.on('data', (chunk: Buffer) => {
      add(chunk);
      bytes += chunk.length;
      if (bytes < burstBytes || open.some((each) => each.isPaused())) return;
      for (const each of open) each.pause();
      setTimeout(resume, pauseMs);
    });
}

export interface CappedOutput {
  add(chunk: Buffer): void;
  text(): string;
}

/**
 * Keeps the start and the end of an output of any length, `shownChars` of each. The rest is discarded without decoding
 * it.
 */
export function cappedOutput(shownChars = usualChars): CappedOutput {
  // The maximum size of these characters in UTF-8.
  const keptBytes = shownChars * 4;
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  const length = { head: 0, tail: 0, all: 0 };
  return {
    add: (chunk) => {
      length.all += chunk.length;
      const first = chunk.subarray(0, keptBytes - length.head);
      if (first.length > 0) head.push(first);
      length.head += first.length;
      const rest = chunk.subarray(first.length).subarray(-keptBytes);
      tail.push(rest);
      length.tail += rest.length;
      if (length.tail < 2 * keptBytes) return;
      tail = [Buffer.concat(tail).subarray(-keptBytes)];
      length.tail = keptBytes;
    },
    text: () => {
      const whole = Buffer.concat([...head, ...tail]);
      if (whole.length === length.all) {
        const text = whole.toString('utf8');
        if (text.length <= 2 * shownChars) return text;
      }
      const [first, last] = [Buffer.concat(head), whole.subarray(-keptBytes)].map((part) => part.toString('utf8'));
      return `${first?.slice(0, shownChars)}\n[… cut; ${length.all} bytes in all …]\n${last?.slice(-shownChars)}`;
    },
  };
}

const defaultSeconds = 120;
const maxSeconds = 600;

/** The tools that run commands. */
export type CommandTools = Pick<ToolHost, 'call' | 'mount' | 'configure' | 'machine' | 'endProcesses' | 'close'>;

/**
 * Returns the tools that run commands on a machine. The first command opens the machine. `look` checks whether the run
 * exceeded a limit.
 */
export function openCommandTools(
  openMachine: (settings: MachineSettings) => Promise<Machine>,
  signal: AbortSignal,
  look: () => Promise<void>,
): CommandTools {
  const waiting: Parameters<Machine['mount']>[] = [];
  let settings: MachineSettings = {};
  let opening: Promise<Machine> | undefined;
  let isClosed = false;
  const machine = async () => {
    signal.throwIfAborted();
    if (isClosed) throw new RunFailed('sandbox', 'the tools of the run have been closed');
    opening ??= openMachine(settings);
    const opened = await opening;
    for (const mount of waiting.splice(0)) await opened.mount(...mount);
    return opened;
  };
  const processes = openProcesses(machine, signal);
  const run = async (args: { command: string; timeoutSeconds?: number }) => {
    const answer = await runCommand(await machine(), args, signal);
    // The command was killed, possibly by the kernel because the run exceeded a limit.
    if (answer.exitCode === undefined || answer.exitCode > 128) await look();
    if (signal.reason instanceof RunFailed) throw signal.reason;
    return answer;
  };
  return {
    call: async (tool, args) => {
      const answer = isProcessTool(tool)
        ? await processes.call(tool, args as { name: string })
        : await run(args as { command: string });
      const more = settings.afterCommand?.();
      return more === undefined ? answer : { ...answer, text: `${answer.text.replace(/\n?$/, '\n')}${more}` };
    },
    mount: (...mount) => void waiting.push(mount),
    configure: (given) => {
      if (opening !== undefined) throw new Error('configure must be called before the first command');
      settings = given;
    },
    machine,
    endProcesses: async () => {
      const names = processes.names();
      if (opening !== undefined) await (await opening).endCommands();
      return names;
    },
    close: async () => {
      isClosed = true;
      await processes.close();
      await opening?.then(
        (opened) => opened.close(),
        () => {},
      );
    },
  };
}

async function runCommand(
  machine: Machine,
  { command, timeoutSeconds = defaultSeconds }: { command: string; timeoutSeconds?: number },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const seconds = Math.min(timeoutSeconds, maxSeconds);
  const { how, exitCode, seconds: took, output } = await machine.run(command, { seconds, signal });
  const isLate = how.startsWith('stopped');
  const first = isLate ? `[${how}]` : `[${how}] ${duration(took)}`;
  return {
    ok: true,
    ...(exitCode === undefined ? {} : { exitCode }),
    text: output === '' ? first : `${first}\n${output}`,
  };
}

function duration(seconds: number): string {
  return `after ${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}
