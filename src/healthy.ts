import { ConfigError, readConfig } from './config.ts';
import { whatIsWrong } from './host/heartbeat.ts';

// `node src/healthy.ts`, run with the settings of a running process, exits with 0 if that process is healthy, otherwise
// with 1 and the reason. It is a separate program because containers run it every few seconds and main.ts loads the
// whole service.
const problem = await Promise.resolve()
  .then(() => whatIsWrong(readConfig()))
  .catch((error: Error) => (error instanceof ConfigError ? error.problems.join('\n') : error.message));
process.stdout.write(`${problem ?? 'ok'}\n`);
process.exitCode = problem === undefined ? 0 : 1;
