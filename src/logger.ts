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

const database = 'the database';

/**
 * Returns a hook that logs one error while the database or GitHub cannot be reached, and not those of each job, request and
 * schedule: there were hundreds a minute. Lines with a `databaseState` tell when the state changes, so they are always logged.
 */
function onceWhileAway(): (this: Logger, args: Parameters<LogFn>, method: LogFn) => void {
  const lastAt = new Map<string, number>();
  return function log(args, method) {
    const { err, databaseState } = (args[0] ?? {}) as { err?: unknown; databaseState?: string };
    if (databaseState === 'ok') lastAt.delete(database);
    const away = databaseState === undefined && err instanceof Error ? serverAway(err) : undefined;
    if (away === undefined) return method.apply(this, args);
    const isFirst = performance.now() - (lastAt.get(away) ?? Number.NEGATIVE_INFINITY) > quietMs;
    lastAt.set(away, performance.now());
    if (isFirst) method.apply(this, args);
  };
}

const serverAway = (error: Error) => (isDatabaseAway(error) ? database : unreachableHost(error));
