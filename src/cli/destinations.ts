import { getCACertificates } from 'node:tls';
import type { App } from '../app.ts';
import { registryFetch } from '../compose.ts';
import { GitFailed } from '../git/engine.ts';
import { HostClosed, resolveOnce } from '../git/remote-url.ts';
import { whyUnreachable } from '../host/through-proxy.ts';
import { fetchFromGitHub, fetchFromMcp } from '../outgoing/fetch-from.ts';
import { checkedAddress, hostRules } from '../repositories/credentials.ts';

/** One line of the `doctor` command. */
export interface Finding {
  what: string;
  /** `todo` marks something that is not configured yet, which is not an error. */
  state: 'ok' | 'todo' | 'FAIL';
  says: string;
  /** An address to open, printed on a separate line so that it can be copied. */
  address?: string;
}

/** Time limit for each destination, in seconds. */
const patienceSeconds = 15;
/** At most this many MCP servers are tried. */
const maxServers = 20;

/**
 * Describes the way to other servers if it is special, and tries the destinations that the other checks do not. GitHub is
 * tried without an App only behind a proxy, because otherwise nothing is configured yet.
 */
export async function destinations(app: App): Promise<Finding[]> {
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
