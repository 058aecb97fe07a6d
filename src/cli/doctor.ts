import { existsSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { parseArgs } from 'node:util';
import type { App } from '../app.ts';
import { registryFetch } from '../compose.ts';
import { type Config, ConfigError, readConfig } from '../config.ts';
import { inMegabytes, lowBytes } from '../data-folders.ts';
import { freeBytes } from '../db/embedded/embedded.ts';
import { readStorage, type TableSize } from '../db/storage.ts';
import { withAdvice } from '../domain/text/github-advice.ts';
import { countUnassigned } from '../environment/secrets/store.ts';
import { GitFailed } from '../git/engine.ts';
import { HostClosed, resolveOnce } from '../git/remote-url.ts';
import { webhookProblem } from '../github/app/manifest.ts';
import { setupAddress } from '../github/app/stored-app.ts';
import { listTroubledInstallations } from '../github/store.ts';
import { whyUnreachable } from '../host/through-proxy.ts';
import { ModelFailed } from '../llm/model.ts';
import { fetchFromGitHub, fetchFromMcp, fetchFromModel } from '../outgoing/fetch-from.ts';
import { checkedAddress, hostRules } from '../repositories/credentials.ts';
import { hasTitleIndex, titleIndex } from '../tasks/search-store.ts';
import { type Finding, openToLook } from './open-to-look.ts';

/** Time limit for the model server's list of models, in seconds. */
const modelSeconds = 10;
/** Time limit for the model's answer to a short question, in seconds. */
const answerSeconds = 60;

/**
 * Runs the `doctor` command: prints a line per check, with the next step where one is needed. Returns 1 if a check
 * fails, otherwise 0. Changes no schema and no data, except that it makes a one-time address where there is no App. With `--storage`, also prints the largest tables and how fast they grow.
 */
export async function doctor(args: string[] = []): Promise<number> {
  const { values } = parseArgs({ args, options: { storage: { type: 'boolean', default: false } } });
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) print({ what: 'settings', state: 'FAIL', says: problem });
    return 1;
  }
  print({ what: 'settings', state: 'ok', says: 'valid' });
  const composed = await openToLook(config);
  if ('state' in composed) {
    print(composed);
    return composed.state === 'FAIL' ? 1 : 0;
  }
  try {
    const findings = await examine(composed.app);
    findings.forEach(print);
    if (values.storage) (await storage(composed.app)).forEach(print);
    return findings.some((f) => f.state === 'FAIL') ? 1 : 0;
  } finally {
    await composed.close();
  }
}

/** Checks everything that the service uses. The settings must be valid and the database open. */
export async function examine(app: App): Promise<Finding[]> {
  const { config } = app;
  return [
    node(),
    await database(app),
    await disk(config),
    sandbox(app),
    await network(app),
    images(app),
    ...(await secrets(app)),
    await git(app),
    ...(await destinations(app)),
    await github(app),
    ...(await installations(app)),
    ...webhooks(app),
    ...(await mail(app)),
    await model(app),
  ];
}

function print({ what, state, says, address }: Finding): void {
  process.stdout.write(`${state.padEnd(4)}  ${what.padEnd(9)} ${says}\n`);
  if (address !== undefined) process.stdout.write(`${' '.repeat(16)}${address}\n`);
}

/** Warns of secrets that set-ups may wait for. Upgrades leave them so, because nobody has decided who may use them. */
async function secrets({ db }: App): Promise<Finding[]> {
  const count = await countUnassigned(db.manager);
  if (count === 0) return [];
  const which = count === 1 ? '1 environment secret belongs' : `${count} environment secrets belong`;
  const says = `${which} to no repository, so no set-up can use ${count === 1 ? 'it' : 'them'}; admins assign secrets in the settings of their projects`;
  return [{ what: 'secrets', state: 'todo', says }];
}

function node(): Finding {
  const what = 'node';
  if (Number(process.versions.node.split('.')[0]) >= 24) return { what, state: 'ok', says: process.version };
  const says = `${process.version}, but version 24 or newer is needed: start the service with npm, which brings its own`;
  return { what, state: 'FAIL', says };
}

