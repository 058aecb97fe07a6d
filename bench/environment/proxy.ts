import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readConfig, toolEnvironment } from '../src/config.ts';
import { freePort } from '../src/demo/settings.ts';
import { egressDoor } from '../src/egress/egress.ts';
import { proxyVariables } from '../src/egress/variables.ts';
import { median, say } from './figures.ts';

const rounds = 3;
const project = fileURLToPath(new URL('..', import.meta.url));
const relay = fileURLToPath(new URL('../src/sandbox/inside/relay.mjs', import.meta.url));

/**
 * Measures `npm ci` of this project's dependencies through relay and proxy, as in a sandbox, against a direct network.
 * Needs the registry that npm is configured to use.
 */
export async function egressSpeed(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-egress-'));
  const stop = new AbortController();
  // The registry may be a mirror with a private address.
  const door = egressDoor(readConfig({ ALLOW_PRIVATE_HOSTS: 'true' }), toolEnvironment());
  const hosts = await door.defaultHosts();
  const egress = await door.open({ folder, hosts, list: 'setup', signal: stop.signal });
  const port = await freePort();
  const relaying = spawn(process.execPath, [relay, egress.socket, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(relaying.stdout, 'data');
    const [direct, proxied]: [number[], number[]] = [[], []];
    await install(folder, {});
    for (let i = 0; i < rounds; i++) {
      direct.push(await install(folder, {}));
      proxied.push(await install(folder, proxyVariables(port)));
    }
    const [without, through] = [median(direct), median(proxied)];
    const seconds = `${through.toFixed(1)} s through the proxy, ${without.toFixed(1)} s without`;
    say(`npm ci           ${seconds}: ${(through / without).toFixed(2)} times (at most 1.15 wanted)`);
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    say(`npm ci           skipped, because the registry could not be used: ${stderr.trim().split('\n')[0] || message}`);
  } finally {
    relaying.kill();
    await egress.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Installs the dependencies into a new folder, with an empty cache, and returns the seconds. */
async function install(parent: string, variables: Record<string, string>): Promise<number> {
  const folder = await mkdtemp(join(parent, 'install-'));
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    await copyFile(join(project, name), join(folder, name));
  const args = [
    'ci',
    '--ignore-scripts',
    '--omit=dev',
    '--omit=optional',
    '--no-audit',
    '--no-fund',
    `--cache=${join(folder, 'cache')}`,
  ];
  const began = performance.now();
  await promisify(execFile)('npm', args, { cwd: folder, env: { ...toolEnvironment(), ...variables } });
  const seconds = (performance.now() - began) / 1000;
  await rm(folder, { recursive: true, force: true });
  return seconds;
}
