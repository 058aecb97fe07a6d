import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { UsageError } from './failures.ts';
import { readLogin } from './login-file.ts';
import type { GlobalOptions } from './session.ts';

/**
 * Node reads additional certificates only when it starts. With `--ca`, or a login that has one, the command runs in a new
 * process; its exit code is returned.
 */
export async function runWithCa(options: GlobalOptions, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  // A login that cannot be read is reported by the commands that need it.
  const given = options.ca ?? (env.NODE_EXTRA_CA_CERTS ? undefined : (await readLogin(env).catch(() => undefined))?.ca);
  if (given === undefined) return undefined;
  const ca = resolve(given);
  if (env.NODE_EXTRA_CA_CERTS === ca) return undefined;
  await assertCertificate(ca);
  const args = [...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...env, NODE_EXTRA_CA_CERTS: ca } });
  // The terminal interrupts both processes, so this one only waits. Others signal only this one.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('exit', (code, signal) => done(code ?? 128 + constants.signals[signal ?? 'SIGTERM']));
  });
}

/** Node ignores a file without a certificate. */
async function assertCertificate(path: string): Promise<void> {
  const text = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--ca ${path} cannot be read (${error.code}). Give a file with a certificate in PEM format.`);
  });
  try {
    new X509Certificate(text);
  } catch {
    throw new UsageError(`--ca ${path} contains no certificate in PEM format.`);
  }
}
