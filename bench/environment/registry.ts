import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makePackages, type Packages, registryHost } from './packages.ts';

export interface Registry extends Packages {
  /** Its port on 127.0.0.1, where it speaks TLS. */
  port: number;
  close(): void;
}

/**
 * Makes packages and starts a registry for them on the loopback device. It is a process of its own, like a real one, so
 * that it does not compete with the proxy. @throws Error without openssl
 */
export async function startRegistry(folder: string): Promise<Registry> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'ca.pem')];
  const names = `subjectAltName=DNS:localhost,DNS:${registryHost}`;
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const request = ['req', ...kind, '-subj', '/CN=bench', '-addext', names, '-keyout', key, '-out', certificate];
  await promisify(execFile)('openssl', request);
  const packages = await makePackages(join(folder, 'packages'), await readFile(certificate, 'utf8'));
  const program = fileURLToPath(new URL('./registry-process.ts', import.meta.url));
  const child = fork(program, [packages.folder, key, certificate]);
  const [port] = (await once(child, 'message')) as [number];
  return { ...packages, port, close: () => child.disconnect() };
}