async function database({ config, db }: App): Promise<Finding> {
  const where = config.DATABASE_URL === undefined ? 'embedded PostgreSQL' : 'reachable';
  const slow = (await hasTitleIndex(db.manager))
    ? ''
    : `; searching titles would be faster with an index: ${titleIndex}`;
  return { what: 'database', state: 'ok', says: `${where}, up to date${slow}` };
}

/** At most this many tables are listed. */
const maxTables = 15;

/** Lists the largest tables, so that operators see what grows and which setting would make it smaller. */
export async function storage({ db }: Pick<App, 'db'>): Promise<Finding[]> {
  const { countedSince, tables } = await readStorage(db.manager, maxTables);
  const days = Math.max(1, Math.round((Date.now() - countedSince.getTime()) / 86_400_000));
  const line = ({ name, bytes, rows, rowsPerDay }: TableSize): Finding => {
    const growth = `${rowsPerDay < 0 ? '' : '+'}${Math.round(rowsPerDay)} a day`;
    return {
      what: 'storage',
      state: 'ok',
      says: `${name}: ${inMegabytes(bytes)}, ${Math.round(rows)} rows (${growth})`,
    };
  };
  const about = `the largest tables; growth is the average of ${days === 1 ? 'a day' : `${days} days`}`;
  return [{ what: 'storage', state: 'ok', says: about }, ...tables.map(line)];
}

async function disk({ DATA_DIR }: Config): Promise<Finding> {
  const free = await freeBytes(DATA_DIR);
  const isLow = free < lowBytes;
  const says = `${inMegabytes(free)} free for ${DATA_DIR}${isLow ? '; free some space there' : ''}`;
  return { what: 'disk', state: isLow ? 'FAIL' : 'ok', says };
}

function sandbox({ config, sandbox: { state } }: App): Finding {
  const isFine = state.works || config.SANDBOX === 'off';
  const hasRipgrep = existsSync('/usr/bin/rg') || existsSync('/usr/local/bin/rg');
  const slow = hasRipgrep ? '' : '; agents search faster with ripgrep (apt-get install ripgrep)';
  return { what: 'sandbox', state: isFine ? 'ok' : 'FAIL', says: `${state.says}${slow}` };
}

async function network({ egress }: App): Promise<Finding> {
  const what = 'network';
  const { isOn, hosts, problems } = await egress.examine();
  if (!isOn) return { what, state: 'ok', says: 'EGRESS=off: commands reach no host' };
  if (problems.length > 0) return { what, state: 'todo', says: problems.join('; ') };
  if (hosts.length > 0) return { what, state: 'ok', says: `by default, set-up reaches ${hosts.join(', ')}` };
  const says =
    'no tool on this machine names a package registry; list the hosts that set-up may reach in EGRESS_DEFAULT_HOSTS';
  return { what, state: 'todo', says };
}

/** Images are optional: only repositories that ask for one need them. */
function images({ images: { state } }: App): Finding {
  return { what: 'images', state: state.works ? 'ok' : 'todo', says: state.says };
}

async function git({ git: engine }: App): Promise<Finding> {
  const slow = engine.name === 'isomorphic' ? '; git itself would be faster (apt-get install git)' : '';
  return { what: 'git', state: 'ok', says: `${await engine.version()}${slow}` };
}

async function github(app: App): Promise<Finding> {
  const what = 'github';
  const address = await setupAddress(app);
  if (app.github === undefined) {
    const says = 'no GitHub App is configured; open this address to create one (it works once):';
    return { what, state: 'todo', says, ...(address === undefined ? {} : { address }) };
  }
  const { GITHUB_API_URL } = app.config;
  try {
    return { what, state: 'ok', says: `${GITHUB_API_URL} knows the App ${await app.github.slug()}` };
  } catch (error) {
    return { what, state: 'FAIL', says: `${GITHUB_API_URL} ${githubProblem(error)}` };
  }
}

function githubProblem(error: unknown): string {
  const { status = 500, message } = error as { status?: number; message: string };
  if (status === 401) return 'refused the key: APP_ID and PRIVATE_KEY must belong to the same App';
  if (status < 500) return withAdvice(`answered HTTP ${status}: ${message}`);
  return `cannot be reached (${whyUnreachable(error)}); check GITHUB_API_URL and the network`;
}

