import { cappedOutput, readPaced } from './command-output.ts';
import type { ToolAnswer } from './sandbox.ts';
import { scriptPath, type Wall } from './wall-arguments.ts';
import { startWalled } from './walled.ts';

const defaultSeconds = 120;
const maxSeconds = 600;

/**
 * Runs one command in a new sandbox, which ends with the command. No background process outlives a command, and no
 * command can reach the tool host or another command. Starting a sandbox takes about 15 ms.
 */
export async function runCommand(
  wall: Wall,
  { command, timeoutSeconds = defaultSeconds }: { command: string; timeoutSeconds?: number },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const seconds = Math.min(timeoutSeconds, maxSeconds);
  const { child, end } = startWalled(wall, ['/bin/sh', scriptPath], command);
  const output = cappedOutput();
  readPaced([child.stdout, child.stderr], output.add);
  child.stdin?.on('error', () => {});
  child.stdin?.end();
  let isLate = false;
  let exitCode: number | undefined;
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`[not started: ${error.message}]`));
    // `close` follows the last output. Calling `end` is necessary when a background process keeps the pipes open.
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
