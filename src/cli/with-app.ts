import type { App } from '../app.ts';
import { compose } from '../compose.ts';
import type { Config } from '../config.ts';
import { createLogger } from '../logger.ts';

/** Runs a command on the database of the service, which may be running, without log lines between its output. */
export async function withApp<T>(config: Config, act: (app: App) => Promise<T>): Promise<T> {
  const log = createLogger({ ...config, LOG_LEVEL: 'silent' });
  const composed = await compose(config, log, {
    attach: true,
    isWorker: false,
    stopping: new AbortController().signal,
  });
  try {
    return await act(composed.app);
  } finally {
    await composed.close();
  }
}
