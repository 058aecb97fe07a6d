import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isLabel } from './domain/settings.ts';
import { hostPatternProblem } from './egress/host-names.ts';
import { isAddressRange } from './host/closed-address.ts';
import { readDatabaseUrl } from './host/database-url.ts';
import { certificatesProblem, type Proxies, readProxies } from './host/proxies.ts';
import { withSecretFiles } from './host/secret-files.ts';
import { traceSettings } from './tracing/settings.ts';

// Parsers for the values of settings. Each message completes a sentence that begins with the setting's name.

const whole = (min: number, max: number, preset: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`)
    .default(preset);

const positive = z
  .string()
  .transform(Number)
  .refine((n) => Number.isFinite(n) && n > 0, 'must be a positive number');

/** The maximum is what a Node timer can hold; a longer timer would fire immediately. */
const minutes = positive.refine((n) => n <= 20_000, 'must be at most 20000');

/** How long something is kept; 0 keeps it forever. */
const days = (preset: number) => whole(0, 36_500, preset);

/** How long something is waited for, in days and parts of days; 0 waits forever. */
const waitDays = z
  .string()
  .transform(Number)
  .refine((n) => n >= 0 && n <= 36_500, 'must be a number from 0 to 36500');

const httpUrl = z
  .string()
  .refine((s) => URL.canParse(s) && /^https?:$/.test(new URL(s).protocol), 'must be an http or https address')
  .transform((s) => s.replace(/\/+$/, ''));

const flag = z
  .enum(['true', 'false', '1', '0'], 'must be true or false')
  .transform((s) => s === 'true' || s === '1')
  .default(false);

const list = z.string().transform((s) => s.split(',').map((part) => part.trim()));

const origins = list.pipe(z.array(httpUrl.transform((s) => new URL(s).origin))).default([]);

/** Host names, comma-separated. */
const hostNames = list
  .transform((names) => names.map((name) => name.toLowerCase()))
  .refine(
    (names) => names.every((name) => hostPatternProblem(name) === undefined),
    'must be host names such as registry.example.org or *.example.org, separated by commas, without protocol or port',
  )
  .default([]);

/** Ranges of addresses, comma-separated. */
const addressRanges = list
  .refine(
    (ranges) => ranges.every(isAddressRange),
    'must be ranges of addresses such as 10.20.0.0/16, separated by commas',
  )
  .default([]);

/** A registry and perhaps a folder in it, as images are named: `registry.example.org/team`. */
const imageRegistry = z
  .string()
  .regex(
    /^(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d{1,5})?|[A-Za-z0-9-]+:\d{1,5}|localhost)(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/,
    'must be a registry such as registry.example.org, with a port and a folder if it needs them',
  );

/** Labels of a worker. As in GitHub Actions, case does not matter. */
const labels = z
  .string()
  .transform((s) => s.split(',').map((label) => label.trim().toLowerCase()))
  .refine((all) => all.every(isLabel), 'must be labels of letters, digits, ., _ or -, separated by commas')
  .default([]);

/** An encryption key: 32 bytes, as 64 hex digits or as base64. */
const encryptionKey = z
  .string()
  .transform((s) => (/^[0-9a-f]{64}$/i.test(s) ? Buffer.from(s, 'hex') : Buffer.from(s, 'base64')))
  .refine((key) => key.length === 32, 'must be 32 bytes, written as 64 hex digits or as base64');

const privateKey = z
  .string()
  .transform((s) => s.replaceAll('\\n', '\n').trim())
  .refine(isPrivateKey, 'must be a PEM private key (the .pem file that GitHub gave for the App)');

/** An Ed25519 key, which signs receipts. */
const signingKey = z
  .string()
  .transform((s) => s.replaceAll('\\n', '\n').trim())
  .refine(
    (pem) => isPrivateKey(pem) && createPrivateKey(pem).asymmetricKeyType === 'ed25519',
    'must be an Ed25519 private key in PEM (openssl genpkey -algorithm ed25519)',
  );

const price = z.number().min(0);

const priceTable = z
  .string()
  .transform((s, ctx) => {
    try {
      return JSON.parse(s) as unknown;
    } catch {
      ctx.addIssue('must be JSON like {"model":{"input":1.25,"output":10}}');
      return z.NEVER;
    }
  })
  .pipe(
    z.record(
      z.string(),
      z.object({ input: price, cachedInput: price.optional(), cacheWrite: price.optional(), output: price }),
    ),
  )
  .default({});

/** Secrets that an attacker would try first to forge a delivery; `development` is Probot's default. */
const guessable = new Set(['development', 'secret', 'changeme', 'change-me', 'password']);

const webhookSecret = z
  .string()
  .refine((s) => !guessable.has(s.toLowerCase()), 'is a well-known default; make a random one (openssl rand -hex 32)');

const databaseUrl = z
  .string()
  .refine(
    (s) => readDatabaseUrl(s) !== undefined && isDecodable(s),
    'must be a postgres:// address with special characters percent-encoded; target_session_attrs may be any, read-write or primary',
  );

const smtpUrl = z
  .string()
  .refine(
    (s) => /^smtps?:\/\/[^/]/.test(s) && URL.canParse(s) && isDecodable(s),
    'must be an smtp:// or smtps:// address with special characters percent-encoded',
  );

function isPrivateKey(pem: string): boolean {
  try {
    createPrivateKey(pem);
    return true;
  } catch {
    return false;
  }
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The settings are invalid. There is one line per problem, and none contains a value, which may be secret. */
export class ConfigError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const schema = z.object({
  PORT: whole(0, 65_535, 3000),
  HOST: z.string().default('127.0.0.1'),
  BASE_URL: httpUrl.optional(),
  DATABASE_URL: databaseUrl.optional(),
  DATA_DIR: z
    .string()
    .default('.data')
    .transform((s) => resolve(s)),
  ROLE: z.enum(['all', 'web', 'worker'], 'must be all, web or worker').default('all'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'must be a pino level such as info')
    .default('info'),
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: whole(0, 65_535, 9464),
  DRAIN_SECONDS: whole(0, 3600, 5),
  DB_POOL_SIZE: whole(2, 1000, 20),
  MIGRATE: z.enum(['on', 'off'], 'must be on or off').default('on'),
  JWT_SECRET: z.string().min(32, 'must have 32 characters or more').optional(),
  ENCRYPTION_KEY: encryptionKey.optional(),
  ENCRYPTION_KEY_PREVIOUS: encryptionKey.optional(),
  RECEIPT_KEY: signingKey.optional(),
  APP_ID: z.string().regex(/^\d+$/, 'must be the number GitHub shows for the App').transform(Number).optional(),
  PRIVATE_KEY: privateKey.optional(),
  PRIVATE_KEY_PATH: z.string().optional(),
  WEBHOOK_SECRET: webhookSecret.optional(),
  WEBHOOK_SECRET_PREVIOUS: webhookSecret.optional(),
  GITHUB_CLIENT_ID: z.string().optional(),
  GITHUB_CLIENT_SECRET: z.string().optional(),
  GITHUB_API_URL: httpUrl.default('https://api.github.com'),
  GITHUB_SERVER_URL: httpUrl.default('https://github.com'),
  GIT_HOSTS: origins,
  OPENAI_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]*$/, 'must consist of printable ASCII characters without spaces')
    .optional(),
  OPENAI_BASE_URL: httpUrl.default('https://api.openai.com/v1'),
  OPENAI_MODEL: z.string().default(''),
  OPENAI_API: z.enum(['auto', 'responses', 'chat'], 'must be auto, responses or chat').default('auto'),
  MODEL_PRICES: priceTable,
  MODEL_ANSWER_SECONDS: whole(1, 3600, 600),
  COMMAND_PREFIX: z
    .string()
    .regex(/^\/[A-Za-z0-9_-]{1,30}$/, 'must be a slash and 1 to 30 letters, digits, - or _')
    .default('/agent'),
  SANDBOX: z.enum(['auto', 'bwrap', 'off'], 'must be auto, bwrap or off').default('auto'),
  GIT_ENGINE: z.enum(['auto', 'native', 'isomorphic'], 'must be auto, native or isomorphic').default('auto'),
  ALLOW_PRIVATE_HOSTS: flag,
  NODE_EXTRA_CA_CERTS: z.string().optional(),
  EGRESS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  EGRESS_DEFAULT_HOSTS: hostNames,
  EGRESS_OPEN_ADDRESSES: addressRanges,
  RUNS_ON: labels,
  MAX_CONCURRENT_RUNS: whole(1, 100, 4),
  MAX_RUNS_PER_PROJECT: whole(0, 1_000_000, 0),
  MAX_RUN_MINUTES: minutes.default(30),
  MAX_RUN_STEPS: whole(1, 10_000, 100),
  MAX_RUN_TOKENS: whole(1, 1_000_000_000, 2_000_000),
  MAX_RUN_COST_USD: positive.default(5),
  MAX_REVIEWS_PER_DAY: whole(0, 100_000, 50),
  MAX_RUN_MEMORY_MB: whole(256, 1_048_576, 4096),
  MAX_RUN_DISK_MB: whole(64, 104_857_600, 10_240),
  MAX_RUN_PROCESSES: whole(64, 1_000_000, 1024),
  ENVIRONMENT_CACHE_GB: whole(0, 100_000, 10),
  MAX_IMAGE_MB: whole(1, 1_048_576, 4096),
  IMAGE_REGISTRY: imageRegistry.optional(),
  MAX_PROJECT_DAY_COST_USD: positive.default(50),
  MAX_PERSON_DAY_COST_USD: positive.default(20),
  SIGN_IN: z.enum(['members', 'anyone'], 'must be members or anyone').default('members'),
  RATE_LIMIT_REQUESTS: whole(0, 1_000_000, 600),
  RATE_LIMIT_MODEL: whole(0, 1_000_000, 20),
  RATE_LIMIT_STARTS: whole(0, 1_000_000, 30),
  RATE_LIMIT_ANONYMOUS: whole(0, 1_000_000, 60),
  TRUST_PROXY: whole(0, 100, 0),
  GITHUB_WRITE_INTERVAL_MS: whole(0, 60_000, 1000),
  MIRROR_INTERVAL_MS: whole(0, 3_600_000, 60_000),
  RUN_LEASE_SECONDS: whole(1, 3600, 30),
  RUN_HEARTBEAT_SECONDS: whole(1, 600, 10),
  REMOTE_RETRY_SECONDS: whole(0, 3600, 300),
  WAIT_DAYS: waitDays.default(7),
  RECONCILE_MINUTES: whole(1, 59, 15),
  REDELIVERY_MINUTES: whole(1, 59, 5),
  SMTP_URL: smtpUrl.optional(),
  MAIL_FROM: z.email('must be a mail address such as deckhand@example.com').optional(),
  KEEP_DELIVERIES: days(30),
  KEEP_RUN_EVENTS: days(90),
  KEEP_TURNS: days(30),
  AUDIT_DAYS: days(400),
  ...traceSettings,
});

type Settings = z.infer<typeof schema>;

/** The settings that may be given as the path of a file, in a setting with `_FILE` at the end of its name. */
export const secretSettings = [
  'DATABASE_URL',
  'JWT_SECRET',
  'ENCRYPTION_KEY',
  'ENCRYPTION_KEY_PREVIOUS',
  'RECEIPT_KEY',
  'PRIVATE_KEY',
  'WEBHOOK_SECRET',
  'WEBHOOK_SECRET_PREVIOUS',
  'GITHUB_CLIENT_SECRET',
  'OPENAI_API_KEY',
  'SMTP_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const satisfies (keyof Settings)[];

/** The credentials of the GitHub App. */
export interface GitHubAppConfig {
  appId: number;
  privateKey: string;
  webhookSecrets: string[];
  /** Credentials for sign-in. An App that the setup page created comes with them. */
  client?: { id: string; secret: string };
}

type Environment = Record<string, string | undefined>;

/** All settings, checked. `githubApp` is undefined if `APP_ID` is not set. */
export type Config = Omit<Settings, 'BASE_URL' | 'APP_ID' | 'PRIVATE_KEY' | 'PRIVATE_KEY_PATH'> & {
  BASE_URL: string;
  githubApp: GitHubAppConfig | undefined;
  /** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, also in lower case. */
  proxies: Proxies;
};

/**
 * Reads all settings from the environment.
 * @throws ConfigError that lists every problem
 */
export function readConfig(env: Environment = process.env): Config {
  // Compose files and CI write an empty value for a setting that is not set.
  const nonEmpty = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const { env: given, problems: ofFiles } = withSecretFiles(nonEmpty, secretSettings);
  const parsed = schema.safeParse(given);
  const key = readPrivateKey(given);
  const outside = readProxies(given);
  const certificates = certificatesProblem(given);
  const problems = [
    ...(parsed.success ? [] : parsed.error.issues.map((i) => `${String(i.path[0])}: ${i.message}`)),
    ...ofFiles,
    ...missing(given),
    ...key.problems,
    ...outside.problems,
    ...(certificates === undefined ? [] : [certificates]),
    ...(parsed.success ? contradictions(parsed.data) : []),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError([...new Set(problems)]);
  const { BASE_URL, APP_ID: _id, PRIVATE_KEY: _key, PRIVATE_KEY_PATH: _path, ...settings } = parsed.data;
  return {
    ...settings,
    BASE_URL: BASE_URL ?? `http://localhost:${settings.PORT}`,
    githubApp: appOf(parsed.data, key.pem),
    proxies: outside.proxies,
  };
}

