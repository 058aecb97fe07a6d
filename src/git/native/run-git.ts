import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { exposeToOom } from '../../host/own-process.ts';
import { type GitLimits, guarded } from '../attempts.ts';
import { cleanEnvironment } from '../clean-environment.ts';
import { GitFailed, type Remote, remoteSeconds, tooSlow } from '../engine.ts';
import { curlTrace, explain } from './explain.ts';

export interface GitRun {
  remote?: Remote;
  /** What git reads. Parts are written one after the other as git reads them, so that long input does not block the event loop. */
  input?: string | Buffer | Iterable<string>;
  env?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Exit codes besides 0 that count as success. */
  accept?: number[];
  /** Git is killed when its output grows beyond this. */
  maxBytes?: number;
  /** How long git may take without a remote; 300 seconds by default. */
  limitSeconds?: number;
  /** Resources that git may use while it talks to a remote. */
  limits?: GitLimits;
}

/**
 * Larger than any tree or list of changes that we request. When the output exceeds it, git is killed and the call
 * fails.
 */
const maxOutputBytes = 64_000_000;

/**
 * Runs git and returns its output.
 * @throws GitFailed, or the reason of the signal
 */
export async function git(args: string[], options: GitRun): Promise<Buffer> {
  const { signal } = options;
  signal?.throwIfAborted();
  const child = start(args, options);
  const kill = () => killGroup(child.pid);
  const limit = AbortSignal.timeout(secondsFor(options) * 1000);
  signal?.addEventListener('abort', kill, { once: true });
  limit.addEventListener('abort', kill, { once: true });
  try {
    const ending = await endingOf(child, options, kill);
    signal?.throwIfAborted();
    const failure = failureOf(ending, options, limit.aborted);
    if (failure !== undefined) throw failure;
    return Buffer.concat(ending.output);
  } finally {
    signal?.removeEventListener('abort', kill);
    limit.removeEventListener('abort', kill);
  }
}

/**
 * How long git may take with what is on this machine. A checkout of 300,000 files takes a minute; the patterns of a tree's
 * .gitattributes can take forever.
 */
const localSeconds = 300;

function secondsFor({ remote, limitSeconds = localSeconds }: GitRun): number {
  return remote === undefined ? limitSeconds : (remote.limitSeconds ?? remoteSeconds);
}

function start(args: string[], { remote, env, limits }: GitRun): ChildProcess {
  const [program = 'git', ...begin] = remote === undefined ? ['git'] : [...guarded(remote, limits), 'git'];
  const trace = remote === undefined ? {} : { GIT_TRACE_CURL: '3', GIT_TRACE_CURL_NO_DATA: '1' };
  const child = spawn(program, [...begin, ...args], {
    cwd: '/',
    // A separate process group, so that killing it also kills git's transport process, which would otherwise complete
    // a push.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', remote === undefined ? 'ignore' : 'pipe'],
    env: { ...cleanEnvironment(remote), ...trace, ...env },
  });
  exposeToOom(child.pid);
  return child;
}

interface Ending {
  code: number | null;
  output: Buffer[];
  isTooLarge: boolean;
  stderr: string;
  /** The fault that the remote's HTTP responses indicate. */
  answered: GitFailed | undefined;
}

/** Writes the input, collects git's output and waits for git to end. Calls `kill` when the output is too large. */
function endingOf(
  child: ChildProcess,
  { input, maxBytes = maxOutputBytes, remote }: GitRun,
  kill: () => void,
): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const output: Buffer[] = [];
    let [bytes, errors] = [0, ''];
    const trace = curlTrace(remote);
    child.once('error', (error) => reject(new GitFailed('broken', `git: ${error.message}`)));
    const [stdin, stdout, stderr, log] = child.stdio;
    // When the process is out of file descriptors, spawn returns no process and no streams; `error` is emitted
    // afterwards.
    if (stdin == null || stdout == null || stderr == null) return;
    stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) kill();
      else output.push(chunk);
    });
    stderr.setEncoding('utf8').on('data', (chunk: string) => {
      errors = (errors + chunk).slice(-8000);
    });
    (log as Readable | null)?.setEncoding('utf8').on('data', trace.hear);
    child.once('close', (code) =>
      resolve({ code, output, isTooLarge: bytes > maxBytes, stderr: errors, answered: trace.fault() }),
    );
    // Writing to a process that has ended fails. The `close` handler reports why it ended.
    stdin.on('error', () => {});
    if (typeof input === 'string' || Buffer.isBuffer(input) || input === undefined) stdin.end(input);
    else Readable.from(input).pipe(stdin);
  });
}

function failureOf(ending: Ending, options: GitRun, isLate: boolean): GitFailed | undefined {
  const { code, isTooLarge, stderr, answered } = ending;
  const { remote, accept = [], maxBytes = maxOutputBytes } = options;
  if (isTooLarge) return new GitFailed('broken', `git: its output is larger than ${maxBytes / 1e6} MB`);
  const isAccepted = code === 0 || (code !== null && accept.includes(code));
  // Git exits with 0 when it receives a web page: it takes the page for an empty repository.
  if (isAccepted && answered?.fault !== 'not_git') return undefined;
  if (isLate && remote === undefined)
    return new GitFailed('broken', `git: it took more than ${secondsFor(options)} s on this machine`);
  return isLate ? tooSlow(remote) : explain(stderr, code, answered, remote);
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}
