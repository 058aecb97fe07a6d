import type { EnvironmentTrial } from '../api.ts';

import { revealHidden, terminalText } from '../display/hidden-characters.ts';

type Command = EnvironmentTrial['commands'][number];

/** Says in a sentence how a trial is doing or how it ended. */
export function verdictOf(trial: EnvironmentTrial): string {
  const { status, beganAt, commands, problem } = trial;
  if (status === 'running' && beganAt === null) return 'The trial waits for a worker.';
  if (status === 'running')
    return commands.length === 0
      ? 'The trial has started. Its first command has not started yet.'
      : 'The trial is running.';
  if (status === 'failed') return failureOf(commands, problem);
  return [successOf(trial), problem === null ? '' : terminalText(problem)].filter((text) => text !== '').join(' ');
}

function successOf({ commands, setupCommands, tried }: EnvironmentTrial): string {
  if (commands.length === 0 && tried.length === 0)
    return 'There is nothing to set up or check: the repository has no lock file or manifest that Deckhand knows, and no .deckhand.yml with commands.';
  if (setupCommands === commands.length) {
    const done = commands.length === 0 ? 'There is nothing to set up.' : 'Set-up succeeded.';
    return `${done} The repository has no checks in .deckhand.yml.${triedText(tried)}`;
  }
  return setupCommands === 0 ? 'The checks succeeded.' : 'Set-up and checks succeeded.';
}

/** Says how the usual checks went that .deckhand.yml does not list. */
function triedText(tried: Command[]): string {
  const passed = tried.filter(({ exitCode }) => exitCode === 0).map(({ command }) => `“${revealHidden(command)}”`);
  if (tried.length === 0) return '';
  if (passed.length === 0) return ' None of the usual checks passes.';
  return ` ${passed.join(' and ')} ${passed.length === 1 ? 'passes' : 'pass'}, so the draft below lists ${passed.length === 1 ? 'it' : 'them'}.`;
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
