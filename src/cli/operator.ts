import { parseArgs } from 'node:util';
import { rebuildFigures } from '../agents/figures.ts';
import { resealMcpHeaders } from '../agents/mcp.ts';
import type { App } from '../app.ts';
import { type ComposeOptions, compose } from '../compose.ts';
import type { Config } from '../config.ts';
import { resealKeyCheck } from '../db/key-check.ts';
import { makeNewKey } from '../db/sealed.ts';
import { resealEnvironmentSecrets } from '../environment/secrets/secrets.ts';
import { claimOwnerships } from '../github/app/installation.ts';
import { forgetUnreadableApp, resealApp } from '../github/app/stored-app.ts';
import { createLogger } from '../logger.ts';
import { resealWebhookKeys } from '../notices/webhooks/operations.ts';
import { resealSecrets } from '../projects/secrets.ts';
import { mintOperatorToken, userOfLogin } from '../projects/tokens.ts';
import { resealReceiptKeys, rotateReceiptKey } from '../runs/receipts/keys.ts';

/** Runs a command on the database of the service, which may be running, without log lines between its output. */
export async function withApp<T>(
  config: Config,
  act: (app: App) => Promise<T>,
  how: Pick<ComposeOptions, 'toleratesOtherKey' | 'looksOnly'> = {},
): Promise<T> {
  const log = createLogger({ ...config, LOG_LEVEL: 'silent' });
  const composed = await compose(config, log, {
    attach: true,
    isWorker: false,
    ...how,
    stopping: new AbortController().signal,
  });
  try {
    return await act(composed.app);
  } finally {
    await composed.close();
  }
}

/** Runs `token --login NAME [--days 90]`: prints an API token and nothing else. Creates the user if necessary, and admits them. */
export async function issueToken(config: Config, args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { login: { type: 'string' }, days: { type: 'string', default: '90' } },
  });
  const { login } = values;
  const days = Number(values.days);
  if (login === undefined || !/^[A-Za-z0-9][A-Za-z0-9-]{0,38}$/.test(login))
    throw new Error('--login: give a GitHub login, e.g. npm run --silent token -- --login octocat');
  if (!Number.isInteger(days) || days < 1 || days > 366) throw new Error('--days: give a whole number from 1 to 366');
  return withApp(config, async (app) => {
    const user = await userOfLogin(app, login);
    await claimOwnerships(app, user);
    const { token } = await mintOperatorToken(app, user, 'command line', days);
    // A token is valid only for the address that issued it. A service with another PORT or BASE_URL refuses it.
    process.stderr.write(`for the service at ${config.BASE_URL}\n`);
    process.stdout.write(`${token}\n`);
    return 0;
  });
}

/**
 * Runs the `rotate-key` command: encrypts every secret with a new key while the service runs. A key in the data folder
 * is replaced by this command. If the key is a setting, the operator first sets ENCRYPTION_KEY to the new key and
 * ENCRYPTION_KEY_PREVIOUS to the old one, restarts all processes, and then runs this. With `--lost`, the key that encrypted
 * the secrets is given up: the service starts with the present one, and the secrets have to be set again.
 */
export async function rotateKey(config: Config, args: string[] = []): Promise<number> {
  const { values } = parseArgs({ args, options: { lost: { type: 'boolean', default: false } } });
  if (values.lost) return giveUpKey(config);
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

function giveUpKey(config: Config): Promise<number> {
  const giveUp = async (app: App) => {
    await resealKeyCheck(app.db.manager, app.secrets, true);
    if (await forgetUnreadableApp(app))
      process.stdout.write('the GitHub App was forgotten; create it again, or set the one that exists\n');
    process.stdout.write(
      'the service starts with the present key; secrets that it cannot decrypt have to be set again\n',
    );
    return 0;
  };
  return withApp(config, giveUp, { toleratesOtherKey: true });
}

/** Runs `rotate-receipt-key [--revoke]`: from now on, receipts are signed with another key. */
export async function rotateReceiptKeyCommand(config: Config, args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { revoke: { type: 'boolean', default: false } } });
  return withApp(config, async (app) => {
    const { id, revoked } = await rotateReceiptKey(app, values.revoke);
    const others = values.revoke ? `${revoked} earlier keys are not listed any more` : 'earlier keys stay listed';
    process.stdout.write(`receipts are signed with the key ${id}; ${others}\n`);
    return 0;
  });
}

async function resealAll(app: App): Promise<number> {
  const stores = [
    resealSecrets,
    resealMcpHeaders,
    resealEnvironmentSecrets,
    resealWebhookKeys,
    resealReceiptKeys,
    resealApp,
  ];
  let count = 0;
  for (const reseal of stores) count += await reseal(app);
  await resealKeyCheck(app.db.manager, app.secrets);
  return count;
}

/** Runs the `rebuild-figures` command: computes the figures of agents and the counts of tasks again. */
export async function rebuildFiguresCommand(config: Config): Promise<number> {
  return withApp(config, async (app) => {
    const count = await rebuildFigures(app.db.manager);
    process.stdout.write(`the figures of agents were computed again from the runs of ${count} tasks\n`);
    return 0;
  });
}
