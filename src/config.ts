import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';

/** Thrown when the environment cannot be used; one line per problem, none of them holding a value that may be secret. */
export class ConfigError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

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

/** Longer than a timer of the platform can be set would end at once. */
const minutes = positive.refine((n) => n <= 20_000, 'must be at most 20000');

/** For how long something is kept; 0 is for ever. */
const days = (preset: number) => whole(0, 36_500, preset);

const httpUrl = z
  .string()
  .refine((s) => URL.canParse(s) && /^https?:$/.test(new URL(s).protocol), 'must be an http or https address')
  .transform((s) => s.replace(/\/+$/, ''));

const flag = z
  .enum(['true', 'false', '1', '0'], 'must be true or false')
  .transform((s) => s === 'true' || s === '1')
  .default(false);

const origins = z
  .string()
  .transform((s) => s.split(',').map((part) => part.trim()))
  .pipe(z.array(httpUrl.transform((s) => new URL(s).origin)))
  .default([]);

/** 32 bytes, as 64 hex digits or as base64. */
const encryptionKey = z
  .string()
  .transform((s) => (/^[0-9a-f]{64}$/i.test(s) ? Buffer.from(s, 'hex') : Buffer.from(s, 'base64')))
  .refine((key) => key.length === 32, 'must be 32 bytes, written as 64 hex digits or as base64');

const privateKey = z
  .string()
  .transform((s) => s.replaceAll('\\n', '\n').trim())
  .refine(isPrivateKey, 'must be a PEM private key (the .pem file that GitHub gave for the App)');

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
  .pipe(z.record(z.string(), z.object({ input: z.number().min(0), output: z.number().min(0) })))
  .default({});

/** GitHub's and everyone's first guesses; a receiver with one of these is open to the world. */
const guessable = new Set(['development', 'secret', 'changeme', 'change-me', 'password']);

const webhookSecret = z
  .string()
  .refine((s) => !guessable.has(s.toLowerCase()), 'is a well-known default; make a random one (openssl rand -hex 32)');

const schema = z.object({
  PORT: whole(0, 65_535, 3000),
  HOST: z.string().default('127.0.0.1'),
  BASE_URL: httpUrl.optional(),
  DATABASE_URL: z
    .string()
    .refine(
      (s) => /^postgres(ql)?:\/\//.test(s) && URL.canParse(s) && isDecodable(s),
      'must be a postgres:// address, its odd characters percent-encoded',
    )
    .optional(),
  DATA_DIR: z
    .string()
    .default('.data')
    .transform((s) => resolve(s)),
  ROLE: z.enum(['all', 'web', 'worker'], 'must be all, web or worker').default('all'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'must be a pino level such as info')
    .default('info'),
  METRICS_PORT: whole(0, 65_535, 9464),
  JWT_SECRET: z.string().min(32, 'must have 32 characters or more').optional(),
  ENCRYPTION_KEY: encryptionKey.optional(),
  ENCRYPTION_KEY_PREVIOUS: encryptionKey.optional(),
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
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: httpUrl.default('https://api.openai.com/v1'),
  OPENAI_MODEL: z.string().default(''),
  MODEL_PRICES: priceTable,
  MODEL_ANSWER_SECONDS: whole(1, 3600, 600),
  COMMAND_PREFIX: z
    .string()
    .regex(/^\/[A-Za-z0-9_-]{1,30}$/, 'must be a slash and 1 to 30 letters, digits, - or _')
    .default('/agent'),
  SANDBOX: z.enum(['auto', 'bwrap', 'off'], 'must be auto, bwrap or off').default('auto'),
  GIT_ENGINE: z.enum(['auto', 'native', 'isomorphic'], 'must be auto, native or isomorphic').default('auto'),
  ALLOW_PRIVATE_HOSTS: flag,
  MAX_CONCURRENT_RUNS: whole(1, 100, 4),
  MAX_RUN_MINUTES: minutes.default(30),
  MAX_RUN_STEPS: whole(1, 10_000, 100),
  MAX_RUN_TOKENS: whole(1, 1_000_000_000, 2_000_000),
  MAX_RUN_COST_USD: positive.default(5),
  MAX_RUN_MEMORY_MB: whole(256, 1_048_576, 4096),
  MAX_RUN_DISK_MB: whole(64, 104_857_600, 10_240),
  MAX_RUN_PROCESSES: whole(64, 1_000_000, 1024),
  MAX_PROJECT_DAY_COST_USD: positive.default(50),
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
  RECONCILE_MINUTES: whole(1, 59, 15),
  REDELIVERY_MINUTES: whole(1, 59, 5),
  KEEP_DELIVERIES: days(30),
  KEEP_RUN_EVENTS: days(90),
  KEEP_TURNS: days(30),
});

