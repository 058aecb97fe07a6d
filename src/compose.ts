import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { createAppAuth } from '@octokit/auth-app';
import { request } from '@octokit/request';
import OpenAI from 'openai';
import type { Logger } from 'pino';
import { Probot, ProbotOctokit } from 'probot';
import { migrations } from '../migrations/list.ts';
import type { App, GitHub, Octokit } from './app.ts';
import { openAudit } from './audit/audit.ts';
import { type Config, ConfigError, certificateEnvironment, type GitHubAppConfig, toolEnvironment } from './config.ts';
import {
  clearLeftovers,
  makeWorkFolder,
  openDataFolders,
  removeWorkFolder,
  writeCertificates,
} from './data-folders.ts';
import { PooledClient } from './db/client.ts';
import { type Database, openDatabase } from './db/database.ts';
import { startEmbedded } from './db/embedded/embedded.ts';
import { keyProblem } from './db/key-check.ts';
import { type Keys, readKeys, secretBox } from './db/sealed.ts';
import { assertUsable } from './db/usable.ts';
import { withoutSecrets } from './domain/secrets.ts';
import { egressDoor } from './egress/egress.ts';
import { patient } from './git/attempts.ts';
import type { GitEngine } from './git/engine.ts';
import { isomorphicProcess } from './git/javascript/isomorphic-process.ts';
import { cached } from './git/native/cached.ts';
import { nativeGit } from './git/native/native.ts';
import { tracedEngine } from './git/traced-engine.ts';
import { githubApp } from './github/app/client.ts';
import { keepPace, type Pace, withoutToken } from './github/app/pacing.ts';
import { adoptStoredApp } from './github/app/stored-app.ts';
import { registerWebhooks } from './github/inbox/events.ts';
import { closedExcept } from './host/closed-address.ts';
import { readDatabaseUrl } from './host/database-url.ts';
import { connectionGauges, createMetrics, type Metrics } from './http/metrics.ts';
import { type Images, openImages } from './images/images.ts';
import { checkedRegistryAddress } from './images/registry/authorize.ts';
import { jobs, tenantOf } from './jobs.ts';
import { measured } from './llm/measured.ts';
import type { ModelSource } from './llm/model.ts';
import { type ModelServer, openaiModels } from './llm/openai.ts';
import { withReadableErrors } from './llm/refusals/failure.ts';
import { logFailure } from './logger.ts';
import { fetchFromGitHub, fetchFromModel } from './outgoing/fetch-from.ts';
import { fittingTexts } from './outgoing/fit-texts.ts';
import { type Mail, openMail } from './outgoing/mail.ts';
import { pinnedFetch } from './outgoing/pinned-fetch.ts';
import { closedQueue, openQueue } from './queue/queue.ts';
import { openLiveRuns } from './runs/live-runs.ts';
import { removeTree } from './sandbox/neutral-path.ts';
import type { RunLimits } from './sandbox/sandbox.ts';
import { openSandbox } from './sandbox/self-test.ts';
import { currentTenant } from './threads/tenant.ts';
import { openTraces } from './tracing/open-traces.ts';
import type { Traces } from './tracing/traced.ts';

/** A shorter password of the database or of a proxy may be an ordinary word, which could occur in any file. */
const leastPasswordLength = 16;

/** Returns the service's own credentials, in every form in which a run could publish them. */
function secretsOf({ config, githubApp }: App, keys: Keys, databaseUrl: string): string[] {
  const password = decodeURIComponent(new URL(readDatabaseUrl(databaseUrl)?.single ?? databaseUrl).password);
  const sealing = keys.encryptionKeys().flatMap((key) => [key.toString('hex'), key.toString('base64')]);
  // Every line identifies the key except the first, which is nearly the same in all keys.
  const lines = githubApp?.privateKey.split(/\r?\n/).filter((line) => /^[A-Za-z0-9+/]{64}$/.test(line)) ?? [];
  const receiptKey = config.RECEIPT_KEY?.split(/\r?\n/).filter((line) => /^[A-Za-z0-9+/=]{40,}$/.test(line)) ?? [];
  const ours = [config.OPENAI_API_KEY, keys.jwtSecret, githubApp?.client?.secret, ...(githubApp?.webhookSecrets ?? [])];
  return [
    ...ours,
    ...sealing,
    ...lines.slice(1, 4),
    ...receiptKey,
    ...[password, ...smtpPasswords(config), ...config.proxies.secrets(), ...traceKeys(config)].filter(
      ({ length }) => length >= leastPasswordLength,
    ),
  ].filter((secret) => secret !== undefined);
}

