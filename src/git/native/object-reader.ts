import { isUtf8 } from 'node:buffer';
import { spawn } from 'node:child_process';
import { exposeToOom } from '../../host/oom-score.ts';
import { GitFailed } from '../engine.ts';
import { inPortions } from '../portions.ts';
import type { TreeEntry } from '../work-tree/work-tree.ts';
import { cleanEnvironment } from './run-git.ts';

/** What git says of an object; `content` where it was asked for. */
interface Found {
  oid: string;
  kind: string;
  size: number;
  content: Buffer;
}

/** Reads objects of one repository. @throws GitFailed `broken` for what is not there or cannot be read */
export interface ObjectReader {
  /** The tree of a commit. */
  treeOf(commit: string): Promise<string>;
  /** What stands in a folder, by name; names that are no UTF-8 cannot be spoken of in JSON and are left out. */
  folder(tree: string): Promise<Map<string, TreeEntry>>;
  size(oid: string): Promise<number>;
  blob(oid: string): Promise<Buffer>;
  /** Lets go of the packs that it has open; the next question is answered from those that are there then. */
  forget(): void;
  /** For good: whoever asks afterwards is refused. */
  close(): void;
}

/**
 * One `git cat-file` for all questions: an answer takes 0.1 ms, where a process for each takes 8. Only ids are ever
 * asked for, so no name of a file can be mistaken for something else.
 */
export function objectReader(gitDir: string, signal: AbortSignal | undefined): ObjectReader {
  let running: ReturnType<typeof start> | undefined;
  let isClosed = false;
  const ask = (command: 'info' | 'contents', name: string): Promise<Found> => {
    signal?.throwIfAborted();
    if (isClosed) throw closed();
    running ??= start(gitDir, signal, (ended) => {
      if (running === ended) running = undefined;
    });
    return running.ask(command, name);
  };
  const contents = async (oid: string, kind: string) => {
    const found = await ask('contents', oid);
    if (found.kind !== kind) throw new GitFailed('broken', `git: object ${oid} is a ${found.kind}, no ${kind}`);
    return found.content;
  };
  return {
    treeOf: async (commit) => (await ask('info', `${commit}^{tree}`)).oid,
    folder: async (tree) => parseTree(await contents(tree, 'tree')),
    size: async (oid) => (await ask('info', oid)).size,
    blob: (oid) => contents(oid, 'blob'),
    forget: () => running?.end(new GitFailed('broken', 'git: objects were fetched while one was asked for')),
    close: () => {
      isClosed = true;
      running?.end(closed());
    },
  };
}

const closed = () => new GitFailed('broken', 'git: the checkout is closed');

interface Waiting {
  wantsContent: boolean;
  resolve(found: Found): void;
  reject(error: unknown): void;
}

function start(gitDir: string, signal: AbortSignal | undefined, ended: (it: object) => void) {
  const child = spawn('git', [`--git-dir=${gitDir}`, 'cat-file', '--batch-command'], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    env: cleanEnvironment(undefined),
  });
  exposeToOom(child.pid);
  const waiting: Waiting[] = [];
  let complaint = '';
  let over: unknown;
  const end = (error: unknown) => {
    if (over !== undefined) return;
    over = error;
    signal?.removeEventListener('abort', abort);
    child.kill('SIGKILL');
    for (const { reject } of waiting.splice(0)) reject(over);
    ended(it);
  };
  const abort = () => end(signal?.reason);
  const it = {
    ask: (command: string, name: string) =>
      new Promise<Found>((resolve, reject) => {
        if (over !== undefined) return reject(over);
        waiting.push({ wantsContent: command === 'contents', resolve, reject });
        child.stdin?.write(`${command} ${name}\n`);
      }),
    end,
  };
  child.once('error', (error) => end(new GitFailed('broken', `git: ${error.message}`)));
  // With too many files open there is no process and no stream, only the error to come.
  if (child.stdin === undefined) return it;
  signal?.addEventListener('abort', abort, { once: true });
  child.once('close', (code) => end(new GitFailed('broken', `git: ${complaint.trim() || `ended with ${code}`}`)));
  child.stdin.on('error', () => {});
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-1000);
  });
  let chunks: Buffer[] = [];
  let held = 0;
  let needed = 1;
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    held += chunk.length;
    if (held < needed) return;
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks);
    for (let next = waiting[0]; next !== undefined && over === undefined; next = waiting[0]) {
      const answer = parseAnswer(rest, next.wantsContent);
      // A long answer comes in many pieces; they are put together once.
      needed = answer.bytes;
      if (rest.length < needed) break;
      rest = rest.subarray(needed);
      needed = 1;
      waiting.shift();
      if (answer.found === undefined) next.reject(new GitFailed('broken', `git: ${answer.line}`));
      else next.resolve(answer.found);
    }
    chunks = [rest];
    held = rest.length;
  });
  return it;
}

/** `<oid> <kind> <size>\n`, with `<content>\n` where it was wanted; or a line that says what is wrong. */
function parseAnswer(out: Buffer, wantsContent: boolean): { bytes: number; line: string; found?: Found } {
  const end = out.indexOf('\n');
  // The line has no end yet.
  if (end < 0) return { bytes: out.length + 1, line: '' };
  const line = out.toString('utf8', 0, end);
  const [, oid, kind = '', digits] = /^([0-9a-f]{40}) (\w+) (\d+)$/.exec(line) ?? [];
  if (oid === undefined) return { bytes: end + 1, line };
  const size = Number(digits);
  if (!wantsContent) return { bytes: end + 1, line, found: { oid, kind, size, content: Buffer.alloc(0) } };
  const content = out.subarray(end + 1, end + 1 + size);
  return { bytes: end + 1 + size + 1, line, found: { oid, kind, size, content } };
}

/** `<mode> <name>\0<20 bytes>…` */
async function parseTree(tree: Buffer): Promise<Map<string, TreeEntry>> {
  const entries = new Map<string, TreeEntry>();
  await inPortions(entriesIn(tree), ({ mode, name, oid }) => {
    if (isUtf8(name)) entries.set(name.toString('utf8'), { mode: canonical(mode), oid });
  });
  return entries;
}

function* entriesIn(tree: Buffer) {
  for (let at = 0; at < tree.length; ) {
    const [blank, nul] = [tree.indexOf(' ', at), tree.indexOf(0, at)];
    const name = tree.subarray(blank + 1, nul);
    yield { mode: tree.toString('latin1', at, blank), name, oid: tree.toString('hex', nul + 1, nul + 21) };
    at = nul + 21;
  }
}

/** A mode as git takes it: old tools wrote folders as 040000 and files as 100664. */
function canonical(mode: string): string {
  const bits = Number.parseInt(mode, 8);
  const kind = bits & 0o170000;
  if (kind === 0o100000) return (bits & 0o100) === 0 ? '100644' : '100755';
  return kind.toString(8);
}
