import pino, { type DestinationStream, type LogFn, type Logger } from 'pino';
import { PinoPretty } from 'pino-pretty';
import type { Config } from './config.ts';
import { isDatabaseAway } from './db/database.ts';
import { saysOfGitHub, unreachableHost } from './outgoing/github-errors.ts';
import { logFields, logFieldsOf } from './tracing/traced.ts';

/** Paths of properties that may contain a secret. They are removed from the log. */
const secretPaths = ['token', 'password', 'authorization', 'privateKey', 'secret', 'headers', 'request', 'response'];

/** The output of the command that made a run fail. Only members of the project may see it. */
const outputPath = 'err.failure.output';

/** Creates the logger: readable lines on a terminal, JSON everywhere else. Without a destination, it writes to stdout. */
export function createLogger(
  config: Pick<Config, 'LOG_LEVEL'>,
  isTerminal = process.stdout.isTTY,
  destination?: DestinationStream,
): Logger {
  const options = {
    level: config.LOG_LEVEL,
    mixin: logFields,
    hooks: { logMethod: onceWhileAway() },
    redact: { paths: [...secretPaths.flatMap((p) => [p, `*.${p}`, `err.${p}`, `*.*.${p}`]), outputPath], remove: true },
  };
  // pino-pretty runs in this thread, so that no line is lost when the process ends.
  return isTerminal
    ? pino(options, PinoPretty({ sync: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' }))
    : pino(options, destination);
}

/**
 * Logs that a part of the service failed, with the ids of what it was working on, although that is over, and with what GitHub
 * has to do with it.
 */
export function logFailure(log: Logger, error: unknown, what: string): void {
  const github = saysOfGitHub(error);
  log.error({ ...logFieldsOf(error), err: error }, `${what} failed${github === undefined ? '' : `: ${github}`}`);
}

/** After this pause without errors of a server that was away, the next one is logged again. */
const quietMs = 60_000;
/** While it stays away, one error is logged in this time. */
const reminderMs = 10 * 60_000;

const database = 'the database';

/**
 * Returns a hook that logs one error while the database or GitHub cannot be reached, and one every ten minutes, and not those of
 * each job, request and schedule: there were hundreds a minute. Lines with a `databaseState` tell when the state changes, so they
 * are always logged, and so are fatal errors.
 */
function onceWhileAway(): (this: Logger, args: Parameters<LogFn>, method: LogFn, level: number) => void {
  const outages = new Map<string, { lastAt: number; loggedAt: number }>();
  return function log(args, method, level) {
    const { err, databaseState } = (args[0] ?? {}) as { err?: unknown; databaseState?: string };
    if (databaseState === 'ok') outages.delete(database);
    const isUsual = databaseState === undefined && level < pino.levels.values.fatal!;
    const away = isUsual && err instanceof Error ? serverAway(err) : undefined;
    if (away === undefined) return method.apply(this, args);
    const now = performance.now();
    const { lastAt, loggedAt } = outages.get(away) ?? { lastAt: Number.NEGATIVE_INFINITY, loggedAt: 0 };
    const isDue = now - lastAt > quietMs || now - loggedAt > reminderMs;
    outages.set(away, { lastAt: now, loggedAt: isDue ? now : loggedAt });
    if (isDue) method.apply(this, args);
  };
}

const serverAway = (error: Error) => (isDatabaseAway(error) ? database : unreachableHost(error));