function smtpPasswords({ SMTP_URL }: Config): string[] {
  const { password } = SMTP_URL === undefined ? { password: '' } : new URL(SMTP_URL);
  return [password, decodeURIComponent(password)];
}

function traceKeys({ OTEL_EXPORTER_OTLP_HEADERS }: Config): string[] {
  return Object.values(OTEL_EXPORTER_OTLP_HEADERS).flatMap((value) => value.split(' '));
}

export interface Composed {
  app: App;
  /** Notes for the operator. */
  notes: string[];
  /** Rejects if a part that was started here ends unexpectedly. */
  broken: Promise<never>;
  /** The folder of the embedded database, if it was started here. */
  databaseFolder: string | undefined;
  close(): Promise<void>;
}

export interface ComposeOptions {
  /** Use the embedded database of a running service instead of refusing to start. */
  attach?: boolean;
  /** Whether the process works on jobs. */
  isWorker: boolean;
  /** Do not refuse to work with another encryption key than that of the stored secrets. */
  toleratesOtherKey?: boolean;
  /** Change neither the schema nor the queue, whatever `MIGRATE` says: open the database only if it is this version's. */
  looksOnly?: boolean;
  /** Aborted when the process is asked to stop; by default `stopping`. */
  draining?: AbortSignal;
  stopping: AbortSignal;
}

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

/**
 * Builds the service from the settings; no other code creates adapters. If a part fails, ends those already started.
 */
