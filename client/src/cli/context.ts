import type { Command } from 'commander';
import { type GlobalOptions, openSession, type Session } from './session.ts';
import type { Terminal } from './terminal.ts';

/** What the commands need from the process. */
export interface Context {
  terminal: Terminal;
  env: NodeJS.ProcessEnv;
  /** Sets the exit code of a command that did not throw. */
  endWith(code: number): void;
  /** The version of the package. */
  version: string;
}

/** Returns the options of a command, with those of the program. */
export const optionsOf = <T extends object>(command: Command): T & GlobalOptions => command.optsWithGlobals();

export const sessionOf = (context: Context, command: Command): Promise<Session> =>
  openSession(optionsOf(command), context.env, context.terminal);

/** Adds examples to the help of a command. */
export function withExamples(command: Command, ...examples: string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
}
