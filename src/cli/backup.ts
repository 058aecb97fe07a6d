import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { backUp, restore } from '../db/embedded/backup.ts';
import { skipSinceBackup } from '../github/inbox/after-restore.ts';
import { revokeAllTokens } from '../projects/store.ts';
import { withApp } from './operator.ts';

function folderOf([folder, ...others]: string[], command: string): string {
  if (folder === undefined || folder.startsWith('-') || others.length > 0)
    throw new Error(`give one folder: npm run ${command} -- /path/to/backup`);
  return resolve(folder);
}

/** @throws Error if the database is not the embedded one */
function assertEmbedded({ DATABASE_URL }: Config, instead: string): void {
  if (DATABASE_URL !== undefined)
    throw new Error(`DATABASE_URL is set, so this is not the embedded database; use ${instead} and keep your settings`);
}

/** Runs `backup FOLDER`: copies the embedded database and the generated keys, while the service runs or not. */
export async function backupCommand(config: Config, args: string[]): Promise<number> {
  const folder = folderOf(args, 'backup');
  assertEmbedded(config, 'pg_dump -Fc');
  await backUp(config.DATA_DIR, folder);
  process.stdout.write(
    `the database and its keys are in ${folder}; with the keys, everybody who has this folder can read the stored secrets\n`,
  );
  return 0;
}

/** Runs `restore FOLDER`: replaces the embedded database and the generated keys. */
export async function restoreCommand(config: Config, args: string[]): Promise<number> {
  const folder = folderOf(args, 'restore');
  assertEmbedded(config, 'pg_restore --clean');
  const kept = await restore(config.DATA_DIR, folder);
  const rest = kept.map((path) => `what was there before is kept as ${path}\n`).join('');
  process.stdout.write(
    `the backup is restored\n${rest}before you start the service, run "npm run restored", or it repeats commands since the backup\n`,
  );
  return 0;
}

/**
 * Runs `restored [--revoke-tokens]`: lets a restored database go on from now, and lists what it skipped. Tokens that were
 * revoked since the backup are valid again in it, unless all are revoked.
 */
export async function restoredCommand(config: Config, args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { 'revoke-tokens': { type: 'boolean', default: false } } });
  return withApp(config, async (app) => {
    const revoked = values['revoke-tokens'] ? await revokeAllTokens(app.db.manager) : undefined;
    const tokens =
      revoked === undefined
        ? 'tokens and sessions that were revoked since the backup are valid again: "npm run restored -- --revoke-tokens" revokes all'
        : `${revoked} tokens and sessions are revoked: everybody signs in again and makes new tokens`;
    process.stdout.write(`${tokens}\n`);
    const skipped = await skipSinceBackup(app);
    for (const line of skipped) process.stdout.write(`skipped: ${line}\n`);
    const tasks =
      'tasks that are younger than the backup are made from their open pull requests when somebody starts them';
    process.stdout.write(`${skipped.length} skipped; the service goes on from now. ${tasks}\n`);
    return 0;
  });
}
