import { safeLength, withoutSecrets } from '../domain/secrets.ts';
import type { Machine } from '../sandbox/sandbox.ts';
import type { CommandResult, SetupContext } from './setup-context.ts';

/** How often new output becomes a line of the log. */
const pauseMs = 1000;
/** Characters in one line of the log. The log cuts longer lines. */
const lineChars = 2000;
/** Lines of output for one set-up. The rest is left out; the end of a failing command is always shown. */
const maxLines = 300;

/** Writes the output of commands into a log while they run. */
export interface LiveLog {
  hear(text: string): void;
  /** Writes what is left. @throws the error with which the log could not be written */
  flush(): Promise<void>;
}

/** Opens the live log of a set-up. No line contains one of the secrets, even if it was written in two pieces. */
export function openLiveLog(note: SetupContext['note'], secrets: string[]): LiveLog {
  let waiting = '';
  let lines = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let failed: unknown;
  const write = (text: string) => {
    if (text.trim() === '' || lines > maxLines) return;
    lines += 1;
    const shown = lines > maxLines ? '[further output is not shown here]' : withoutSecrets(text, secrets);
    writing = writing
      .then(() => note('setup', shown, { isOutput: true }))
      .catch((error) => {
        failed ??= error;
      });
  };
  const send = (isLast: boolean) => {
    // Without a space for this long, the text is not ordinary output, and waiting longer would fill the memory.
    const length = isLast || waiting.length > 10 * lineChars ? waiting.length : safeLength(waiting, secrets);
    const text = waiting.slice(0, length);
    waiting = waiting.slice(length);
    // If too much output arrived for one line, only its newest part is logged.
    write(text.length <= lineChars ? text.trimEnd() : `[…]\n${text.trimEnd().slice(-lineChars + 10)}`);
  };
  return {
    hear: (text) => {
      waiting += text;
      timer ??= setTimeout(() => {
        timer = undefined;
        send(false);
      }, pauseMs);
    },
    flush: async () => {
      clearTimeout(timer);
      timer = undefined;
      send(true);
      await writing;
      if (failed !== undefined) throw failed;
    },
  };
}

/** How commands run. */
export interface HowToRun {
  /** The time limit for all commands together. */
  seconds: number;
  /** Aborted when the run ends, with the reason. */
  signal: AbortSignal;
  /** Whether to go on after a command that failed. */
  goesOn: boolean;
  /** Never shown in output. */
  secrets: string[];
  /** What a shell does before each command. It is not shown. */
  before?: string | undefined;
}

/** Characters kept from the end of the output of a command. */
const outputChars = 6000;

/**
 * Runs commands one after the other, with their output in the log while they run. A command that was stopped because the
 * time was up has no exit code. @throws the reason of the signal
 */
export async function runCommands(
  context: Pick<SetupContext, 'note' | 'onCommands'>,
  machine: Machine,
  commands: string[],
  { seconds, signal, goesOn, secrets, before }: HowToRun,
): Promise<CommandResult[]> {
  const ended: CommandResult[] = [];
  const end = performance.now() + seconds * 1000;
  const log = openLiveLog(context.note, secrets);
  const clean = (text: string) => withoutSecrets(text, secrets);
  for (const command of commands) {
    const shown = clean(command);
    const began = performance.now();
    let heard = '';
    await context.note('setup', `$ ${shown}`);
    const report = () => {
      const output = clean(heard).slice(-outputChars);
      context.onCommands?.([...ended, { command: shown, exitCode: null, seconds: secondsSince(began), output }]);
    };
    report();
    const left = Math.max(1, Math.round((end - performance.now()) / 1000));
    const hear = (text: string) => {
      heard = (heard + text).slice(-2 * outputChars);
      log.hear(text);
      report();
    };
    const whole = before === undefined ? command : `${before} ${command}`;
    const result = await machine.run(whole, { seconds: left, heard: hear, signal });
    signal.throwIfAborted();
    await log.flush();
    const exitCode = result.exitCode ?? null;
    const output = clean(result.output).slice(-outputChars);
    ended.push({ command: shown, exitCode, seconds: Math.round(result.seconds * 10) / 10, output });
    await context.note('setup', `${shown}: ${result.how}, ${Math.round(result.seconds)} s`, { exitCode });
    context.onCommands?.([...ended]);
    if (exitCode !== 0 && !goesOn) break;
  }
  return ended;
}

function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10;
}
