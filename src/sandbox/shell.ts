import { EventEmitter, once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import { cappedOutput, readPaced } from './command-tools.ts';
import { type SandboxLayout, scriptPath } from './layout.ts';
import type { SandboxParts } from './machine/system.ts';
import type { CommandEnd, CommandOptions, RunningCommand } from './sandbox.ts';
import { startSandboxed } from './sandboxed-process.ts';

/** `heard` gets at most this many characters of the output. */
const maxHeard = 256_000;

export interface ShellCommand {
  /** The program that runs the command, which is a script. */
  shell: string[];
  command: string;
  shownChars?: number | undefined;
  heard?: CommandOptions['heard'];
}

/**
 * Starts a command in a new sandbox. No command can reach the tool host or another command. Starting a sandbox takes
 * about 15 ms.
 */
export function startCommand(
  parts: SandboxParts,
  layout: SandboxLayout,
  { shell, command, shownChars, heard }: ShellCommand,
): RunningCommand {
  const began = performance.now();
  let endedAt: number | undefined;
  const files = { ...layout.files, [scriptPath]: command };
  const { child, end } = startSandboxed(parts, { ...layout, files }, [...shell, scriptPath]);
  const output = cappedOutput(shownChars);
  const hear = heard === undefined ? undefined : hearing(heard);
  const events = new EventEmitter();
  readPaced([child.stdout, child.stderr], (chunk) => {
    output.add(chunk);
    hear?.(chunk);
    events.emit('news');
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
  const news = () => Promise.race([ended, once(events, 'news')]).then(() => {});
  return { ended, output: output.text, news, end, seconds: () => ((endedAt ?? performance.now()) - began) / 1000 };
}

/** Passes on the beginning of an output as text. */
function hearing(heard: (text: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let left = maxHeard;
  return (chunk) => {
    if (left <= 0) return;
    const text = decoder.write(chunk);
    if (text !== '')
      heard(text.length < left ? text : `${text.slice(0, left)}\n[… further output is not shown here]\n`);
    left -= text.length;
  };
}

/** Waits for a command, at most `seconds`. Its sandbox ends with it, so no background process outlives it. */
export async function waitFor(
  running: RunningCommand,
  { seconds, signal }: Pick<CommandOptions, 'seconds' | 'signal'>,
): Promise<CommandEnd> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void running.end();
  }, seconds * 1000);
  const abort = () => void running.end();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  const end = await running.ended;
  clearTimeout(timer);
  signal?.removeEventListener('abort', abort);
  await running.end();
  const ending = isLate ? { how: `stopped after ${seconds} s` } : end;
  return { ...ending, seconds: running.seconds(), output: running.output() };
}