/** Names the accounts that GitHub does not let the service work for, as the service saw them last. */
async function installations(app: App): Promise<Finding[]> {
  const found = await listTroubledInstallations(app.db.manager);
  return found.map(({ reason }) => ({ what: 'account', state: 'todo', says: reason }));
}

/**
 * Warns if GitHub could not reach the webhook address that the setup page would register. Checks nothing when an App is
 * configured, because that App has its own webhook address.
 */
function webhooks({ github: connected, config }: App): Finding[] {
  const problem = connected === undefined ? webhookProblem(config) : undefined;
  return problem === undefined ? [] : [{ what: 'webhooks', state: 'todo', says: problem }];
}

/** Signs in to the mail server, if there is one. */
async function mail({ mail: sender, config }: App): Promise<Finding[]> {
  if (sender === undefined || config.SMTP_URL === undefined) return [];
  const what = 'mail';
  const { host } = new URL(config.SMTP_URL);
  try {
    await sender.verify();
    return [{ what, state: 'ok', says: `${host} takes mail` }];
  } catch (error) {
    return [{ what, state: 'FAIL', says: `${host} cannot be used (${whyUnreachable(error)}); check SMTP_URL` }];
  }
}

async function model(app: App): Promise<Finding> {
  const what = 'model';
  const { config } = app;
  const { OPENAI_API_KEY: key, OPENAI_MODEL: name, OPENAI_BASE_URL: server } = config;
  const missing = [...(key ? [] : ['OPENAI_API_KEY']), ...(name ? [] : ['OPENAI_MODEL'])];
  if (!key || !name) {
    const says = `set ${missing.join(' and ')}, or give each project a model token and each agent a model; proofs of pull requests (\`prove: everyone\` in .deckhand.yml) need no model`;
    return { what, state: 'todo', says };
  }
  const headers = { Authorization: `Bearer ${key}` };
  const list = fetchFromModel(modelSeconds, { proxies: config.proxies })(`${server}/models`, { headers });
  const response = await list.catch((error: Error) => error);
  if (response instanceof Error) {
    const says = `${server} cannot be reached (${whyUnreachable(response)}); check OPENAI_BASE_URL and the network`;
    return { what, state: 'FAIL', says };
  }
  if (response.status === 401 || response.status === 403)
    return { what, state: 'FAIL', says: `${server} answered HTTP ${response.status}; check OPENAI_API_KEY` };
  // Other errors do not decide: some gateways list no models. The answer to a question does.
  const answer = await app.models
    .withKey(name, key)
    .reply([{ role: 'user', content: 'Reply with the word "ready".' }], [], AbortSignal.timeout(1000 * answerSeconds))
    .catch((error: Error) => error);
  if (answer instanceof ModelFailed) return { what, state: 'FAIL', says: `${name} at ${server}: ${answer.message}` };
  if (answer instanceof Error)
    return { what, state: 'FAIL', says: `${name} at ${server} did not answer within ${answerSeconds} s` };
  const api = answer.wire === 'responses' ? 'the Responses API' : 'the Chat Completions API';
  if (!Object.hasOwn(config.MODEL_PRICES, name))
    return {
      what,
      state: 'todo',
      says: `${name} answers through ${api}; add its price to MODEL_PRICES, because without it dollar budgets do not count`,
    };
  return { what, state: 'ok', says: `${name} at ${server}, through ${api}` };
}

/** Time limit for each destination, in seconds. */
const patienceSeconds = 15;
/** At most this many MCP servers are tried. */
const maxServers = 20;

/**
 * Describes the way to other servers if it is special, and tries the destinations that the other checks do not. GitHub is
 * tried without an App only behind a proxy, because otherwise nothing is configured yet.
 */
async function destinations(app: App): Promise<Finding[]> {
  const { config } = app;
  const isSpecial = config.proxies.describe() !== undefined || config.NODE_EXTRA_CA_CERTS !== undefined;
  const isUsed = isSpecial || app.github !== undefined;
  const found = await Promise.all([
    isSpecial && app.github === undefined ? api(app) : [],
    isUsed ? gitHost(app) : [],
    mcpServers(app),
    registry(app),
  ]);
  return [...proxy(app), ...certificates(app), ...found.flat()];
}

