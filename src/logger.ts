import pino, { type DestinationStream, type LogFn, type Logger } from 'pino';
import { PinoPretty } from 'pino-pretty';
import type { Config } from './config.ts';
import { isDatabaseAway } from './db/database.ts';
import { logFields } from './tracing/traced.ts';

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

/** After this pause without errors of the database, the next one is logged again. */
const quietMs = 60_000;

/**
 * Returns a hook that logs one error while the database is away, and not those of each job, request and schedule: there were
 * hundreds a minute. Lines with a `databaseState` tell when the state changes, so they are always logged.
 */
function onceWhileAway(): (this: Logger, args: Parameters<LogFn>, method: LogFn) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return function log(args, method) {
    const { err, databaseState } = (args[0] ?? {}) as { err?: unknown; databaseState?: string };
    if (databaseState === 'ok') lastAt = Number.NEGATIVE_INFINITY;
    if (databaseState !== undefined || !(err instanceof Error) || !isDatabaseAway(err)) return method.apply(this, args);
    const isFirst = performance.now() - lastAt > quietMs;
    lastAt = performance.now();
    if (isFirst) method.apply(this, args);
  };
}
