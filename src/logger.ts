import pino, { type DestinationStream, type Logger } from 'pino';
import { PinoPretty } from 'pino-pretty';
import type { Config } from './config.ts';

/** Paths of properties that may contain a secret. They are removed from the log. */
const secretPaths = ['token', 'password', 'authorization', 'privateKey', 'secret', 'headers', 'request', 'response'];

/** Creates the logger: readable lines on a terminal, JSON everywhere else. Without a destination, it writes to stdout. */
export function createLogger(
  config: Pick<Config, 'LOG_LEVEL'>,
  isTerminal = process.stdout.isTTY,
  destination?: DestinationStream,
): Logger {
  const options = {
    level: config.LOG_LEVEL,
    redact: { paths: secretPaths.flatMap((p) => [p, `*.${p}`, `err.${p}`, `*.*.${p}`]), remove: true },
  };
  // pino-pretty runs in this thread, so that no line is lost when the process ends.
  return isTerminal
    ? pino(options, PinoPretty({ sync: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' }))
    : pino(options, destination);
}
