import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { exposeToOom, sharedCompileCache } from '../../host/own-process.ts';
import { GitFailed, type Remote, remoteSeconds, tooSlow } from '../engine.ts';
import { UnfitWorkTree } from '../work-tree/read-inside.ts';
// Only its types: the program listens to the channel of its process, and loads isomorphic-git.
import type { ChildAnswer, Question } from './git-child.ts';

const source = fileURLToPath(new URL('./git-child.ts', import.meta.url));
const heapMb = 512;
/** Interval between two checks of the process's memory. */
const lookMs = 100;
/** How long a process may take to start. */
const startMs = 30_000;

export interface ChildSettings {
  /** Memory of the whole process. */
  processMb: number;
  /** Variables that name the certificates to trust. The process gets no others. */
  environment: Record<string, string>;
}

/** A process that runs isomorphic-git, and the pending calls to it. */
export class GitChild {
  readonly #child: ChildProcess;
  readonly #remote: Remote;
  readonly #signal: AbortSignal | undefined;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
  readonly #starting: NodeJS.Timeout;
  readonly #looking: NodeJS.Timeout;
  #asked = 0;
  #over: unknown;

  constructor({ processMb, environment }: ChildSettings, remote: Remote, signal: AbortSignal | undefined) {
    this.#remote = remote;
    this.#signal = signal;
    const child = fork(source, {
      env: { ...sharedCompileCache(), ...environment },
      cwd: '/',
      execArgv: [`--max-old-space-size=${heapMb}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child = child;
    exposeToOom(child.pid);
    const tooLarge = broken(
      `the repository needs more than ${processMb} MB here; install git, which needs far less (GIT_ENGINE=native)`,
    );
    this.#starting = setTimeout(() => this.end(broken('its process did not start')), startMs).unref();
    this.#looking = setInterval(async () => {
      if ((await residentMb(child)) > processMb) this.end(tooLarge);
    }, lookMs).unref();
    signal?.addEventListener('abort', this.#abort, { once: true });
    child.on('error', (error) => this.end(broken(error.message)));
    // V8 aborts the process when its heap is full.
    child.once('exit', (code, by) =>
      this.end(by === 'SIGABRT' || code === 134 ? tooLarge : broken(`its process ended with ${by ?? code}`)),
    );
    child.on('message', (reply: ChildAnswer) => this.#hear(reply));
    // Do not keep the service alive for an idle checkout.
    child.unref();
    child.channel?.unref();
  }

  /**
   * Calls a method of the checkout that runs in the child process. Kills the process when the call exceeds the remote's
   * time limit.
   */
  ask(method: Question['method'], args: unknown[]): Promise<unknown> {
    const { limitSeconds = remoteSeconds } = this.#remote;
    const limit = setTimeout(() => this.end(tooSlow(this.#remote)), limitSeconds * 1000).unref();
    return new Promise<unknown>((resolve, reject) => {
      if (this.#over !== undefined) return reject(this.#over);
      const id = ++this.#asked;
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, method, args } as Question, (error) => {
        if (error) this.end(broken(error.message));
      });
    }).finally(() => clearTimeout(limit));
  }

  /** Kills the process. Pending and later calls fail with the first error that was given. */
  end(error: unknown): void {
    this.#over ??= error;
    clearInterval(this.#looking);
    clearTimeout(this.#starting);
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#child.kill('SIGKILL');
    for (const { reject } of this.#waiting.values()) reject(this.#over);
    this.#waiting.clear();
  }

  readonly #abort = () => this.end(this.#signal?.reason);

  #hear(reply: ChildAnswer): void {
    clearTimeout(this.#starting);
    const { resolve, reject } = this.#waiting.get(reply.id) ?? {};
    this.#waiting.delete(reply.id);
    if ('value' in reply) resolve?.(reply.value);
    else reject?.(asError(reply));
  }
}

function broken(what: string): GitFailed {
  return new GitFailed('broken', `git: ${what}`);
}

function asError({ failed, message }: Extract<ChildAnswer, { failed: unknown }>): Error {
  if (failed.by === 'git') return new GitFailed(failed.fault, message, failed.retryAfterMs);
  return failed.by === 'work tree' ? new UnfitWorkTree(message) : new Error(message);
}

/**
 * Returns the resident memory of a process in MB on Linux. Returns 0 on other systems, where only V8's own limit
 * applies.
 */
async function residentMb({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
