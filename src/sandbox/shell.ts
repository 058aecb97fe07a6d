import { EventEmitter, once } from 'node:events';
import { cappedOutput, readPaced } from './command-output.ts';
import type { ToolAnswer } from './sandbox.ts';
import { scriptPath, type Wall } from './wall-arguments.ts';
import { startWalled } from './walled.ts';

const defaultSeconds = 120;
const maxSeconds = 600;

/** A command that runs in a sandbox of its own. */
export interface RunningCommand {
  /** Resolves when the command has ended, with its exit code if it was not killed by a signal. */
  ended: Promise<{ how: string; exitCode?: number }>;
  /** The start and the end of its output so far. */
  output(): string;
  /** Resolves when it writes something or ends. */
  news(): Promise<void>;
  seconds(): number;
  /** Kills the command with everything that it started. */
  end(): Promise<void>;
}

/**
 * Starts a command in a new sandbox. No command can reach the tool host or another command. Starting a sandbox takes
 * about 15 ms.
 */
export function startCommand(wall: Wall, command: string, shownChars?: number): RunningCommand {
  const began = performance.now();
  let endedAt: number | undefined;
  const { child, end } = startWalled(wall, ['/bin/sh', scriptPath], command);
  const output = cappedOutput(shownChars);
  const heard = new EventEmitter();
  readPaced([child.stdout, child.stderr], (chunk) => {
    output.add(chunk);
    heard.emit('news');
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end();
  const ended = new Promise<{ how: string; exitCode?: number }>((resolve) => {
    child.once('error', (error) => resolve({ how: `not started: ${error.message}` }));
    // `close` follows the last output. Calling `end` is necessary when a background process keeps the pipes open.
    child.once('close', (code, by) => {
      endedAt = performance.now();
      resolve(by === null && code !== null ? { how: `exit code ${code}`, exitCode: code } : { how: `ended by ${by}` });
    });
  });
  const news = () => Promise.race([ended, once(heard, 'news')]).then(() => {});
  return { ended, output: output.text, news, end, seconds: () => ((endedAt ?? performance.now()) - began) / 1000 };
}

/** Runs one command and waits for it. The sandbox ends with the command, so no background process outlives it. */
export async function runCommand(
  wall: Wall,
  { command, timeoutSeconds = defaultSeconds }: { command: string; timeoutSeconds?: number },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const limit = Math.min(timeoutSeconds, maxSeconds);
  const running = startCommand(wall, command);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void running.end();
  }, limit * 1000);
  const abort = () => void running.end();
  signal.addEventListener('abort', abort, { once: true });
  const end = await running.ended;
  clearTimeout(timer);
  signal.removeEventListener('abort', abort);
  await running.end();
  const how = isLate ? `[stopped after ${limit} s]` : `[${end.how}] ${duration(running.seconds())}`;
  const ending = isLate || end.exitCode === undefined ? {} : { exitCode: end.exitCode };
  const output = running.output();
  return { ok: true, ...ending, text: output === '' ? how : `${how}\n${output}` };
}

function duration(seconds: number): string {
  return `after ${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}
