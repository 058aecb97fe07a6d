import { type Command, CommanderError } from 'commander';
import { DeckhandError } from '../errors.ts';
import { runWithCa } from './certificates.ts';
import { optionsOf } from './context.ts';
import { UsageError } from './failures.ts';
import { buildProgram } from './program.ts';
import { errorJson, openTerminal, type Terminal } from './terminal.ts';

/**
 * Runs the command line and returns its exit code: 0 done, 1 refused or failed, 2 wrong usage. `version` is that of the
 * package.
 */
export async function main(given: string[], version: string): Promise<number> {
  // Commander's command "help" takes one word, and "task create" is two.
  const args = given[0] === 'help' && given.length > 2 ? [...given.slice(1), '--help'] : given;
  endQuietly();
  const terminal = openTerminal(args.includes('--json'));
  let code = 0;
  const endWith = (given: number) => {
    code = given;
  };
  const program = buildProgram({ terminal, env: process.env, endWith, version });
  program.hook('preAction', async (_program, command) => {
    const rerun = await runWithCa(optionsOf(command), process.env);
    if (rerun !== undefined) throw new Rerun(rerun);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof Rerun) return error.code;
    return report(error, terminal, helpFor(program, args));
  }
}

/** Returns the command that explains what was called: `deckhand help task say`. */
function helpFor(program: Command, args: string[]): string {
  const names: string[] = [];
  let at: Command | undefined = program;
  for (const word of args.filter((each) => !each.startsWith('-'))) {
    at = at?.commands.find((command) => command.name() === word);
    if (at === undefined) break;
    names.push(word);
  }
  return ['deckhand help', ...names].join(' ');
}

/** The command has run in another process. */
class Rerun extends Error {
  readonly code: number;
  constructor(code: number) {
    super('run again');
    this.code = code;
  }
}

function report(error: unknown, terminal: Terminal, help: string): number {
  if (error instanceof CommanderError) {
    // Help and the version are printed already.
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return 2;
    return tell(terminal, 2, error.message.replace(/^error: /, ''), `Run "${help}" to see how it is used.`);
  }
  if (error instanceof UsageError) return tell(terminal, 2, error.message);
  if (error instanceof DeckhandError) {
    const isLogin = help === 'deckhand help login';
    return tell(terminal, 1, error.message, adviceFor(error, isLogin), error);
  }
  return tell(terminal, 1, error instanceof Error ? error.message : 'Something went wrong.');
}

function tell(terminal: Terminal, code: number, message: string, advice?: string, error?: DeckhandError): number {
  if (terminal.isJson) {
    terminal.advise(errorJson({ status: error?.status || null, message, errors: error?.errors ?? [] }));
    return code;
  }
  const fields = (error?.errors ?? []).map((problem) => problem.message).filter((text) => text !== message);
  terminal.advise(`deckhand: ${[message, ...fields, ...(advice === undefined ? [] : [advice])].join('\n')}`);
  return code;
}

function adviceFor({ status }: DeckhandError, isLogin: boolean): string | undefined {
  if (status === 401 && isLogin) return 'The token is wrong, revoked or expired. Create one on the page "API tokens".';
  if (status === 401) return 'Log in again with "deckhand login": the token is wrong, revoked or expired.';
  if (status === 429) return 'Wait a minute, and try again.';
  return undefined;
}

/** A reader that ends early, such as `head`, ends this process, too. */
function endQuietly(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
}