export async function compose(config: Config, log: Logger, options: ComposeOptions): Promise<Composed> {
  const begun: (() => Promise<unknown>)[] = [];
  const close = async () => {
    // A part that fails to end, such as a pool whose database is gone, must not prevent the others from ending.
    for (const end of begun.reverse())
      await end().catch((error) => log.warn({ err: error }, 'a part of the service did not end cleanly'));
  };
  try {
    const traces = await tracesOf(config, log);
    // Traces begin first and end last, because the other parts may record spans until they have ended.
    begun.push(traces.close);
    const built = await build(config, log, { ...options, traces }, (end) => begun.push(end));
    return { ...built, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function build(
  config: Config,
  log: Logger,
  options: ComposeOptions & { traces: Traces },
  atEnd: (end: () => Promise<unknown>) => void,
) {
  const folders = await openDataFolders(config.DATA_DIR);
  if (options.isWorker) await clearLeftovers(folders, log);
  const { url, notes, broken, folder: databaseFolder } = await databaseUrl(config, options.attach ?? false, atEnd);
  const db = await openDatabaseOf(options.looksOnly ? { ...config, MIGRATE: 'off' } : config, url);
  atEnd(db.close);
  const { keys, secrets } = await openSecrets(config, db, options);
  const metrics = createMetrics();
  metrics.readers.push(connectionGauges(metrics, db.connections));
  const queue = options.looksOnly ? closedQueue : await openQueueOf(config, url, options, { db, log });
  atEnd(() => queue.stop(25_000));
  const sandbox = await openSandbox({ setting: config.SANDBOX, toolsDir: folders.tools, limits: runLimits(config) });
  if (config.SANDBOX === 'bwrap' && !sandbox.state.works) throw new ConfigError([`SANDBOX: ${sandbox.state.says}`]);
  if (options.isWorker) await makeWorkFolder(folders);
  atEnd(() => removeWorkFolder(folders));
  const pace: Pace = { db, metrics, intervalMs: config.GITHUB_WRITE_INTERVAL_MS };
  const app: App = {
    version,
    config,
    keys: { jwtSecret: keys.jwtSecret },
    ownSecrets: () => secretsOf(app, keys, url),
    log,
    db,
    audit: openAudit(db, (text) => withoutSecrets(text, app.ownSecrets())),
    queue,
    secrets,
    git: patient(tracedEngine(await chooseGit(config, folders.gitCache, log))),
    sandbox,
    egress: egressDoor(config, toolEnvironment()),
    images: await imagesOf(config, folders.images, sandbox.state.works),
    models: modelsOf(config, metrics, (text, key) => withoutSecrets(text, [key, ...app.ownSecrets()])),
    github: undefined,
    githubApp: undefined,
    connectGitHub: (credentials) => {
      app.githubApp = credentials;
      app.github = connectGitHub(config, credentials, log, pace, app);
    },
    githubWithToken: (token) => keepPace(octokitWith(config, token), paceIdOf(token), pace),
    mail: mailOf(config),
    metrics,
    traces: options.traces,
    workDir: folders.work,
    keptDir: folders.kept,
    liveRuns: openLiveRuns(),
    draining: options.draining ?? options.stopping,
    stopping: options.stopping,
  };
  if (config.githubApp !== undefined) app.connectGitHub(config.githubApp);
  else if (!options.toleratesOtherKey) await adoptStoredApp(app);
  notes.push(
    `sandbox: ${sandbox.state.says}`,
    `images: ${app.images.state.says}`,
    ...noteOfPlace(config, folders.work),
  );
  return { app, notes, broken, databaseFolder };
}

/** Reads the keys. @throws ConfigError if the stored secrets are encrypted with another one */
async function openSecrets(config: Config, db: Database, { toleratesOtherKey, looksOnly = false }: ComposeOptions) {
  const { ENCRYPTION_KEY, DATA_DIR } = config;
  const keys = await readKeys(config, DATA_DIR);
  const secrets = secretBox(keys.encryptionKeys);
  const problem = toleratesOtherKey ? undefined : await keyProblem(db.manager, secrets, { looksOnly });
  const name = ENCRYPTION_KEY === undefined ? `${DATA_DIR}/encryption.key` : 'ENCRYPTION_KEY';
  if (problem !== undefined) throw new ConfigError([`${name}: ${problem}`]);
  return { keys, secrets };
}

function noteOfPlace({ DATA_DIR }: Config, workDir: string): string[] {
  if (workDir.startsWith(DATA_DIR)) return [];
  return [`workspaces are in ${dirname(workDir)}, a path that reveals nothing to agents`];
}

function openDatabaseOf({ DB_POOL_SIZE: poolSize, RUN_LEASE_SECONDS: leaseSeconds, MIGRATE }: Config, url: string) {
  return openDatabase(url, migrations, { poolSize, leaseSeconds, mayMigrate: MIGRATE === 'on', tenant: currentTenant });
}

function openQueueOf(config: Config, url: string, { isWorker }: ComposeOptions, { db, log }: Pick<App, 'db' | 'log'>) {
  return openQueue(url, jobs, {
    isWorker,
    mayMigrate: config.MIGRATE === 'on',
    tenantOf,
    Client: PooledClient,
    onError: (error, what) => logFailure(log, error, what),
    ambient: db.ambient,
  });
}

/** Returns the database URL from the settings, or that of the embedded database, which it starts. */
async function databaseUrl(config: Config, attach: boolean, atEnd: (end: () => Promise<unknown>) => void) {
  if (config.DATABASE_URL !== undefined) {
    await assertUsable(config.DATABASE_URL);
    return { url: config.DATABASE_URL, notes: [] as string[], broken: new Promise<never>(() => {}), folder: undefined };
  }
  const embedded = await startEmbedded({ dataDir: config.DATA_DIR, attach });
  atEnd(embedded.stop);
  return embedded;
}

function tracesOf(config: Config, log: Logger): Promise<Traces> {
  return openTraces(config, version, (error) => {
    if (error === undefined) log.info('traces can be sent again');
    else log.warn({ err: error }, 'traces cannot be sent; check the settings OTEL_EXPORTER_OTLP_*');
  });
}

function runLimits({ MAX_RUN_MEMORY_MB, MAX_RUN_DISK_MB, MAX_RUN_PROCESSES }: Config): RunLimits {
  return { memoryMb: MAX_RUN_MEMORY_MB, diskMb: MAX_RUN_DISK_MB, processes: MAX_RUN_PROCESSES };
}

/** Returns a `fetch` for registries. They are contacted under the same rules as hosts that runs may reach. */
export function registryFetch({ ALLOW_PRIVATE_HOSTS, EGRESS_OPEN_ADDRESSES, proxies }: Config): typeof fetch {
  const allowPrivateHosts = ALLOW_PRIVATE_HOSTS;
  const isClosed = closedExcept({ allowPrivateHosts, open: EGRESS_OPEN_ADDRESSES });
  return pinnedFetch(checkedRegistryAddress({ isClosed, allowPrivateHosts, proxies }));
}

function mailOf({ SMTP_URL, MAIL_FROM, BASE_URL }: Config): Mail | undefined {
  return SMTP_URL === undefined ? undefined : openMail(SMTP_URL, MAIL_FROM ?? `deckhand@${new URL(BASE_URL).hostname}`);
}

/** Opens the images of runs. */
function imagesOf(config: Config, folder: string, hasSandbox: boolean): Promise<Images> {
  return openImages({
    folder,
    limits: { megabytes: config.MAX_IMAGE_MB },
    // The rest is for kept environments.
    keptBytes: (config.ENVIRONMENT_CACHE_GB * 1e9) / 2,
    defaultRegistry: config.IMAGE_REGISTRY,
    send: registryFetch(config),
    hasSandbox,
    removeTree,
  });
}

/**
 * Chooses the git engine. Prefers the installed git: for a shallow clone of 3,778 files it takes 1.2 s and 14 MB,
 * isomorphic-git 5.6 s and 287 MB.
 */
async function chooseGit(
  { GIT_ENGINE, NODE_EXTRA_CA_CERTS, DATA_DIR }: Config,
  cacheDir: string,
  log: Logger,
): Promise<GitEngine> {
  const environment = certificateEnvironment();
  if (GIT_ENGINE === 'isomorphic') return isomorphicProcess({ environment });
  const native = nativeGit(await writeCertificates(NODE_EXTRA_CA_CERTS, DATA_DIR));
  const works = await native.version().then(
    () => true,
    () => false,
  );
  if (!works && GIT_ENGINE === 'native') throw new ConfigError(['GIT_ENGINE: native, but git is not installed']);
  if (!works) return isomorphicProcess({ environment });
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  return cached(native, cacheDir, (error) => log.warn({ err: error }, 'the git cache of a repository was not used'));
}

function modelsOf(config: Config, { modelSeconds, modelCost }: Metrics, clean: ModelServer['clean']): ModelSource {
  const { MODEL_ANSWER_SECONDS: seconds, OPENAI_API: api, MODEL_PRICES } = config;
  const models = openaiModels({ connect: (apiKey) => openaiClient(config, apiKey), seconds, api, clean });
  return measured(models, MODEL_PRICES, {
    took: (model, outcome, took) => modelSeconds.observe({ model, outcome }, took),
    cost: (model, usd) => modelCost.inc({ model }, usd),
  });
}

function openaiClient(config: Config, apiKey: string): OpenAI {
  const fetch = withReadableErrors(fetchFromModel(config.MODEL_ANSWER_SECONDS, { proxies: config.proxies }));
  return new OpenAI({ apiKey, baseURL: config.OPENAI_BASE_URL, maxRetries: 0, logLevel: 'off', fetch });
}

function toApi(config: Config) {
  return request.defaults({ baseUrl: config.GITHUB_API_URL, request: { fetch: fetchFromGitHub(config.proxies) } });
}

const OurOctokit = ProbotOctokit.plugin(fittingTexts);

/**
 * Returns Probot's Octokit without its plugins for retries and throttling, which repeat a POST whose response was lost.
 */
function quietOctokit(config: Config) {
  const baseUrl = config.GITHUB_API_URL;
  return OurOctokit.defaults((given: Record<string, object>) => ({
    ...given,
    baseUrl,
    userAgent: `deckhand/${version}`,
    retry: { enabled: false },
    throttle: { ...given.throttle, enabled: false },
    request: { ...given.request, fetch: fetchFromGitHub(config.proxies) },
    // Otherwise installation tokens would still be requested from api.github.com.
    auth: { ...given.auth, request: toApi(config) },
  }));
}

/**
 * Returns the number under which the calls with a token are paced. It is below those of installations and of calls without a token.
 * GitHub limits each token by itself, so a token that has to pause does not keep others waiting.
 */
const paceIdOf = (token: string) => withoutToken - 1 - createHash('sha256').update(token).digest().readUIntBE(0, 6);

function octokitWith(config: Config, token?: string): Octokit {
  const Client = OurOctokit.defaults({
    baseUrl: config.GITHUB_API_URL,
    request: { fetch: fetchFromGitHub(config.proxies) },
    retry: { enabled: false },
    throttle: { enabled: false },
  });
  return new Client(token === undefined ? { authStrategy: undefined } : { auth: { token } }) as Octokit;
}

function connectGitHub(config: Config, credentials: GitHubAppConfig, log: Logger, pace: Pace, app: App): GitHub {
  const { appId, privateKey, webhookSecrets } = credentials;
  const probot = new Probot({
    appId,
    privateKey,
    secret: webhookSecrets[0],
    baseUrl: config.GITHUB_API_URL,
    // Probot would log the whole payload of a failed delivery. Failures are logged where deliveries are handled.
    log: log.child({ name: 'probot' }, { level: 'silent' }),
    Octokit: quietOctokit(config) as unknown as typeof ProbotOctokit,
  });
  registerWebhooks(probot, app);
  const appAuth = createAppAuth({ appId, privateKey, request: toApi(config) });
  return githubApp({ probot, appAuth, pace, anonymous: keepPace(octokitWith(config), withoutToken, pace) });
}
