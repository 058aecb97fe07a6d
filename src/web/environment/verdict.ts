import type { EnvironmentTrial } from '../api.ts';
import { revealHidden, terminalText } from '../display/hidden-characters.ts';

type Command = EnvironmentTrial['commands'][number];

/** Says in a sentence how a trial is doing or how it ended. */
export function verdictOf({ status, commands, setupCommands, problem }: EnvironmentTrial): string {
  if (status === 'running')
    return commands.length === 0
      ? 'The trial has started. Its first command has not started yet.'
      : 'The trial is running.';
  if (status === 'failed') return failureOf(commands, problem);
  if (commands.length === 0)
    return 'There is nothing to set up or check: the repository has no lock file that Deckhand knows, and no .deckhand.yml with commands.';
  if (setupCommands === commands.length) return 'Set-up succeeded. The repository has no checks in .deckhand.yml.';
  return setupCommands === 0 ? 'The checks succeeded.' : 'Set-up and checks succeeded.';
}

function failureOf(commands: Command[], problem: string | null): string {
  if (problem !== null) return `The trial failed: ${terminalText(problem)}`;
  const failed = commands.filter(({ exitCode }) => exitCode !== 0);
  const [first] = failed;
  if (first === undefined) return 'The trial failed.';
  const others = failed.length === 1 ? '' : ` ${failed.length} commands failed in all.`;
  return `“${revealHidden(first.command)}” ${first.exitCode === null ? 'was stopped' : `ended with exit code ${first.exitCode}`}.${others}`;
}

/** Says how a command is doing. Without an exit code it runs, or was stopped. */
export function outcomeOf({ exitCode }: Pick<Command, 'exitCode'>, isRunning: boolean): string {
  if (exitCode !== null) return `Exit code ${exitCode}`;
  return isRunning ? 'Running' : 'Stopped';
}
