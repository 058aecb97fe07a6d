import type { EnvironmentTrial } from '../api.ts';
import { formatNumber } from '../display/formats.ts';
import { revealHidden, terminalText } from '../display/hidden-characters.ts';

type Command = EnvironmentTrial['commands'][number];

/** Says in a sentence how a trial is doing or how it ended. */
export function verdictOf(trial: EnvironmentTrial): string {
  const { status, beganAt, commands, setupCommands, problem, tried } = trial;
  if (status === 'running' && beganAt === null) return 'The trial waits for a worker.';
  if (status === 'running')
    return commands.length === 0
      ? 'The trial has started. Its first command has not started yet.'
      : 'The trial is running.';
  if (status === 'failed') return failureOf(commands, problem);
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

/** What a draft is made from: the result of a trial that ended. */
type Trial = Pick<
  EnvironmentTrial,
  'image' | 'commands' | 'setupCommands' | 'tried' | 'refusedHosts' | 'missing' | 'services'
>;

/**
 * Drafts a .deckhand.yml that does what a trial did, with the usual checks that passed. What people should decide is a comment:
 * commands that failed, images for missing programs, services, and refused hosts. Returns undefined when there is nothing to
 * write.
 */
export function draftSettings(trial: Trial): string | undefined {
  const { image, commands, setupCommands, tried, refusedHosts, missing, services } = trial;
  const passed = tried.filter(({ exitCode }) => exitCode === 0);
  const lines = [
    ...(image === null ? imagesFor(missing) : [`image: ${yamlText(image)}`]),
    ...listOfSetup(commands.slice(0, setupCommands)),
    ...listOfChecks(commands.slice(setupCommands), passed),
    ...starting(services),
    ...allowing(refusedHosts.map(({ host }) => host).filter((host) => hostName.test(host))),
  ];
  return lines.length === 0 ? undefined : `${lines.join('\n')}\n`;
}

/** Lists the commands of set-up. One that failed was usually detected and of no use, so it is a comment. */
function listOfSetup(commands: Command[]): string[] {
  if (commands.length === 0) return [];
  // An empty list would mean that nothing is set up.
  const begin = commands.some(({ exitCode }) => exitCode === 0) ? '' : '# ';
  return [
    `${begin}setup:`,
    ...commands.map(
      (each) => `${each.exitCode === 0 ? '' : '# '}  - ${yamlText(each.command)}${remark(each.exitCode)}`,
    ),
  ];
}

function listOfChecks(configured: Command[], passed: Command[]): string[] {
  if (configured.length + passed.length === 0) return [];
  return [
    'checks:',
    ...configured.map(({ command, exitCode }) => `  - ${yamlText(command)}${remark(exitCode)}`),
    ...passed.map(({ command, seconds }) => `  - ${yamlText(command)} # ${formatNumber(seconds)} s in the trial`),
  ];
}

function remark(exitCode: number | null): string {
  if (exitCode === 0) return '';
  return exitCode === null ? ' # was stopped in the trial' : ` # exit code ${exitCode} in the trial`;
}

function imagesFor(missing: Trial['missing']): string[] {
  return missing.flatMap(({ program, image }) =>
    image === null ? [] : [`# image: ${yamlText(image)} # an image for ${program}, which is not installed`],
  );
}

function starting(services: Trial['services']): string[] {
  if (services.length === 0) return [];
  return [
    '# Commands could not connect to these services. They need programs that are installed where commands run.',
    '# services:',
    ...services.map(({ run, port }) => `#   - { run: ${JSON.stringify(run)}, port: ${port} }`),
  ];
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
