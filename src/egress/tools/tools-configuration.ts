import { execFile } from 'node:child_process';
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isHostName } from '../host-names.ts';

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

/** What one tool on this machine is configured to use. */
export interface Registries {
  /** Addresses of registries, with credentials if the configuration has them; or host names. */
  addresses: string[];
  /** Variables that hand a configured registry to the tool in a sandbox, without credentials. */
  variables?: Record<string, string>;
  /** Variables that name files with certificates. They are handed on if sandboxes can read the files. */
  certificates?: Record<string, string>;
}

/** How long a tool may take to print its configuration, and how much it may print. */
const [maxMs, maxBytes] = [15_000, 1_000_000];

/** Runs a tool and returns what it prints; an empty text when it is not installed, fails or takes too long. */
export type Ask = (tool: string, args: string[], without?: RegExp) => Promise<string>;

/**
 * Returns a function that runs tools of this machine. They run in the root folder and with the machine's programs, so that
 * they read the machine's configuration and no project's.
 */
function ask({ PATH = '', ...others }: Record<string, string>): Ask {
  const environment = { ...others, PATH: machineFirst(PATH) };
  return (tool, args, without = /$^/) => {
    const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !without.test(name)));
    // Otherwise yarn could be a stand-in that first downloads yarn.
    const options = { env: { ...env, COREPACK_ENABLE_NETWORK: '0' }, cwd: '/', timeout: maxMs, maxBuffer: maxBytes };
    return new Promise((resolve) => {
      const child = execFile(tool, args, { ...options, killSignal: 'SIGKILL' }, (error, printed) =>
        resolve(error === null ? printed : ''),
      );
      child.stdin?.on('error', () => {}).end();
    });
  };
}

/**
 * Moves the folders of programs that packages brought to the end of a search path. Deckhand runs on a Node from there, and
 * npm looks for its global configuration beside the Node that runs it.
 */
function machineFirst(path: string): string {
  const isOfPackages = (folder: string) => /\/node_modules(\/|$)/.test(folder);
  const folders = path.split(':');
  return [...folders.filter((folder) => !isOfPackages(folder)), ...folders.filter(isOfPackages)].join(':');
}

type Environment = Record<string, string>;

/** npm and pnpm. The registry is handed on only if it is configured, because it would win over a project's `.npmrc`. */
async function npm(ask: Ask): Promise<Registries> {
  // npm refuses to read the same file twice.
  const pristine = ['config', 'get', 'registry', '--userconfig=/dev/null', '--globalconfig=/dev/null/none'];
  const [listed, usual] = await Promise.all([ask('npm', ['config', 'ls', '--json']), ask('npm', pristine, /^npm_/i)]);
  const config = parsed(listed);
  const addresses = Object.entries(config)
    .filter(([key]) => key === 'registry' || key.endsWith(':registry'))
    .map(([, value]) => String(value));
  const registry = String(config.registry ?? '');
  const isUsual = registry === '' || registry === usual.trim();
  return {
    addresses,
    variables: isUsual ? {} : withCorepack(addressVariables({ npm_config_registry: registry })),
    certificates: typeof config.cafile === 'string' ? { npm_config_cafile: config.cafile } : {},
  };
}

/** Corepack, which fetches pinned versions of pnpm and Yarn, reads no configuration of npm, and wants no slash at the end. */
function withCorepack(variables: Record<string, string>): Record<string, string> {
  const { npm_config_registry: registry } = variables;
  return registry === undefined ? {} : { ...variables, COREPACK_NPM_REGISTRY: registry.replace(/\/$/, '') };
}

/** Yarn 1 and later versions have different names for the setting. Each knows only its own. */
async function yarn(ask: Ask): Promise<Registries> {
  const answers = await Promise.all(
    ['registry', 'npmRegistryServer'].map((name) => ask('yarn', ['config', 'get', name])),
  );
  const [registry = ''] = answers.map((answer) => answer.trim()).filter((answer) => URL.canParse(answer));
  return {
    addresses: [registry],
    variables: addressVariables({ YARN_REGISTRY: registry, YARN_NPM_REGISTRY_SERVER: registry }),
  };
}

/** Prints pip's usual index and the host of its files, which are not part of its configuration. */
const printUsual = 'from pip._internal.models.index import PyPI as p; print(p.simple_url, p.file_storage_domain)';

/** pip, and uv where it has no index of its own. */
async function pip(ask: Ask, environment: Environment): Promise<Registries> {
  const [listed, usual] = await Promise.all([
    ask('python3', ['-m', 'pip', 'config', 'list']),
    ask('python3', ['-c', printUsual]),
  ]);
  // pip lists the environment first, and it wins.
  const setting = (name: string) => {
    const line = new RegExp(`^[\\w.:-]+\\.${name}='(.*)'$`, 'm').exec(listed);
    return (line?.[1] ?? '').split(/\\n|\s+/).filter((value) => value !== '');
  };
  const [index = ''] = setting('index-url');
  const more = setting('extra-index-url').filter((value) => /^https?:/.test(value));
  const ofUv = environment.UV_DEFAULT_INDEX ?? environment.UV_INDEX_URL ?? index;
  return {
    addresses: [...(index === '' ? usual.trim().split(/\s+/) : [index]), ...more, ofUv],
    variables: addressVariables({ PIP_INDEX_URL: index, PIP_EXTRA_INDEX_URL: more.join(' '), UV_DEFAULT_INDEX: ofUv }),
    certificates: Object.fromEntries(setting('cert').map((path) => ['PIP_CERT', path])),
  };
}

/** Go separates proxies with commas and bars. The checksum database is a name, or a name and an address. */
async function go(ask: Ask): Promise<Registries> {
  const [proxies = '', sums = ''] = (await ask('go', ['env', 'GOPROXY', 'GOSUMDB'])).split('\n');
  const [name = '', address = ''] = sums.trim().split(/\s+/);
  const list = proxies.split(/[,|]/).map((each) => each.trim());
  return {
    addresses: [...list, address || (name.split('+')[0] ?? '')],
    variables: list.some((each) => URL.canParse(each)) ? { GOPROXY: list.map(withoutCredentials).join(',') } : {},
  };
}

/** gem and Bundler. Bundler's mirrors are configured for each source. */
async function bundler(ask: Ask): Promise<Registries> {
  const [sources, settings] = await Promise.all([
    ask('gem', ['sources', '--list']),
    ask('bundle', ['config', 'list', '--parseable']),
  ]);
  const mirrors = [...settings.matchAll(/^mirror\.[^=]*=(\S+)$/gm)].map(([, address = '']) => address);
  return { addresses: [...sources.split('\n').map((line) => line.trim()), ...mirrors] };
}

/** Keeps the variables with an address, or several separated by blanks, and removes credentials from them. */
function addressVariables(variables: Record<string, string>): Record<string, string> {
  const clean = Object.entries(variables).map(([name, value]) => [
    name,
    value
      .split(' ')
      .filter((each) => URL.canParse(each))
      .map(withoutCredentials)
      .join(' '),
  ]);
  return Object.fromEntries(clean.filter(([, value]) => value !== ''));
}

/** Removes user name, password and query from an address; returns any other text unchanged. */
function withoutCredentials(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  Object.assign(url, { username: '', password: '', search: '', hash: '' });
  return url.href;
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