/** What package managers read: where their files are, their settings, and where certificates are. */
const ofTools =
  /^(PATH|HOME|LANG|(npm_config|yarn|pip|uv|cargo|bundle|gem)_.*|GO[A-Z]+|.*(_CERTS?|_CERT_(FILE|DIR)|_CA_BUNDLE|CAINFO))$/i;

/**
 * Returns the part of the environment in which package managers are asked for their configuration. It has neither
 * Deckhand's settings nor credentials.
 */
export function toolEnvironment(env: Environment = process.env): Record<string, string> {
  const isPart = (name: string) => ofTools.test(name) && !/auth|token|password|secret|credential/i.test(name);
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => isPart(entry[0])));
}

/**
 * Returns the variables by which another process finds the certificates that this one trusts. Node reads them when it
 * starts.
 */
export function certificateEnvironment(env: Environment = process.env): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA'];
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** Returns the settings that others require and that are missing. */
function missing(given: Environment): string[] {
  const problems: string[] = [];
  if (given.APP_ID !== undefined && given.WEBHOOK_SECRET === undefined)
    problems.push('WEBHOOK_SECRET: required because APP_ID is set; the same text as in the App settings on GitHub');
  if (given.DATABASE_URL !== undefined)
    for (const name of ['JWT_SECRET', 'ENCRYPTION_KEY'])
      if (given[name] === undefined) problems.push(`${name}: required because DATABASE_URL is set`);
  return problems;
}

