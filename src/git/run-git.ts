import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { GitFailed, type GitFault, type Remote, remoteSeconds, silenceSeconds, tooSlow } from './engine.ts';

export interface GitRun {
  remote?: Remote;
  input?: string | Buffer;
  env?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Exit codes besides 0 that are an answer. */
  accept?: number[];
  /** Gets what git says beside its output. */
  heard?: (text: string) => void;
}

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
    ['http.lowSpeedLimit', '1000'],
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

/** Beyond the limit of an operation; then not even the service was there to end it. */
const graceSeconds = 60;

/**
 * Who is killed cannot end what it has started, and git that speaks with a remote would go on for as long as that drips.
 * The system tells `timeout` of our end, and it ends its whole group; git alone would leave its children behind.
 */
function guarded({ limitSeconds = remoteSeconds }: Remote): string[] {
  const [setpriv, timeout] = ['/usr/bin/setpriv', '/usr/bin/timeout'];
  if (!existsSync(setpriv) || !existsSync(timeout)) return [];
  return [setpriv, '--pdeathsig', 'TERM', timeout, '--kill-after=5', String(limitSeconds + graceSeconds)];
}

/** Runs git and answers its output. @throws GitFailed, or the reason of the signal */
export async function git(
  args: string[],
  { remote, input, env = {}, signal, accept = [], heard }: GitRun,
): Promise<Buffer> {
  signal?.throwIfAborted();
  const [program = 'git', ...begin] = remote === undefined ? ['git'] : [...guarded(remote), 'git'];
  const child = spawn(program, [...begin, ...args], {
    cwd: '/',
    // A group of its own: what speaks with the remote is a child of git, and would go on with a push when git is gone.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...cleanEnvironment(remote), ...env },
  });
  const end = () => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  signal?.addEventListener('abort', end, { once: true });
  const limit = remote && AbortSignal.timeout((remote.limitSeconds ?? remoteSeconds) * 1000);
  limit?.addEventListener('abort', end, { once: true });
  return new Promise<Buffer>((resolve, reject) => {
    const out: Buffer[] = [];
    let err = '';
    child.once('error', (error) => reject(new GitFailed('broken', `git: ${error.message}`)));
    // With too many files open there is no process and no stream, only the error to come.
    if (child.stdin === undefined) return;
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      heard?.(chunk);
      err = (err + chunk).slice(-8000);
    });
    child.once('close', (code) => {
      if (code === 0 || accept.includes(code ?? -1)) resolve(Buffer.concat(out));
      else if (signal?.aborted) reject(signal.reason);
      else reject(limit?.aborted ? tooSlow(remote) : explain(err, code));
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
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

const faults: [RegExp, GitFault][] = [
  [/couldn't find remote ref/, 'missing'],
  [
    /Authentication failed|could not read (Username|Password)|error: 40[13]|HTTP 40[13]|Permission to .* denied/i,
    'auth',
  ],
  [/not found|error: 404|does not exist/i, 'missing'],
  [/\[(remote )?rejected\]|non-fast-forward|fetch first|pre-receive hook declined|failed to push/i, 'rejected'],
  [
    /Could not resolve|Failed to connect|Connection (refused|reset|timed out)|early EOF|unexpected disconnect|timed out|unable to access|Operation too slow|RPC failed/i,
    'unreachable',
  ],
];

function explain(err: string, code: number | null): GitFailed {
  const fault = faults.find(([pattern]) => pattern.test(err))?.[1] ?? 'broken';
  const said = lines(err)
    .filter((l) => !l.startsWith('hint:'))
    .slice(-4)
    .join(' ');
  return new GitFailed(fault, `git: ${said || `ended with ${code}`}`);
}

export function lines(text: string): string[] {
  return text.split('\n').filter((l) => l.trim() !== '');
}
