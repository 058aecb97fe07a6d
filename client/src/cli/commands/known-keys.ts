import { createPublicKey } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { publicKeyOf, type ReceiptKey, receiptKey } from '../../../../src/domain/receipt/envelope.ts';
import { CommandFailed } from '../failures.ts';
import { loginPath } from '../login-file.ts';

/** The public keys of receipts that were fetched, by the address of their service. */
type Kept = Record<string, string[]>;

const pathOf = (env: NodeJS.ProcessEnv) => join(dirname(loginPath(env)), 'receipt-keys.json');

/** Returns the keys of a service that were fetched earlier. */
export async function keptKeys(env: NodeJS.ProcessEnv, url: string): Promise<ReceiptKey[]> {
  const known = (await readKept(env))[url];
  return Array.isArray(known) ? known.filter((x) => typeof x === 'string').map(receiptKey) : [];
}

/** Fetches the keys of a service and keeps them. @throws CommandFailed */
export async function fetchKeys(env: NodeJS.ProcessEnv, url: string): Promise<ReceiptKey[]> {
  const address = `${url}/.well-known/jwks.json`;
  const text = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(60_000) })
    .then((reply) => (reply.ok ? reply.text() : Promise.reject(new Error(`it answered ${reply.status}`))))
    .catch((error: Error) => {
      throw new CommandFailed(
        `The keys could not be fetched from ${address}: ${error.message}. Give a file with --key.`,
      );
    });
  const keys = keysIn(text);
  if (keys.length === 0)
    throw new CommandFailed(`${address} lists no key that signs receipts. The service has signed none yet.`);
  const kept = { ...(await readKept(env)), [url]: keys.map(({ x }) => x) };
  const path = pathOf(env);
  const made = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rm(made, { force: true });
  await writeFile(made, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(made, path);
  return keys;
}

async function readKept(env: NodeJS.ProcessEnv): Promise<Kept> {
  try {
    return JSON.parse(await readFile(pathOf(env), 'utf8')) ?? {};
  } catch {
    // It is fetched again.
    return {};
  }
}

/** Returns the keys in a text: a key in PEM, a JSON Web Key, or a set of them. Other keys are left out. */
export function keysIn(text: string): ReceiptKey[] {
  try {
    if (text.includes('-----BEGIN')) return [publicKeyOf(ed25519(createPublicKey(text)))];
    const value = JSON.parse(text) as { keys?: unknown };
    const all = Array.isArray(value.keys) ? value.keys : [value];
    return all.filter(isKey).map(({ x }) => receiptKey(x));
  } catch {
    return [];
  }
}

function ed25519<K extends { asymmetricKeyType?: string }>(key: K): K {
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('another kind of key');
  return key;
}

function isKey(value: unknown): value is { x: string } {
  const { kty, crv, x } = (value ?? {}) as Record<string, unknown>;
  return kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && Buffer.from(x, 'base64url').length === 32;
}
