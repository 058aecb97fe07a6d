import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../demo/settings.ts';
import { toolEnvironment } from '../../src/config.ts';
import { proxyVariables } from '../../src/egress/tools/tools-configuration.ts';
import { median, say } from '../figures.ts';
import { doorTo } from './outside.ts';
import { registryHost } from './packages.ts';
import type { Registry } from './registry.ts';

const rounds = 5;
const wanted = 1.15;
const relay = fileURLToPath(new URL('../../src/sandbox/inside/relay.mjs', import.meta.url));

/** Measures `npm ci` through relay and proxy, as in a sandbox, against `npm ci` with a direct connection. */
export async function proxySpeed(folder: string, registry: Registry): Promise<void> {
  const stop = new AbortController();
  const egress = await doorTo(registry.port).open({
    folder,
    hosts: [registryHost],
    list: 'setup',
    signal: stop.signal,
  });
  const port = await freePort();
  const relaying = spawn(process.execPath, [relay, egress.socket, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ways = {
    direct: { npm_config_registry: `https://localhost:${registry.port}/`, NO_PROXY: 'localhost' },
    proxied: { npm_config_registry: `https://${registryHost}/`, ...proxyVariables(port) },
  };
  try {
    await once(relaying.stdout, 'data');
    const [direct, proxied]: [number[], number[]] = [[], []];
    await install(folder, registry, ways.direct);
    for (let i = 0; i < rounds; i++) {
      direct.push(await install(folder, registry, ways.direct));
      proxied.push(await install(folder, registry, ways.proxied));
    }
    const [without, through] = [median(direct), median(proxied)];
    const seconds = `${through.toFixed(1)} s through the proxy, ${without.toFixed(1)} s without`;
    say(`npm ci           ${seconds}: ${(through / without).toFixed(2)} times (at most ${wanted} wanted)`);
  } finally {
    relaying.kill();
    await egress.close();
  }
}

/** Installs the packages into a new folder, with an empty cache, and returns the seconds. */
async function install(parent: string, { files }: Registry, variables: Record<string, string>): Promise<number> {
  const folder = await mkdtemp(join(parent, 'install-'));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const home = join(folder, 'home');
  await mkdir(home);
  const own = { HOME: home, npm_config_cache: join(home, '.npm'), npm_config_cafile: join(folder, 'ca.pem') };
  const env = { ...toolEnvironment(), ...own, ...variables };
  const began = performance.now();
  await promisify(execFile)('npm', ['ci', '--ignore-scripts'], { cwd: folder, env });
  const seconds = (performance.now() - began) / 1000;
  await rm(folder, { recursive: true, force: true });
  return seconds;
}
