import type { ToolAnswer } from './sandbox.ts';
import { scriptPath, type Wall } from './wall-arguments.ts';
import { startWalled } from './walled.ts';

const defaultSeconds = 120;
const maxSeconds = 600;
/** So much of an output is shown from its beginning, and so much from its end. */
const shownChars = 15_000;

/**
 * Runs one command in a sandbox of its own, which ends with it: no daemon outlives a command, and no command can reach
 * the tool host or another command. About 15 ms each.
 */
export async function runCommand(
  wall: Wall,
  { command, timeoutSeconds = defaultSeconds }: { command: string; timeoutSeconds?: number },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const seconds = Math.min(timeoutSeconds, maxSeconds);
  const { child, end } = startWalled(wall, ['/bin/sh', scriptPath], command);
  const output = cappedText();
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', output.add);
  child.stdin?.on('error', () => {});
  child.stdin?.end();
  let isLate = false;
  let exitCode: number | undefined;
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`[not started: ${error.message}]`));
    // `close` comes after the last output; `end` makes it come.
    child.once('close', (code, by) => {
      if (!isLate) exitCode = code ?? undefined;
      resolve(by === null ? `[exit code ${code}]` : `[ended by ${by}]`);
    });
  });
  const timer = setTimeout(() => {
    isLate = true;
    void end();
  }, seconds * 1000);
  const abort = () => void end();
  signal.addEventListener('abort', abort, { once: true });
  const how = await ended;
  clearTimeout(timer);
  signal.removeEventListener('abort', abort);
  await end();
  const text = output.text();
  const last = isLate ? `[stopped after ${seconds} s]` : how;
  const ending = exitCode === undefined ? {} : { exitCode };
  return { ok: true, ...ending, text: `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${last}` };
}

/** Keeps the beginning and the end of a text of any length. */
function cappedText(): { add(chunk: string): void; text(): string } {
  let head = '';
  let tail = '';
  let length = 0;
  return {
    add: (chunk) => {
      length += chunk.length;
      const room = shownChars - head.length;
      if (room > 0) head += chunk.slice(0, room);
      if (chunk.length > room) tail = (tail + chunk.slice(Math.max(0, room))).slice(-shownChars);
    },
    text: () => {
      const cut = length - head.length - tail.length;
      return cut > 0 ? `${head}\n[… ${cut} characters cut …]\n${tail}` : head + tail;
    },
  };
}
