import { backupCommand, restoreCommand, restoredCommand } from './cli/backup.ts';
import { doctor } from './cli/doctor.ts';
import { issueToken, rebuildFiguresCommand, rotateKey, rotateReceiptKeyCommand } from './cli/operator.ts';
import { printDocs } from './cli/print-docs.ts';
import { printPrompt } from './cli/prompt.ts';
import { compose } from './compose.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { whyUnreachable } from './host/through-proxy.ts';
import { createLogger } from './logger.ts';
import { unreachableHost } from './outgoing/github-errors.ts';
import { serve } from './serve.ts';

const help = `Deckhand: AI agents do tasks on your repositories, with people in command.

  npm start                                    run the service
  npm run demo [-- --once]                     a tour from a task to a pull request, without account or network
  npm run --silent token -- --login NAME [--days 90]   print an API token
  npm run doctor [-- --storage]                what is configured and reachable, how to fix the rest, and what takes space
  npm run migrate                              bring the database up to date and exit
  npm run backup -- FOLDER                     copy the embedded database and its keys, while the service runs or not
  npm run restore -- FOLDER                    put such a copy back
  npm run restored [-- --revoke-tokens] [--without OWNER/NAME]   after any restore: skip what happened since, and list it
  npm run rebuild-figures                      compute the figures of agents again while the service runs
  npm run rotate-key [-- --lost]               encrypt all secrets with a new key while the service runs
  npm run rotate-receipt-key [-- --revoke]     sign receipts with another key from now on
  npm run --silent prompt -- TASK              print the prompt of a task with an estimate of its tokens
  npm run docs                                 generate docs/openapi.json, docs/lifecycle.md and the client

Settings are environment variables; docs/operations.md lists them.
`;

const commands: Record<string, (args: string[]) => Promise<number>> = {
  serve: async () => serve(readConfig()),
  token: async (args) => issueToken(readConfig(), args),
  doctor: async (args) => doctor(args),
  backup: async (args) => backupCommand(readConfig(), args),
  restore: async (args) => restoreCommand(readConfig(), args),
  restored: async (args) => restoredCommand(readConfig(), args),
  'rebuild-figures': async () => rebuildFiguresCommand(readConfig()),
  'rotate-key': async (args) => rotateKey(readConfig(), args),
  'rotate-receipt-key': async (args) => rotateReceiptKeyCommand(readConfig(), args),
  prompt: async (args) => printPrompt(readConfig(), args),
  'print-docs': async () => printDocs(),
  migrate: async () => {
    const config: Config = { ...readConfig(), MIGRATE: 'on' };
    const { close } = await compose(config, createLogger(config), {
      isWorker: false,
      stopping: new AbortController().signal,
    });
    await close();
    process.stdout.write('the database is up to date\n');
    return 0;
  },
  help: async () => {
    process.stdout.write(help);
    return 0;
  },
};

/** Says of a request to GitHub without an answer more than the code of the system, such as ECONNREFUSED. */
function messageOf(error: unknown): string {
  const host = unreachableHost(error);
  if (host === undefined) return (error as Error).message;
  return `GitHub cannot be reached at ${host} (${whyUnreachable(error)}); check GITHUB_API_URL and the network, and run the command again`;
}

// `doctor | head` closes our output early, which is not an error.
process.stdout.on('error', () => {});

const [name = 'serve', ...args] = process.argv.slice(2);
const command = args.some((a) => a === '--help') || /^(-h|--help)$/.test(name) ? commands.help : commands[name];
try {
  if (command === undefined) {
    process.stderr.write(`unknown command ${name}\n\n${help}`);
    process.exitCode = 2;
  } else process.exitCode = await command(args);
} catch (error) {
  if (error instanceof ConfigError) process.stderr.write(`${error.problems.join('\n')}\n`);
  else process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
