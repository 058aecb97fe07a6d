import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

export interface Service {
  url: string;
  /** Returns the log so far. */
  log(): string;
  /** Calls the REST API. @throws Error with the reply's message */
  api<T>(token: string, method: string, path: string, body?: object): Promise<T>;
  stop(): Promise<void>;
}

/** The real service in a separate process. */
export interface RunningService extends Service {
  process: ChildProcess;
  /** Issues a token for a login by running the `token` command in a separate process. */
  token(login: string): Promise<string>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Starts the service with exactly these settings and waits until it is ready. A worker has no port to check, so it is
 * returned immediately. `url` is where the process listens, if `BASE_URL` is that of a load balancer before it; `program` is
 * the `main.ts` of another version.
 */
export async function startService(
  settings: Record<string, string>,
  { url = settings.BASE_URL ?? '', program = main } = {},
): Promise<RunningService> {
  // The tests start many services; a shared compile cache saves a quarter of a second for each.
  const compiled = { NODE_COMPILE_CACHE: join(tmpdir(), `deckhand-compile-cache-${process.getuid?.()}`) };
  // Nothing here waits for a load balancer.
  const env = { PATH: process.env.PATH ?? '', ...compiled, DRAIN_SECONDS: '0', ...settings };
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      log += chunk;
    });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await gone;
  };
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    return (await fetch(`${url}/readyz`).catch(() => undefined))?.ok;
  };
  if (settings.ROLE !== 'worker')
    await until('the service to be ready', isReady).catch(async (error: Error) => {
      await stop('SIGKILL');
      throw new Error(`${error.message}; its log:\n${log}`);
    });
  return {
    url,
    process: child,
    log: () => log,
    token: async (login) => {
      const { stdout } = await promisify(execFile)(process.execPath, [program, 'token', '--login', login], { env });
      return stdout.trim();
    },
    api: apiOf(url),
    stop,
  };
}

/** Returns a function that calls the REST API of the service at a URL. */
export function apiOf(url: string): Service['api'] {
  return async (token, method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

/** The pauses of `until` grow, because a wait of seconds would otherwise cost the service hundreds of requests. */
const [firstPauseMs, longestPauseMs] = [20, 200];
/** How long `until` waits. What takes a second on an idle machine may take a minute on a busy one. */
const patienceMs = 300_000;

/**
 * Calls a function repeatedly until it returns a truthy value, and returns that.
 * @throws Error that names what it waited for
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  timeoutMs = patienceMs,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 1.3, longestPauseMs)) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`waited ${timeoutMs / 1000} s for ${what}`);
    await sleep(pause);
  }
}
