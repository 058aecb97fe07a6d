import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { exposeToOom } from '../../host/oom-score.ts';
import { GitFailed, leastBytesPerSecond, type Remote, remoteSeconds, silenceSeconds, tooSlow } from '../engine.ts';
import { guarded, type Room } from '../guarded.ts';
import { curlTrace } from './curl-trace.ts';
import { explain } from './explain.ts';

export interface GitRun {
  remote?: Remote;
  input?: string | Buffer;
  env?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Exit codes besides 0 that are an answer. */
  accept?: number[];
  /** Git is killed when its output grows larger. */
  maxBytes?: number;
  /** Resources that git may use while it talks to a remote. */
  room?: Room;
}

/** More than any tree or list of differences that we ask for. */
const maxOutputBytes = 64_000_000;

/** Settings of every call; whatever a repository or the machine configures cannot change what we do. */
function settings(remote: Remote | undefined): [string, string][] {
  const always: [string, string][] = [
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.attributesFile', '/dev/null'],
    ['core.excludesFile', '/dev/null'],
    ['core.quotePath', 'false'],
    ['credential.helper', ''],
    ['protocol.allow', 'never'],
    ['protocol.https.allow', 'always'],
    ['protocol.http.allow', remote?.url.startsWith('http:') ? 'always' : 'never'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', String(leastBytesPerSecond)],
    ['http.lowSpeedTime', String(remote?.patienceSeconds ?? silenceSeconds)],
    ['gc.auto', '0'],
    // As packs always, so that they can be cached.
    ['fetch.unpackLimit', '1'],
    ['maintenance.auto', 'false'],
    ['commit.gpgSign', 'false'],
    ['push.gpgSign', 'false'],
    ['submodule.recurse', 'false'],
    ['fetch.recurseSubmodules', 'false'],
    ['safe.directory', '*'],
  ];
  if (remote?.resolved !== undefined) always.push(['http.curloptResolve', remote.resolved]);
  if (remote?.token !== undefined) {
    const basic = Buffer.from(`x-access-token:${remote.token}`).toString('base64');
    always.push([`http.${new URL(remote.url).origin}/.extraHeader`, `Authorization: Basic ${basic}`]);
  }
  return always;
}

/** An environment in which git knows our settings and the credentials of that remote, and nothing of this machine. */
export function cleanEnvironment(remote: Remote | undefined): Record<string, string> {
  const configured = settings(remote);
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_COUNT: String(configured.length),
    ...Object.fromEntries(
      configured.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  };
}

/** Runs git and answers its output. @throws GitFailed, or the reason of the signal */
export async function git(
  args: string[],
  { remote, input, env = {}, signal, accept = [], maxBytes = maxOutputBytes, room }: GitRun,
): Promise<Buffer> {
  signal?.throwIfAborted();
  const [program = 'git', ...begin] = remote === undefined ? ['git'] : [...guarded(remote, room), 'git'];
  const trace = curlTrace();
  const traced = remote === undefined ? {} : { GIT_TRACE_CURL: '3', GIT_TRACE_CURL_NO_DATA: '1' };
  const child = spawn(program, [...begin, ...args], {
    cwd: '/',
    // A group of its own: what speaks with the remote is a child of git, and would go on with a push when git is gone.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', remote === undefined ? 'ignore' : 'pipe'],
    env: { ...cleanEnvironment(remote), ...traced, ...env },
  });
  exposeToOom(child.pid);
  const end = () => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  signal?.addEventListener('abort', end, { once: true });
  const limit = remote && AbortSignal.timeout((remote.limitSeconds ?? remoteSeconds) * 1000);
  limit?.addEventListener('abort', end, { once: true });
  return new Promise<Buffer>((resolve, reject) => {
    const out: Buffer[] = [];
    let [bytes, err] = [0, ''];
    child.once('error', (error) => reject(new GitFailed('broken', `git: ${error.message}`)));
    const [stdin, stdout, stderr, log] = child.stdio;
    // With too many files open there is no process and no stream, only the error to come.
    if (stdin == null || stdout == null || stderr == null) return;
    stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) end();
      else out.push(chunk);
    });
    stderr.setEncoding('utf8').on('data', (chunk: string) => {
      err = (err + chunk).slice(-8000);
    });
    (log as Readable | null)?.setEncoding('utf8').on('data', trace.hear);
    child.once('close', (code) => {
      const fault = trace.fault();
      const isDone = code === 0 || accept.includes(code ?? -1);
      if (signal?.aborted) reject(signal.reason);
      else if (bytes > maxBytes) reject(new GitFailed('broken', `git: its output is larger than ${maxBytes / 1e6} MB`));
      else if (isDone && fault?.fault !== 'not_git') resolve(Buffer.concat(out));
      else reject(limit?.aborted ? tooSlow(remote) : explain(err, code, fault));
    });
    stdin.on('error', () => {});
    stdin.end(input);
  }).finally(() => {
    signal?.removeEventListener('abort', end);
    limit?.removeEventListener('abort', end);
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