type Settings = z.infer<typeof schema>;

/** The credentials of the GitHub App; absent when the service runs without one. */
export interface GitHubAppConfig {
  appId: number;
  privateKey: string;
  webhookSecrets: string[];
  /** For sign-in; an App that was made by the setup page brings them along. */
  client?: { id: string; secret: string };
}

/** Everything the environment says, checked. `githubApp` is undefined when `APP_ID` is unset. */
export type Config = Omit<Settings, 'BASE_URL' | 'APP_ID' | 'PRIVATE_KEY' | 'PRIVATE_KEY_PATH'> & {
  BASE_URL: string;
  githubApp: GitHubAppConfig | undefined;
};

/**
 * Reads all settings (decisions, section 11) and reports every problem at once.
 * @throws ConfigError
 */
export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  // An empty value is how compose files and CI say "unset".
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = schema.safeParse(given);
  const problems = parsed.success ? [] : parsed.error.issues.map((i) => `${String(i.path[0])}: ${i.message}`);
  if (given.APP_ID !== undefined && given.WEBHOOK_SECRET === undefined)
    problems.push('WEBHOOK_SECRET: required because APP_ID is set; the same text as in the App settings on GitHub');
  const key = readPrivateKey(given, problems);
  if (given.DATABASE_URL !== undefined)
    for (const name of ['JWT_SECRET', 'ENCRYPTION_KEY'])
      if (given[name] === undefined) problems.push(`${name}: required because DATABASE_URL is set`);
  if (parsed.success && parsed.data.RUN_HEARTBEAT_SECONDS >= parsed.data.RUN_LEASE_SECONDS)
    problems.push('RUN_HEARTBEAT_SECONDS: must be less than RUN_LEASE_SECONDS, or every lease would lapse');
  if (!parsed.success || problems.length > 0) throw new ConfigError([...new Set(problems)]);
  const { BASE_URL, APP_ID, PRIVATE_KEY: _key, PRIVATE_KEY_PATH: _path, ...settings } = parsed.data;
  const { WEBHOOK_SECRET, WEBHOOK_SECRET_PREVIOUS } = settings;
  return {
    ...settings,
    BASE_URL: BASE_URL ?? `http://localhost:${settings.PORT}`,
    githubApp:
      APP_ID === undefined || key === undefined || WEBHOOK_SECRET === undefined
        ? undefined
        : {
            appId: APP_ID,
            privateKey: key,
            webhookSecrets: [WEBHOOK_SECRET, ...(WEBHOOK_SECRET_PREVIOUS ? [WEBHOOK_SECRET_PREVIOUS] : [])],
          },
  };
}

function readPrivateKey(env: Record<string, string | undefined>, problems: string[]): string | undefined {
  if (env.APP_ID === undefined) return undefined;
  if (env.PRIVATE_KEY !== undefined) return env.PRIVATE_KEY.replaceAll('\\n', '\n').trim();
  if (env.PRIVATE_KEY_PATH === undefined) {
    problems.push('PRIVATE_KEY: required because APP_ID is set; or give PRIVATE_KEY_PATH, the path of the .pem file');
    return undefined;
  }
  try {
    const pem = readFileSync(env.PRIVATE_KEY_PATH, 'utf8').trim();
    if (isPrivateKey(pem)) return pem;
    problems.push('PRIVATE_KEY_PATH: the file is not a PEM private key');
  } catch {
    problems.push('PRIVATE_KEY_PATH: the file cannot be read');
  }
  return undefined;
}

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
