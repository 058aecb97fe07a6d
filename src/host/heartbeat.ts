import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

const beatMs = 3000;
/** A process that is healthy looks again whether it is with every third heartbeat, because a look asks the database. */
const beatsPerLook = 3;
/** A process whose heartbeat file is older than this counts as hanging or gone. */
const silentMs = 30_000;

/** The settings that distinguish the processes on a machine. */
interface ProcessSettings {
  DATA_DIR: string;
  ROLE: string;
  HOST: string;
  PORT: number;
}

/**
 * Returns the path of the heartbeat file: one per role and machine. Processes of the same role that share a data folder
 * share the file.
 */
function fileOf({ DATA_DIR, ROLE }: ProcessSettings): string {
  return join(DATA_DIR, `heartbeat.${ROLE}.${hostname()}`);
}

/**
 * Writes to a file every 3 s whether this process is healthy (`ok`, or what is wrong). `healthy.ts` reads it. A file is
 * used because a worker has no port for health checks. A process that hangs stops writing. Returns a function that
 * stops the heartbeat.
 */
export function startHeartbeat(config: ProcessSettings, look: () => Promise<string>): () => Promise<void> {
  const file = fileOf(config);
  let isBeating = false;
  let found = '';
  let beats = 0;
  let isStopped = false;
  const clear = () => rm(file, { force: true });
  const beat = async () => {
    if (isBeating) return;
    isBeating = true;
    if (found !== 'ok' || beats++ % beatsPerLook === 0) found = await look().catch((error: Error) => error.message);
    // Written under a temporary name and renamed, because a file that is being written is empty for a moment. If
    // writing fails, readers notice the file's age.
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

/** Returns what is wrong with the process of a role on this machine, or undefined when it is healthy. */
export async function whatIsWrong(config: ProcessSettings): Promise<string | undefined> {
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
async function whatIsWrongWithServer({ HOST, PORT }: ProcessSettings): Promise<string | undefined> {
  const host = ['0.0.0.0', '::'].includes(HOST) ? '127.0.0.1' : HOST;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${PORT}/healthz`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(3000) }).catch(() => undefined);
  if (answer === undefined) return `${url} does not answer`;
  return answer.ok ? undefined : `${url} answers HTTP ${answer.status}`;
}
