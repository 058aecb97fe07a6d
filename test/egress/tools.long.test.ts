import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { toolEnvironment } from '../../src/config.ts';
import { apt, proxyVariables, toolsConfiguration } from '../../src/egress/tools/tools-configuration.ts';

const homes: string[] = [];
afterEach(async () => {
  for (const home of homes.splice(0)) await rm(home, { recursive: true });
});

/** Reads the configuration of tools that are shell scripts. apt's sources are those of this machine. */
async function configured(tools: Record<string, string>, more: Record<string, string> = {}) {
  const home = await mkdtemp(join(tmpdir(), 'egress-tools-'));
  homes.push(home);
  for (const [name, script] of Object.entries(tools)) {
    await writeFile(join(home, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(home, name), 0o755);
  }
  const ofApt = await toolsConfiguration({ PATH: join(home, 'none'), HOME: home });
  const all = await toolsConfiguration({ PATH: `${home}:/usr/bin:/bin`, HOME: home, ...more });
  return { ...all, hosts: all.hosts.filter((host) => !ofApt.hosts.includes(host)) };
}

const none = { npm: 'exit 1', python3: 'exit 1', yarn: 'exit 1', go: 'exit 1', gem: 'exit 1', bundle: 'exit 1' };
const usual = 'https://registry.example.org/';
const npm = (config: object, registry = usual) =>
  `case "$*" in *--json) cat <<'END'\n${JSON.stringify(config)}\nEND\n;; *) echo ${registry};; esac`;

test('without tools there are no registries', async () => {
  expect(await configured(none)).toEqual({ hosts: [], variables: {} });
});

test('npm: the usual registry is allowed, but not handed on, because a project may configure another one', async () => {
  const config = { registry: usual, '@org:registry': 'https://npm.example.com/org/', cafile: null, color: true };
  expect(await configured({ ...none, npm: npm(config) })).toEqual({
    hosts: ['registry.example.org', 'npm.example.com'],
    variables: {},
  });
});

test('npm: a mirror is handed on without its credentials', async () => {
  const config = { registry: 'https://user:hunter2@mirror.example.com/npm/?token=hunter2' };
  expect(await configured({ ...none, npm: npm(config) })).toEqual({
    hosts: ['mirror.example.com'],
    variables: {
      npm_config_registry: 'https://mirror.example.com/npm/',
      COREPACK_NPM_REGISTRY: 'https://mirror.example.com/npm',
    },
  });
});

test("npm runs on the machine's Node, beside which its configuration is, although Deckhand runs on that of a package", async () => {
  const home = await mkdtemp(join(tmpdir(), 'egress-node-'));
  homes.push(home);
  // npm is a script that env gives to the first Node of the path. Each Node here answers for npm.
  const [ofPackage, ofMachine] = [join(home, 'node_modules/.bin'), join(home, 'machine')];
  const mirror = { registry: 'https://mirror.example.com/', cafile: '/usr/bin/env' };
  const programs = {
    [join(ofPackage, 'node')]: `#!/bin/sh\n${npm({ registry: usual })}\n`,
    [join(ofMachine, 'node')]: `#!/bin/sh\n${npm(mirror)}\n`,
    [join(ofMachine, 'npm')]: '#!/usr/bin/env node\n',
  };
  for (const [path, script] of Object.entries(programs)) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, script, { mode: 0o755 });
  }
  const { npm: _, ...others } = none;
  const { hosts, variables } = await configured(others, { PATH: `${ofPackage}:${ofMachine}:/usr/bin:/bin` });
  expect(hosts).toContain('mirror.example.com');
  expect(variables).toMatchObject({
    npm_config_registry: 'https://mirror.example.com/',
    npm_config_cafile: '/usr/bin/env',
  });
});

test('pip: the index that is built in, or the one that is configured, which uv uses too', async () => {
  const builtIn = 'case "$*" in -c*) echo https://index.example.org/simple files.example.org;; esac';
  expect((await configured({ ...none, python3: builtIn })).hosts).toEqual(['index.example.org', 'files.example.org']);
  const mirror = `case "$*" in *list) cat <<'END'
global.index-url='https://u:p@pip.example.com/simple'
global.extra-index-url='file:///srv/wheels https://more.example.com/simple'
END
;; *) echo https://index.example.org/simple files.example.org;; esac`;
  expect(await configured({ ...none, python3: mirror })).toEqual({
    hosts: ['pip.example.com', 'more.example.com'],
    variables: {
      PIP_INDEX_URL: 'https://pip.example.com/simple',
      PIP_EXTRA_INDEX_URL: 'https://more.example.com/simple',
      UV_DEFAULT_INDEX: 'https://pip.example.com/simple',
    },
  });
  const { hosts } = await configured({ ...none, python3: mirror }, { UV_INDEX_URL: 'https://uv.example.com/simple' });
  expect(hosts).toContain('uv.example.com');
});

