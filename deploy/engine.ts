import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** A build can be slow on a busy machine. */
const slowestMs = 30 * 60_000;

/**
 * Runs Docker in the project's folder and returns its output. Pass secrets in `variables` and name them with `--env
 * NAME`, because every process on the machine can read a command line.
 * @throws Error with Docker's own message
 */
export async function docker(args: string[], variables: Record<string, string> = {}): Promise<string> {
  const env = { ...process.env, ...variables };
  const options = { cwd: root, env, maxBuffer: 2 ** 26, timeout: slowestMs };
  try {
    return (await promisify(execFile)('docker', args, options)).stdout.trim();
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new Error(`docker ${args[0]}: ${stderr?.trim() || message}`);
  }
}

/** Returns whether a Docker command succeeds. */
export function works(...args: string[]): Promise<boolean> {
  return docker(args).then(
    () => true,
    () => false,
  );
}

/** Returns whether an image exists here or can be pulled. */
export async function hasImage(name: string): Promise<boolean> {
  return (await works('image', 'inspect', name)) || (await works('pull', '--quiet', name));
}

export type ComposeService = Record<string, unknown> & { image?: string };

export function readCompose(): Record<'web' | 'worker' | 'postgres', ComposeService> {
  return parse(readFileSync(`${root}/compose.yaml`, 'utf8'), { merge: true }).services;
}

const each = (flag: string) => (values: unknown) => (values as string[]).flatMap((value) => [flag, value]);
const one = (flag: string) => (value: unknown) => [flag, withDefaults(String(value))];

/** The flags of `docker run` for each key of compose.yaml. */
const flags: Record<string, (value: unknown) => string[]> = {
  read_only: (value) => (value === true ? ['--read-only'] : []),
  tmpfs: each('--tmpfs'),
  cap_drop: each('--cap-drop'),
  cap_add: each('--cap-add'),
  security_opt: each('--security-opt'),
  mem_limit: one('--memory'),
  shm_size: one('--shm-size'),
  pids_limit: one('--pids-limit'),
  oom_score_adj: one('--oom-score-adj'),
  user: one('--user'),
};
/** Keys that other flags replace, because the containers run on the host's network. */
const elsewhere = ['build', 'image', 'env_file', 'environment', 'restart', 'depends_on', 'ports', 'volumes'];
const ofCompose = [...elsewhere, 'healthcheck', 'stop_grace_period'];

/**
 * Returns the flags that give a container the same limits as compose.yaml, except for the keys in `except`.
 * @throws Error for a key that this file does not know, because it would otherwise silently remain untested
 */
export function flagsOf(service: ComposeService, except: string[] = []): string[] {
  return Object.entries(service).flatMap(([key, value]) => {
    if (ofCompose.includes(key) || except.includes(key)) return [];
    const flag = flags[key];
    if (flag === undefined)
      throw new Error(`compose.yaml: deploy/engine.ts does not know the key ${key}; add it there`);
    return flag(value);
  });
}

/** Replaces `${NAME:-default}` by the default. */
function withDefaults(text: string): string {
  return text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
}
