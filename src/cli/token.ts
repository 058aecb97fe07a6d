import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { claimOwnerships } from '../github/app/installation.ts';
import { mintOperatorToken, userOfLogin } from '../projects/tokens.ts';
import { withApp } from './with-app.ts';

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
