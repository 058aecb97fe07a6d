import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { exposeToOom } from '../../host/oom-score.ts';
import { type Checkout, type GitEngine, GitFailed, type Remote, remoteSeconds, tooSlow } from '../engine.ts';
import { UnfitWorkTree } from '../work-tree/work-tree.ts';
import { isomorphicGit } from './isomorphic.ts';
import type { Question, Reply } from './isomorphic-child.ts';

const source = fileURLToPath(new URL('./isomorphic-child.ts', import.meta.url));
const methods = [
  ...['fetch', 'fetchCommit', 'checkout', 'remember', 'snapshot', 'treeOf', 'changes', 'readFile', 'readBlobs'],
  ...['commit', 'mergeBase', 'merge', 'isAncestor', 'push', 'renewToken'],
] as Exclude<keyof Checkout, 'gitDir' | 'workTree' | 'close'>[];

/** What one repository may take; one of 100 MB passes (test/git/faults). */
interface Limits {
  /** All of the process. */
  processMb: number;
  /** One answer of a remote, all of which is held in memory. */
  maxAnswerBytes: number;
}

const usual: Limits = { processMb: 1024, maxAnswerBytes: 200_000_000 };
const heapMb = 512;
const lookMs = 100;
/** So long a process may take to say that it is there. */
const startMs = 30_000;

/**
 * isomorphic-git in a process for each checkout: it holds whole packs in memory and computes for seconds, which must
 * neither stall nor end the service. The process has an empty environment, and ends at `close`, with the signal, with the
 * service, or when it takes more memory than it may.
 */
export function isomorphicProcess(limits: Partial<Limits> = {}): GitEngine {
  const { processMb, maxAnswerBytes } = { ...usual, ...limits };
  const { name, version } = isomorphicGit();
  return {
    name,
    version,
    listBranches: async (remote, signal) => {
      const child = startChild(processMb, remote, signal);
      return (child.ask('listBranches', [{ ...remote, maxAnswerBytes }]) as Promise<Map<string, string>>).finally(
        child.end,
      );
    },
    open: async (remote, folders, signal) => {
      const child = startChild(processMb, remote, signal);
      await child.ask('open', [{ ...remote, maxAnswerBytes }, folders]).catch((error) => {
        child.end();
        throw error;
      });
      const asked = methods.map((method) => [method, (...args: unknown[]) => child.ask(method, args)]);
      return { ...folders, ...Object.fromEntries(asked), close: async () => child.end() };
    },
  };
}

function startChild(processMb: number, remote: Remote, signal: AbortSignal | undefined) {
  signal?.throwIfAborted();
  const forked = fork(source, {
    env: {},
    cwd: '/',
    execArgv: [`--max-old-space-size=${heapMb}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  exposeToOom(forked.pid);
  const tooLarge = `the repository needs more than ${processMb} MB here; install git, which needs far less (GIT_ENGINE=native)`;
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
  let asked = 0;
  let over: unknown;
  const end = (error: unknown = new GitFailed('broken', 'git: the checkout is closed')) => {
    over ??= error;
    clearInterval(watch);
    clearTimeout(late);
    signal?.removeEventListener('abort', abort);
    forked.kill('SIGKILL');
    for (const { reject } of waiting.values()) reject(over);
    waiting.clear();
  };
  const abort = () => end(signal?.reason);
  const late = setTimeout(() => end(new GitFailed('broken', 'git: its process did not start')), startMs).unref();
  const watch = setInterval(async () => {
    if ((await residentMb(forked)) > processMb) end(new GitFailed('broken', `git: ${tooLarge}`));
  }, lookMs).unref();
  signal?.addEventListener('abort', abort, { once: true });
  forked.on('error', (error) => end(new GitFailed('broken', `git: ${error.message}`)));
  // V8 aborts when its heap is full.
  forked.once('exit', (code, by) =>
    end(new GitFailed('broken', `git: ${by === 'SIGABRT' || code === 134 ? tooLarge : `ended with ${by ?? code}`}`)),
  );
  forked.on('message', (reply: Reply) => {
    clearTimeout(late);
    const { resolve, reject } = waiting.get(reply.id) ?? {};
    waiting.delete(reply.id);
    if ('value' in reply) resolve?.(reply.value);
    else reject?.(asError(reply));
  });
  // Nobody waits for it but those who asked.
  forked.unref();
  forked.channel?.unref();
  return {
    ask: (method: Question['method'], args: unknown[]) => {
      const limit = setTimeout(() => end(tooSlow(remote)), (remote.limitSeconds ?? remoteSeconds) * 1000).unref();
      return new Promise<unknown>((resolve, reject) => {
        if (over !== undefined) return reject(over);
        const id = ++asked;
        waiting.set(id, { resolve, reject });
        forked.send({ id, method, args } as Question, (error) => {
          if (error) end(new GitFailed('broken', `git: ${error.message}`));
        });
      }).finally(() => clearTimeout(limit));
    },
    end: () => end(),
  };
}

function asError({ failed, message }: Extract<Reply, { failed: unknown }>): Error {
  if (failed.by === 'git') return new GitFailed(failed.fault, message, failed.retryAfterMs);
  return failed.by === 'work tree' ? new UnfitWorkTree(message) : new Error(message);
}

/** Linux tells; elsewhere V8's own limit has to do. */
async function residentMb({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
