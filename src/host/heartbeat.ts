import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

const beatMs = 3000;
/** A process that has not written for this long counts as hanging or gone. */
const silentMs = 30_000;

/** The settings that tell the processes on a machine apart. */
interface Machine {
  DATA_DIR: string;
  ROLE: string;
  HOST: string;
  PORT: number;
}

/** One file per role and machine; processes of one role that share a data folder share it too. */
function fileOf({ DATA_DIR, ROLE }: Machine): string {
  return join(DATA_DIR, `heartbeat.${ROLE}.${hostname()}`);
}

/**
 * Writes every 3 s to a file whether this process is well (`ok`, or what is wrong), for `healthy.ts` to read. A file,
 * because a worker has no port that could be asked. A process that hangs stops writing. Returns the function that stops it.
 */
export function startHeartbeat(config: Machine, look: () => Promise<string>): () => Promise<void> {
  const file = fileOf(config);
  let isBeating = false;
  let isStopped = false;
  const clear = () => rm(file, { force: true });
  const beat = async () => {
    if (isBeating) return;
    isBeating = true;
    const found = await look().catch((error: Error) => error.message);
    // Renamed into place, because a file that is being written is empty for a moment. If writing fails, the age shows it.
    const write = () => writeFile(`${file}.new`, found).then(() => rename(`${file}.new`, file));
    if (!isStopped) await write().catch(() => {});
    if (isStopped) await clear();
    isBeating = false;
  };
  void beat();
  const timer = setInterval(beat, beatMs).unref();
  return async () => {
    isStopped = true;
    clearInterval(timer);
    await clear();
  };
}

/** What is wrong with the process of a role on this machine; undefined when it is well. */
export async function whatIsWrong(config: Machine): Promise<string | undefined> {
  const file = fileOf(config);
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return `no process with ROLE=${config.ROLE} has started with ${config.DATA_DIR}`;
  const silent = Date.now() - found.mtimeMs;
  if (silent > silentMs) return `the process has been silent for ${Math.round(silent / 1000)} s`;
  const says = await readFile(file, 'utf8');
  if (says !== 'ok') return says;
  return config.ROLE === 'worker' ? undefined : whatIsWrongWithServer(config);
}

/** Checks that the server answers requests. */
async function whatIsWrongWithServer({ HOST, PORT }: Machine): Promise<string | undefined> {
  const host = ['0.0.0.0', '::'].includes(HOST) ? '127.0.0.1' : HOST;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${PORT}/healthz`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(3000) }).catch(() => undefined);
  if (answer === undefined) return `${url} does not answer`;
  return answer.ok ? undefined : `${url} answers HTTP ${answer.status}`;
}
