import { RunFailed } from '../domain/run.ts';
import { isProcessTool, openProcesses } from './processes.ts';
import type { Machine, MachineSettings, ToolAnswer, ToolHost } from './sandbox.ts';

const defaultSeconds = 120;
const maxSeconds = 600;

/** The tools that run commands. */
export type CommandTools = Pick<ToolHost, 'call' | 'mount' | 'equip' | 'machine' | 'endProcesses' | 'close'>;

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
    equip: (given) => {
      if (opening !== undefined) throw new Error('equip must be called before the first command');
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
