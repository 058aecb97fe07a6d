import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Composed, compose } from '../compose.ts';
import { type Config, ConfigError } from '../config.ts';
import { NotMigrated } from '../db/database.ts';
import { clusterFolder } from '../db/embedded/embedded.ts';
import { createLogger } from '../logger.ts';

/** One line of the `doctor` command. */
export interface Finding {
  what: string;
  /** `todo` marks something that is not configured yet, which is not an error. */
  state: 'ok' | 'todo' | 'FAIL';
  says: string;
  /** An address to open, printed on a separate line so that it can be copied. */
  address?: string;
}

/** Opens what the service uses, without changing its database. Returns what is wrong if that is not possible. */
export function openToLook(config: Config): Promise<Composed | Finding> {
  return open(config).catch((error) => databaseProblem(config, error));
}

async function open(config: Config): Promise<Composed | Finding> {
  if (config.DATABASE_URL === undefined && !existsSync(join(await clusterFolder(config.DATA_DIR), 'PG_VERSION')))
    return newDatabase(`${config.DATA_DIR} contains no database yet`);
  const log = createLogger({ ...config, LOG_LEVEL: 'silent' });
  const stopping = new AbortController().signal;
  return compose(config, log, { attach: true, isWorker: false, looksOnly: true, stopping });
}

function newDatabase(says: string): Finding {
  const next = '"npm start" or "npm run migrate" makes its tables; after that, run this again for the other checks';
  return { what: 'database', state: 'todo', says: `${says}; ${next}` };
}

/** At most this many migrations are named. */
const maxMigrations = 10;

function databaseProblem(config: Config, error: unknown): Finding {
  const [what, state] = ['database', 'FAIL'] as const;
  if (error instanceof ConfigError) return { what: 'settings', state, says: error.message };
  if (error instanceof NotMigrated && error.isNew) return newDatabase('it is empty');
  if (error instanceof NotMigrated) {
    const { missing } = error;
    const names = missing.slice(0, maxMigrations).join(', ');
    const which = `${names}${missing.length > maxMigrations ? ` and ${missing.length - maxMigrations} more` : ''}`;
    const says = `it lacks migrations of this version: ${which}. "npm run migrate" or a start of this version runs them; this command changes nothing, and the other checks need them`;
    return { what, state, says };
  }
  const where = config.DATABASE_URL === undefined ? `embedded, under ${config.DATA_DIR}` : 'DATABASE_URL';
  return { what, state, says: `${where}: ${(error as Error).message.replace(/^DATABASE_URL: /, '')}` };
}