test('go, gem, Bundler, yarn and cargo', async () => {
  const tools = {
    ...none,
    go: 'echo "https://go.example.org,direct"; echo "sum.example.org+abc https://sums.example.org/sumdb"',
    gem: 'echo "*** CURRENT SOURCES ***"; echo; echo https://gems.example.org/',
    bundle: 'echo "gems.example.org=user:hunter2"; echo "mirror.https://gems.example.org/=https://ruby.example.com/"',
    yarn: 'case "$*" in *npmRegistryServer) echo https://yarn.example.org;; *) exit 1;; esac',
  };
  const home = await mkdtemp(join(tmpdir(), 'egress-cargo-'));
  homes.push(home);
  const cargo =
    '[source.crates-io]\nreplace-with = "m"\n[source.m]\nregistry = "sparse+https://cargo.example.org/index/"';
  await writeFile(join(home, 'config.toml'), cargo);
  const hosts = ['yarn', 'go', 'sums', 'gems'].map((name) => `${name}.example.org`);
  expect(await configured(tools, { CARGO_HOME: home })).toEqual({
    hosts: [...hosts, 'ruby.example.com', 'cargo.example.org'],
    variables: {
      GOPROXY: 'https://go.example.org/,direct',
      YARN_REGISTRY: 'https://yarn.example.org/',
      YARN_NPM_REGISTRY_SERVER: 'https://yarn.example.org/',
    },
  });
});

test('apt: both formats of its sources', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'egress-apt-'));
  homes.push(folder);
  await mkdir(join(folder, 'sources.list.d'));
  const old =
    '# deb http://off.example.org/ x main\ndeb [signed-by=/k.gpg] http://deb.example.org/debian stable main\n';
  await writeFile(join(folder, 'sources.list'), old);
  await writeFile(
    join(folder, 'sources.list.d/a.sources'),
    'Types: deb\nURIs: https://a.example.org https://b.example.org\n',
  );
  await writeFile(join(folder, 'sources.list.d/a.save'), 'deb http://saved.example.org/ x main\n');
  const { addresses } = await apt(folder);
  expect(addresses.map((each) => new URL(each).hostname)).toEqual(
    ['deb', 'a', 'b'].map((name) => `${name}.example.org`),
  );
});

test('what cannot be allowed, and answers that make no sense, are left out', async () => {
  const tools = {
    ...none,
    npm: npm({ registry: 'http://127.0.0.1:4873/', '@a:registry': '(protected)', '@b:registry': 'file:///srv' }),
    python3: 'echo "not an address"; head -c 3000000 /dev/zero',
    go: 'echo off; echo off',
    gem: 'echo ftp://gems.example.org',
  };
  const { hosts, variables } = await configured(tools);
  expect(hosts).toEqual([]);
  expect(variables).toEqual({
    npm_config_registry: 'http://127.0.0.1:4873/',
    COREPACK_NPM_REGISTRY: 'http://127.0.0.1:4873',
  });
});

test('certificates are handed on where a sandbox can read them', async () => {
  const { variables } = await configured(
    { ...none, npm: npm({ registry: usual, cafile: '/usr/bin/env' }) },
    { SSL_CERT_FILE: '/usr/bin/env', CURL_CA_BUNDLE: '/root/ca.pem', PIP_CERT: '/usr/nothing.pem' },
  );
  expect(variables).toEqual({ SSL_CERT_FILE: '/usr/bin/env', npm_config_cafile: '/usr/bin/env' });
});

test('tools see neither settings of the service nor credentials', () => {
  const kept = {
    PATH: '/bin',
    HOME: '/root',
    npm_config_registry: usual,
    PIP_INDEX_URL: usual,
    GOPROXY: usual,
    SSL_CERT_FILE: '/x',
    NODE_EXTRA_CA_CERTS: '/x',
    GIT_SSL_CAINFO: '/x',
  };
  const dropped = {
    DATABASE_URL: 'x',
    PRIVATE_KEY: 'x',
    OPENAI_API_KEY: 'x',
    GOOGLE_APPLICATION_CREDENTIALS: 'x',
    'npm_config_//registry.example.org/:_authToken': 'x',
    CARGO_REGISTRY_TOKEN: 'x',
    UV_INDEX_A_PASSWORD: 'x',
  };
  expect(toolEnvironment({ ...kept, ...dropped })).toEqual(kept);
});

test('variables lead tools to the proxy, but not for localhost', () => {
  const { NO_PROXY, NODE_USE_ENV_PROXY, ...others } = proxyVariables(3128);
  expect([NO_PROXY, NODE_USE_ENV_PROXY]).toEqual(['localhost,127.0.0.1,::1', '1']);
  expect(new Set(Object.entries(others).map(([name, value]) => (name === 'no_proxy' ? NO_PROXY : value)))).toEqual(
    new Set([NO_PROXY, 'http://127.0.0.1:3128']),
  );
});
