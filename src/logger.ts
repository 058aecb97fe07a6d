import pino, { type Logger } from 'pino';
import { PinoPretty } from 'pino-pretty';
import type { Config } from './config.ts';

/** Properties that may contain a secret. They are removed at these paths. */
const secretPaths = ['token', 'password', 'authorization', 'privateKey', 'secret', 'headers', 'request', 'response'];

/** The logger: lines for people on a terminal, JSON everywhere else. */
export function createLogger(config: Pick<Config, 'LOG_LEVEL'>, isTerminal = process.stdout.isTTY): Logger {
  const options = {
    level: config.LOG_LEVEL,
    redact: { paths: secretPaths.flatMap((p) => [p, `*.${p}`, `err.${p}`, `*.*.${p}`]), remove: true },
  };
  // pino-pretty runs in this thread, so that nothing is lost when the process ends.
  return isTerminal
    ? pino(options, PinoPretty({ sync: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' }))
    : pino(options);
}
