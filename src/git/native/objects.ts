import { isUtf8 } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { exposeToOom } from '../../host/own-process.ts';
import { cleanEnvironment } from '../clean-environment.ts';
import { GitFailed } from '../engine.ts';
import type { TreeEntry } from '../work-tree/tree-files.ts';
import { inPortions } from '../work-tree/tree-files.ts';

/** An object as git describes it; `content` is empty unless it was requested. */
export interface GitObject {
  oid: string;
  kind: string;
  size: number;
  content: Buffer;
}

interface Waiting {
  wantsContent: boolean;
  resolve(found: GitObject): void;
  reject(error: unknown): void;
}

/** A running `git cat-file --batch-command` process. It answers requests in the order in which they were sent. */
class CatFile {
  readonly #child: ChildProcess;
  readonly #signal: AbortSignal | undefined;
  /** Requests in the order of their answers. The first `#answered` ones have been answered. */
  readonly #waiting: Waiting[] = [];
  #answered = 0;
  /** Output that has not been parsed yet. A long response arrives in many pieces, which are joined once. */
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  #neededBytes = 1;
  #complaint = '';
  #over: unknown;

  constructor(gitDir: string, signal: AbortSignal | undefined) {
    this.#signal = signal;
    const child = spawn('git', [`--git-dir=${gitDir}`, 'cat-file', '--batch-command'], {
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe'],
      env: cleanEnvironment(undefined),
    });
    this.#child = child;
    exposeToOom(child.pid);
    child.once('error', (error) => this.end(new GitFailed('broken', `git: ${error.message}`)));
    // When the process is out of file descriptors, spawn returns no process and no streams; `error` is emitted
    // afterwards.
    if (child.stdin === undefined) return;
    signal?.addEventListener('abort', this.#abort, { once: true });
    child.once('close', (code) =>
      this.end(new GitFailed('broken', `git: ${this.#complaint.trim() || `cat-file ended with ${code}`}`)),
    );
    // Writing to a process that has ended fails. The `close` handler reports why it ended.
    child.stdin.on('error', () => {});
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = (this.#complaint + text).slice(-1000);
    });
    child.stdout.on('data', (piece: Buffer) => this.#hear(piece));
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  ask(command: 'info' | 'contents', name: string): Promise<GitObject> {
    return new Promise((resolve, reject) => {
      if (this.isOver) return reject(this.#over);
      this.#waiting.push({ wantsContent: command === 'contents', resolve, reject });
      this.#child.stdin?.write(`${command} ${name}\n`);
    });
  }

  /** Ends the process and rejects all pending requests with the given error. */
  end(error: unknown): void {
    if (this.isOver) return;
    this.#over = error;
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#child.kill('SIGKILL');
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  readonly #abort = () => this.end(this.#signal?.reason);

  #hear(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes < this.#neededBytes) return;
    const rest = this.#answerFrom(this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces));
    this.#pieces = [rest];
    this.#heldBytes = rest.length;
  }

  /** Resolves as many requests as the output allows and returns the rest of the output. */
  #answerFrom(output: Buffer): Buffer {
    let rest = output;
    for (let next = this.#waiting[this.#answered]; next !== undefined; next = this.#waiting[this.#answered]) {
      const answer = parseAnswer(rest, next.wantsContent);
      this.#neededBytes = answer.bytes;
      if (rest.length < answer.bytes) return rest;
      rest = rest.subarray(answer.bytes);
      this.#neededBytes = 1;
      this.#forgetAnswered();
      if (answer.found === undefined) next.reject(new GitFailed('broken', `git: ${answer.line}`));
      else next.resolve(answer.found);
    }
    return rest;
  }

  /** Moves on to the next request. Removing each answered one would move all others, of which there may be 200,000. */
  #forgetAnswered(): void {
    this.#answered += 1;
    if (this.#answered * 2 < this.#waiting.length) return;
    this.#waiting.splice(0, this.#answered);
    this.#answered = 0;
  }
}

/**
 * Parses `<oid> <kind> <size>\n`, followed by `<content>\n` if it was requested, or else a line that reports an error.
 */
function parseAnswer(output: Buffer, wantsContent: boolean): { bytes: number; line: string; found?: GitObject } {
  const end = output.indexOf('\n');
  // The line is incomplete: wait for at least one more byte.
  if (end < 0) return { bytes: output.length + 1, line: '' };
  const line = output.toString('utf8', 0, end);
  const [, oid, kind = '', digits] = /^([0-9a-f]{40}) (\w+) (\d+)$/.exec(line) ?? [];
  if (oid === undefined) return { bytes: end + 1, line };
  const size = Number(digits);
  if (!wantsContent) return { bytes: end + 1, line, found: { oid, kind, size, content: Buffer.alloc(0) } };
  const content = output.subarray(end + 1, end + 1 + size);
  return { bytes: end + 1 + size + 1, line, found: { oid, kind, size, content } };
}

/** Reads objects of one repository. @throws GitFailed `broken` for an object that is missing or cannot be read */
export interface ObjectReader {
  /** Returns the tree of a commit. */
  treeOf(commit: string): Promise<string>;
  /** Returns the entries of a folder, by name. Names that are not UTF-8 are left out, because JSON cannot hold them. */
  folder(tree: string): Promise<Map<string, TreeEntry>>;
  size(oid: string): Promise<number>;
  blob(oid: string): Promise<Buffer>;
  /** Closes the open packs. The next request opens the packs that exist then. */
  forget(): void;
  /** Ends the reader. Every later request is rejected. */
  close(): void;
}

/**
 * Reads objects through one `git cat-file` process, which is started on first use: a request takes 0.1 ms, compared
 * with 8 ms for a process per request. Only ids are passed, so no file name can be mistaken for an option or a
 * revision.
 */
export function objectReader(gitDir: string, signal: AbortSignal | undefined): ObjectReader {
  let running: CatFile | undefined;
  let isClosed = false;
  const ask = (command: 'info' | 'contents', name: string): Promise<GitObject> => {
    signal?.throwIfAborted();
    if (isClosed) throw closed();
    if (running === undefined || running.isOver) running = new CatFile(gitDir, signal);
    return running.ask(command, name);
  };
  const contents = async (oid: string, kind: string) => {
    const found = await ask('contents', oid);
    if (found.kind !== kind) throw new GitFailed('broken', `git: object ${oid} is a ${found.kind}, expected a ${kind}`);
    return found.content;
  };
  return {
    treeOf: async (commit) => (await ask('info', `${commit}^{tree}`)).oid,
    folder: async (tree) => parseTree(await contents(tree, 'tree')),
    size: async (oid) => (await ask('info', oid)).size,
    blob: (oid) => contents(oid, 'blob'),
    forget: () => running?.end(new GitFailed('broken', 'git: a fetch interrupted the reading of an object')),
    close: () => {
      isClosed = true;
      running?.end(closed());
    },
  };
}

const closed = () => new GitFailed('broken', 'git: the checkout is closed');

/** Parses git's tree format: `<mode> <name>\0<20 bytes>…` */
async function parseTree(tree: Buffer): Promise<Map<string, TreeEntry>> {
  const entries = new Map<string, TreeEntry>();
  await inPortions(entriesIn(tree), ({ mode, name, oid }) => {
    if (isUtf8(name)) entries.set(name.toString('utf8'), { mode: canonical(mode), oid });
  });
  return entries;
}

function* entriesIn(tree: Buffer) {
  for (let at = 0; at < tree.length; ) {
    const [space, nul] = [tree.indexOf(' ', at), tree.indexOf(0, at)];
    const name = tree.subarray(space + 1, nul);
    yield { mode: tree.toString('latin1', at, space), name, oid: tree.toString('hex', nul + 1, nul + 21) };
    at = nul + 21;
  }
}

/** Normalizes a mode as git does: old tools wrote folders as 040000 and files as 100664. */
function canonical(mode: string): string {
  const bits = Number.parseInt(mode, 8);
  const kind = bits & 0o170000;
  if (kind === 0o100000) return (bits & 0o100) === 0 ? '100644' : '100755';
  return kind.toString(8);
}
