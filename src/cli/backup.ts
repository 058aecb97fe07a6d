import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import { NotMigrated } from '../db/database.ts';
import { backUp, restore } from '../db/embedded/backup.ts';
import { type Skipped, skipSinceBackup } from '../github/inbox/after-restore.ts';
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
  assertEmbedded(config, 'pg_restore (docs/upgrading.md)');
  const { kept, presentKeys } = await restore(config.DATA_DIR, folder);
  const rest = [
    ...kept.map((path) => `what was there before is kept as ${path}\n`),
    ...presentKeys.map((path) => `the backup has no key of this name, so the present one stays: ${path}\n`),
  ].join('');
  process.stdout.write(
    `the backup is restored\n${rest}before you start the service, run "npm run restored", or it repeats commands since the backup\n`,
  );
  return 0;
}

/**
 * Runs `restored [--revoke-tokens] [--without OWNER/NAME …]`: lets a restored database go on from now, and lists what it
 * skipped. Tokens that were revoked since the backup are valid again in it, unless all are revoked. Returns 1 if a repository
 * could not be read: the service would repeat what was said in it. Never migrates.
 * @throws Error if the database lacks migrations of this version
 */
export async function restoredCommand(config: Config, args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      'revoke-tokens': { type: 'boolean', default: false },
      without: { type: 'string', multiple: true, default: [] },
    },
  });
  const act = async (app: App) => {
    const revoked = values['revoke-tokens'] ? await revokeAllTokens(app.db.manager) : undefined;
    const tokens =
      revoked === undefined
        ? 'tokens and sessions that were revoked since the backup are valid again: "npm run restored -- --revoke-tokens" revokes all'
        : `${revoked} tokens and sessions are revoked: everybody signs in again and makes new tokens`;
    process.stdout.write(`${tokens}\n`);
    return tellSkipped(await skipSinceBackup(app, values.without));
  };
  return withApp(config, act, { looksOnly: true }).catch((error) => {
    if (!(error instanceof NotMigrated)) throw error;
    throw new Error(
      `the database is not of this version: it lacks ${error.missing.length} migrations (first ${error.missing[0]}), and this command does not migrate, so that the version of the backup can still use it. Run "npm run restored" of that version; or, if you go on with this one, "npm run migrate" and then this again.`,
    );
  });
}

function tellSkipped({ count, lines, unread }: Skipped): number {
  for (const line of lines) process.stdout.write(`skipped: ${line}\n`);
  if (unread.length === 0) {
    const tasks =
      'tasks that are younger than the backup are made from their open pull requests when somebody starts them';
    process.stdout.write(`${count} skipped; the service goes on from now. ${tasks}\n`);
    return 0;
  }
  for (const { name, why } of unread) process.stderr.write(`not read: ${name}: ${why}\n`);
  const options = unread.map(({ name }) => `--without ${name}`).join(' ');
  const next = `do not start the service yet, or it repeats what was said there since the backup. Run "npm run restored" again when GitHub answers. For a repository that is gone, or to skip all of it unread, add its option: npm run restored -- ${options}`;
  process.stderr.write(`${count} skipped, but ${counted(unread.length)} could not be read; ${next}\n`);
  return 1;
}

const counted = (repositories: number) => (repositories === 1 ? '1 repository' : `${repositories} repositories`);
