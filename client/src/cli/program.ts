import { Command } from 'commander';
import { accountCommands } from './commands/account.ts';
import { completionCommand } from './commands/completion.ts';
import { inboxCommand } from './commands/inbox.ts';
import { openCommand } from './commands/open.ts';
import { quoteCommand } from './commands/quote.ts';
import { runCommands } from './commands/runs.ts';
import { taskCommands } from './commands/tasks.ts';
import { verifyCommand } from './commands/verify.ts';
import type { Context } from './context.ts';

/** Declares all commands. Their actions throw; `main` turns errors into exit codes. */
export function buildProgram(context: Context): Command {
  const program = new Command('deckhand')
    .description('Work with Deckhand from the command line.')
    .version(context.version, '--version', 'print the version')
    .option('--json', 'print JSON')
    .option('--url <address>', 'the service (or DECKHAND_URL; else that of "deckhand login")')
    .option('--project <project>', 'id, slug or name of the project (else that of "deckhand login", or your only one)')
    .option('--ca <file>', 'a file with the certificate of your own certificate authority')
    .exitOverride()
    // Errors are printed by `main`, together with those of other kinds.
    .configureOutput({ outputError: () => {} })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText(
      'after',
      `
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.

Examples:
  $ deckhand login https://deckhand.example.com
  $ deckhand task create "Greet by name" --agent Developer --start
  $ deckhand inbox`,
    );
  accountCommands(program, context);
  taskCommands(program, context);
  inboxCommand(program, context);
  runCommands(program, context);
  quoteCommand(program, context);
  openCommand(program, context);
  verifyCommand(program, context);
  completionCommand(program, context);
  return program;
}
