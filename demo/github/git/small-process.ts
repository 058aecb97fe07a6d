import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const starter = fileURLToPath(new URL('./starter.mjs', import.meta.url));
/** An unused helper ends after this time, because nobody says when the last command was run. */
export const idleMs = 30_000;
/** Longer inputs and outputs pass through a file: Node takes seconds to receive a message of 100 MB. */
const longest = 1_000_000;

interface Reply {
  id: number;
  stdout?: Uint8Array;
  outputFile?: string;
  /** Set when the command failed. */
  problem: string | undefined;
}

interface Helper {
  child: ChildProcess;
  /** The commands that it runs. Each helper has its own, because an old one may end while a new one works. */
  waiting: Map<number, (reply: Reply) => void>;
}

let helper: Helper | undefined;
let idle: NodeJS.Timeout | undefined;
let last = 0;

/**
 * Runs a command in a small helper process. Returns its output, and the problem if it failed. To start a process, the
 * kernel copies the page tables of the one that starts it. That takes 20 ms in a test with 400 MB of memory and 1 ms in
 * the helper, and git's server starts several processes for each push.
 */
export async function runInSmallProcess(
  file: string,
  args: string[],
  options: { cwd?: string; env: NodeJS.ProcessEnv },
  input: string | Buffer = '',
): Promise<{ output: Buffer; problem: string | undefined }> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-command-'));
  try {
    const inputFile = input.length > longest ? join(folder, 'input') : undefined;
    if (inputFile !== undefined) await writeFile(inputFile, input);
    const given = { file, args, options, outputFile: join(folder, 'output'), longest };
    const reply = await ask({ ...given, ...(inputFile === undefined ? { input } : { inputFile }) });
    const output = reply.outputFile === undefined ? Buffer.from(reply.stdout ?? '') : await readFile(reply.outputFile);
    return { output, problem: reply.problem };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ask(command: object): Promise<Reply> {
  clearTimeout(idle);
  helper ??= startHelper();
  const { child, waiting } = helper;
  const reply = await new Promise<Reply>((resolve) => {
    const id = ++last;
    waiting.set(id, resolve);
    child.ref();
    child.channel?.ref();
    child.send({ id, ...command });
  });
  if (helper?.child === child && waiting.size === 0) rest(child);
  return reply;
}

function startHelper(): Helper {
  const child = fork(starter, [], { execArgv: [], env: {}, serialization: 'advanced' });
  const waiting: Helper['waiting'] = new Map();
  child.on('message', (reply: Reply) => {
    const resolve = waiting.get(reply.id);
    waiting.delete(reply.id);
    resolve?.(reply);
  });
  child.once('exit', () => {
    if (helper?.child === child) helper = undefined;
    for (const [id, resolve] of waiting) resolve({ id, problem: 'the helper process ended' });
    waiting.clear();
  });
  return { child, waiting };
}

/** Lets this process end although the helper runs, and ends the helper if it stays unused. */
function rest(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  // Two commands that end together both get here. A second timer would end the helper during a later command.
  clearTimeout(idle);
  idle = setTimeout(() => {
    helper = undefined;
    if (child.connected) child.disconnect();
  }, idleMs).unref();
}