function proxy({ config }: App): Finding[] {
  const described = config.proxies.describe();
  if (described === undefined) return [];
  const says = `${described}; hosts behind it are checked by name and not by address, because the proxy resolves them, so let it refuse private addresses`;
  return [{ what: 'proxy', state: 'ok', says }];
}

/** Node reads the file when it starts, and not if the variable is set later. */
function certificates({ config }: App): Finding[] {
  const what = 'certs';
  const { NODE_EXTRA_CA_CERTS: file } = config;
  if (file === undefined) return [];
  const count = getCACertificates('extra').length;
  const says =
    count > 0
      ? `${count} further certificates of NODE_EXTRA_CA_CERTS are trusted`
      : 'NODE_EXTRA_CA_CERTS is set, but Node did not read it when it started; set it in the environment in which the service is started';
  return [
    {
      what,
      state: count > 0 ? 'ok' : 'FAIL',
      says: count === 1 ? says.replace('certificates', 'certificate').replace(' are ', ' is ') : says,
    },
  ];
}

async function api({ config }: App): Promise<Finding[]> {
  const { GITHUB_API_URL: url, proxies } = config;
  return reached('github', url, 'GITHUB_API_URL', () =>
    fetchFromGitHub(proxies)(`${url}/meta`, { signal: AbortSignal.timeout(patienceSeconds * 1000) }),
  );
}

/** Asks the git host for a repository that nobody has. A refusal shows that git itself finds the way. */
async function gitHost(app: App): Promise<Finding[]> {
  const what = 'git host';
  const host = app.config.GITHUB_SERVER_URL;
  const url = `${host}/deckhand-doctor/none`;
  try {
    const route = await resolveOnce(url, hostRules(app));
    await app.git.listBranches({ url, ...route, limitSeconds: patienceSeconds, patienceSeconds });
  } catch (error) {
    if (!(error instanceof GitFailed || error instanceof HostClosed)) throw error;
    const isAnswer = error instanceof GitFailed && ['auth', 'missing'].includes(error.fault);
    if (!isAnswer) return [{ what, state: 'FAIL', says: `${host}: ${error.message}` }];
  }
  return [{ what, state: 'ok', says: `git reaches ${host}` }];
}

/** Tries the MCP servers of all projects. They are up to the projects, so one that is down is no error here. */
async function mcpServers(app: App): Promise<Finding[]> {
  const rows: { url: string }[] = await app.db.manager.query(
    'select distinct url from mcp_servers order by url limit $1',
    [maxServers],
  );
  const send = fetchFromMcp(checkedAddress(app));
  const tried = rows.map(async ({ url }) => {
    const [finding] = await reached('mcp', url, 'the address in the settings of the project', () =>
      send(url, { signal: AbortSignal.timeout(patienceSeconds * 1000) }),
    );
    return finding?.state === 'FAIL' ? [{ ...finding, state: 'todo' as const }] : [];
  });
  const problems = (await Promise.all(tried)).flat();
  if (problems.length > 0 || rows.length === 0) return problems;
  return [{ what: 'mcp', state: 'ok', says: `${rows.length} ${rows.length === 1 ? 'server' : 'servers'} reached` }];
}

async function registry({ config }: App): Promise<Finding[]> {
  if (config.IMAGE_REGISTRY === undefined) return [];
  const [host = ''] = config.IMAGE_REGISTRY.split('/');
  return reached('registry', host, 'IMAGE_REGISTRY', () =>
    registryFetch(config)(`https://${host}/v2/`, { signal: AbortSignal.timeout(patienceSeconds * 1000) }),
  );
}

/** Sends a request. Every answer counts, because only the way is tried. */
async function reached(what: string, name: string, setting: string, send: () => Promise<Response>): Promise<Finding[]> {
  try {
    const answer = await send();
    await answer.body?.cancel();
    return [{ what, state: 'ok', says: `${name} answers` }];
  } catch (error) {
    return [
      {
        what,
        state: 'FAIL',
        says: `${name} could not be reached (${whyUnreachable(error)}); check ${setting} and the network`,
      },
    ];
  }
}