function contradictions({ RUN_HEARTBEAT_SECONDS, RUN_LEASE_SECONDS }: Settings): string[] {
  return RUN_HEARTBEAT_SECONDS < RUN_LEASE_SECONDS
    ? []
    : ['RUN_HEARTBEAT_SECONDS: must be less than RUN_LEASE_SECONDS, or every lease would lapse'];
}

function appOf(settings: Settings, privateKey: string | undefined): GitHubAppConfig | undefined {
  const { APP_ID: appId, WEBHOOK_SECRET: secret, WEBHOOK_SECRET_PREVIOUS: previous } = settings;
  if (appId === undefined || privateKey === undefined || secret === undefined) return undefined;
  return { appId, privateKey, webhookSecrets: [secret, ...(previous === undefined ? [] : [previous])] };
}

function readPrivateKey(env: Environment): { pem?: string; problems: string[] } {
  if (env.APP_ID === undefined) return { problems: [] };
  if (env.PRIVATE_KEY !== undefined) return { pem: env.PRIVATE_KEY.replaceAll('\\n', '\n').trim(), problems: [] };
  if (env.PRIVATE_KEY_PATH === undefined)
    return {
      problems: ['PRIVATE_KEY: required because APP_ID is set; or give PRIVATE_KEY_PATH, the path of the .pem file'],
    };
  try {
    const pem = readFileSync(env.PRIVATE_KEY_PATH, 'utf8').trim();
    return isPrivateKey(pem)
      ? { pem, problems: [] }
      : { problems: ['PRIVATE_KEY_PATH: the file is not a PEM private key'] };
  } catch {
    return { problems: ['PRIVATE_KEY_PATH: the file cannot be read'] };
  }
}
