import { apiOf, type Service, until } from '../../../demo/real-service.ts';
import { readConfig } from '../../../src/config.ts';
import { createLogger } from '../../../src/logger.ts';
import { serveUntilStopped } from '../../../src/serve.ts';

/** Starts the service with exactly these settings in the process of the test, and waits until it is ready. */
export async function startServiceHere(settings: Record<string, string>): Promise<Service> {
  const config = readConfig(settings);
  let log = '';
  const logger = createLogger(config, false, {
    write: (line) => {
      log += line;
    },
  });
  const stop = new AbortController();
  let failure: Error | undefined;
  const ended = serveUntilStopped(config, logger, stop).catch((error: Error) => {
    failure = error;
  });
  const url = config.BASE_URL;
  await until('the service to be ready', async () => {
    if (failure) throw failure;
    return (await fetch(`${url}/readyz`).catch(() => undefined))?.ok;
  });
  return {
    url,
    log: () => log,
    api: apiOf(url),
    stop: async () => {
      stop.abort(new Error('stopping'));
      await ended;
      if (failure) throw failure;
    },
  };
}
