import { resealMcpHeaders } from '../agents/mcp/operations.ts';
import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import { makeNewKey } from '../db/keys.ts';
import { resealEnvironmentSecrets } from '../environment/secrets/operations.ts';
import { resealApp } from '../github/app/stored-app.ts';
import { resealSecrets } from '../projects/secrets.ts';
import { withApp } from './with-app.ts';

/**
 * Runs the `rotate-key` command: encrypts every secret with a new key while the service runs. A key in the data folder
 * is replaced by this command. If the key is a setting, the operator first sets ENCRYPTION_KEY to the new key and
 * ENCRYPTION_KEY_PREVIOUS to the old one, restarts all processes, and then runs this.
 */
export async function rotateKey(config: Config): Promise<number> {
  return withApp(config, async (app) => {
    const isOurs = config.ENCRYPTION_KEY === undefined;
    if (isOurs) {
      // Creating a key deletes the one before the current key, so re-encrypt all secrets with the current key first.
      await resealAll(app);
      await makeNewKey(config.DATA_DIR);
    }
    const count = await resealAll(app);
    process.stdout.write(`${count} secrets are encrypted with ${isOurs ? 'the new key' : 'ENCRYPTION_KEY'}\n`);
    return 0;
  });
}

async function resealAll(app: App): Promise<number> {
  const stores = [resealSecrets, resealMcpHeaders, resealEnvironmentSecrets, resealApp];
  let count = 0;
  for (const reseal of stores) count += await reseal(app);
  return count;
}
