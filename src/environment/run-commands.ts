import { withoutSecrets } from '../domain/secrets/without-secrets.ts';
import type { Machine } from '../sandbox/sandbox.ts';
import { openLiveLog } from './live-log.ts';
import type { CommandResult, Room } from './room.ts';

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
}

/** Characters kept from the end of the output of a command. */
const outputChars = 6000;

/**
 * Runs commands one after the other, with their output in the log while they run. A command that was stopped because the
 * time was up has no exit code. @throws the reason of the signal
 */
export async function runCommands(
  room: Pick<Room, 'note' | 'onCommands'>,
  machine: Machine,
  commands: string[],
  { seconds, signal, goesOn, secrets }: HowToRun,
): Promise<CommandResult[]> {
  const ended: CommandResult[] = [];
  const end = performance.now() + seconds * 1000;
  const log = openLiveLog(room.note, secrets);
  const clean = (text: string) => withoutSecrets(text, secrets);
  for (const command of commands) {
    const shown = clean(command);
    const began = performance.now();
    let heard = '';
    await room.note('setup', `$ ${shown}`);
    const report = () => {
      const output = clean(heard).slice(-outputChars);
      room.onCommands?.([...ended, { command: shown, exitCode: null, seconds: secondsSince(began), output }]);
    };
    report();
    const left = Math.max(1, Math.round((end - performance.now()) / 1000));
    const hear = (text: string) => {
      heard = (heard + text).slice(-2 * outputChars);
      log.hear(text);
      report();
    };
    const result = await machine.run(command, { seconds: left, heard: hear, signal });
    signal.throwIfAborted();
    await log.flush();
    const exitCode = result.exitCode ?? null;
    const output = clean(result.output).slice(-outputChars);
    ended.push({ command: shown, exitCode, seconds: Math.round(result.seconds * 10) / 10, output });
    await room.note('setup', `${shown}: ${result.how}, ${Math.round(result.seconds)} s`, { exitCode });
    room.onCommands?.([...ended]);
    if (exitCode !== 0 && !goesOn) break;
  }
  return ended;
}

function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10;
}
