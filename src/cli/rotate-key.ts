import type { App } from '../app.ts';
import { compose } from '../compose.ts';
import type { Config } from '../config.ts';
import { makeNewKey } from '../db/keys.ts';
import { resealApp } from '../github/app/stored-app.ts';
import { createLogger } from '../logger.ts';
import { resealSecrets } from '../projects/secrets.ts';

/**
 * `rotate-key`: seals every secret under a new key while the service runs. A key of our own is made anew; a key of the
 * settings is the operator's: ENCRYPTION_KEY new, ENCRYPTION_KEY_PREVIOUS old, all processes restarted, then this.
 */
export async function rotateKey(config: Config): Promise<number> {
  const log = createLogger({ ...config, LOG_LEVEL: 'silent' });
  const composed = await compose(config, log, {
    attach: true,
    isWorker: false,
    stopping: new AbortController().signal,
  });
  try {
    const isOurs = config.ENCRYPTION_KEY === undefined;
    if (isOurs) {
      // First nothing may depend on the key before the present one, because that one goes.
      await resealAll(composed.app);
      await makeNewKey(config.DATA_DIR);
    }
    const count = await resealAll(composed.app);
    process.stdout.write(`${count} secrets are sealed under the ${isOurs ? 'new' : 'first'} key\n`);
    return 0;
  } finally {
    await composed.close();
  }
}

async function resealAll(app: App): Promise<number> {
  return (await resealSecrets(app)) + (await resealApp(app));
}
