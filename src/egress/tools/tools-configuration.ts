import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isHostName } from '../host-names.ts';
import { ask, bundler, go, npm, pip, type Registries, yarn } from './registries.ts';

/**
 * Returns the variables that lead tools to the proxy at a port of 127.0.0.1. Some tools read only names in upper or only
 * in lower case; Node ignores them without `NODE_USE_ENV_PROXY`, and Yarn 2 and newer without its own.
 */
export function proxyVariables(port: number): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const direct = 'localhost,127.0.0.1,::1';
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: '1',
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
  };
}

/** The variables by which tools find certificates of authorities. npm, pip and Node have their own. */
const names = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'CARGO_HTTP_CAINFO',
  'BUNDLE_SSL_CA_CERT',
  'npm_config_cafile',
];

/** Folders of the machine that sandboxes can read under the same path. */
const visible = /^\/(etc\/ssl\/certs|usr)\//;

/**
 * Returns the variables for certificates that this process has, if a sandbox can read their files. Certificates in other
 * places have to be added to the machine's own (`update-ca-certificates`).
 */
async function certificateVariables(environment: Record<string, string>): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const path = environment[name];
    if (path === undefined || !visible.test(`${path}/`)) continue;
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) found[name] = path;
  }
  return found;
}

/** Reads cargo's files, because cargo cannot print its configuration. The built-in default index is not found. */
async function cargo({ CARGO_HOME, HOME = '/' }: Record<string, string>): Promise<Registries> {
  const home = CARGO_HOME ?? join(HOME, '.cargo');
  const files = await Promise.all(['config.toml', 'config'].map((name) => textOf(join(home, name))));
  const lines = files.join('\n').matchAll(/^\s*(?:registry|index)\s*=\s*"(?:sparse\+)?(https?:[^"]+)"/gm);
  return { addresses: [...lines].map(([, address = '']) => address) };
}

/** apt's sources, in both of its formats. */
export async function apt(folder = '/etc/apt'): Promise<Registries> {
  const parts = join(folder, 'sources.list.d');
  const names = await readdir(parts).catch(() => []);
  const files = names.filter((name) => /\.(list|sources)$/.test(name)).map((name) => join(parts, name));
  const texts = await Promise.all([join(folder, 'sources.list'), ...files].map(textOf));
  const lines = texts
    .join('\n')
    .split('\n')
    .filter((line) => /^\s*(deb|deb-src|URIs:)\s/.test(line));
  return { addresses: lines.flatMap((line) => line.match(/https?:\/\/\S+/g) ?? []) };
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

export interface ToolsConfiguration {
  hosts: string[];
  variables: Record<string, string>;
}

/**
 * Reads which registries the tools on this machine use. The names of public registries are written nowhere in this
 * program, so a machine that is configured for a mirror needs no further setting. A tool that is not installed or does
 * not answer is left out.
 */
export async function toolsConfiguration(environment: Record<string, string>): Promise<ToolsConfiguration> {
  const asking = ask(environment);
  const found = await Promise.all([
    ...[npm, yarn, pip, go, bundler].map((tool) => tool(asking, environment)),
    cargo(environment),
    apt(),
  ]);
  const hosts = found.flatMap(({ addresses }) => addresses.map(hostOf)).filter((host) => host !== undefined);
  return {
    hosts: [...new Set(hosts)],
    variables: Object.assign(
      await certificateVariables(Object.assign({}, ...found.map(({ certificates }) => certificates), environment)),
      ...found.map(({ variables }) => variables),
    ),
  };
}

/** Returns the host of an address, or undefined for files and numeric addresses, which no list can allow. */
function hostOf(address: string): string | undefined {
  // Not `direct` and `off`, which Go puts into its lists.
  if (address.includes('.') && isHostName(address)) return address;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && isHostName(url.hostname) ? url.hostname : undefined;
}
