import { type ChildProcess, spawn } from 'node:child_process';
import { exposeToOom } from '../../host/oom-score.ts';
import { GitFailed } from '../engine.ts';
import { cleanEnvironment } from './run-git.ts';

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
export class CatFile {
  readonly #child: ChildProcess;
  readonly #signal: AbortSignal | undefined;
  readonly #waiting: Waiting[] = [];
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
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const answer = parseAnswer(rest, next.wantsContent);
      this.#neededBytes = answer.bytes;
      if (rest.length < answer.bytes) return rest;
      rest = rest.subarray(answer.bytes);
      this.#neededBytes = 1;
      this.#waiting.shift();
      if (answer.found === undefined) next.reject(new GitFailed('broken', `git: ${answer.line}`));
      else next.resolve(answer.found);
    }
    return rest;
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
