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

/** What a draft is made from: the result of a trial that ended. */
type Tried = Pick<EnvironmentTrial, 'image' | 'commands' | 'setupCommands' | 'refusedHosts'>;

/**
 * Drafts a .deckhand.yml that does what a trial did. Refused hosts are comments, because people should decide which of them
 * to trust. Returns undefined when the trial ran no command.
 */
export function draftSettings({ image, commands, setupCommands, refusedHosts }: Tried): string | undefined {
  if (commands.length === 0) return undefined;
  const lines = [
    ...(image === null ? [] : [`image: ${yamlText(image)}`]),
    ...listOf('setup', commands.slice(0, setupCommands)),
    ...listOf('checks', commands.slice(setupCommands)),
    ...allowing(refusedHosts.map(({ host }) => host).filter((host) => hostName.test(host))),
  ];
  return `${lines.join('\n')}\n`;
}

function listOf(key: string, commands: Tried['commands']): string[] {
  if (commands.length === 0) return [];
  return [`${key}:`, ...commands.map(({ command, exitCode }) => `  - ${yamlText(command)}${remark(exitCode)}`)];
}

function remark(exitCode: number | null): string {
  if (exitCode === 0) return '';
  return exitCode === null ? ' # was stopped in the trial' : ` # exit code ${exitCode} in the trial`;
}

/** A name that .deckhand.yml can allow. The list of refused hosts also has addresses, and an entry for further hosts. */
const hostName = /^(?=.{1,253}$)([a-z0-9_-]+\.)+[a-z][a-z0-9-]*$/i;

function allowing(hosts: string[]): string[] {
  if (hosts.length === 0) return [];
  return [
    '# These hosts were refused. To allow those that you trust, remove the # before the lines you need.',
    '# network:',
    `#   setup: [${['defaults', ...hosts].join(', ')}]`,
    `#   agent: [${hosts.join(', ')}] # also for checks`,
  ];
}

/** Text that YAML reads as itself without quotation marks, and not as a number, a boolean or null. */
const isPlain = (text: string) =>
  /^[a-z][\w./@+=-]*( [\w./@+=-]+)*$/i.test(text) && !/^(true|false|yes|no|on|off|y|n|null)$/i.test(text);

/** Formats text as a YAML scalar. Characters that are invisible or reorder text are written as escapes. */
function yamlText(text: string): string {
  if (isPlain(text)) return text;
  return JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}
