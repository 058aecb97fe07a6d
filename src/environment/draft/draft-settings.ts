// What a trial finds out about a repository that .deckhand.yml should say, and the draft of that file.

import { escapeInvisible } from '../../domain/text/invisible.ts';
import { addKeys, keysOf } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import type { MissingProgram } from '../setup-context.ts';
import type { Needed } from './needed-services.ts';
import { hasPassed } from './usual-checks.ts';

/** A command of a trial, with null for the exit code of one that was stopped. */
interface Command {
  command: string;
  exitCode: number | null;
  seconds: number;
  output?: string;
}

/** What a draft is made from: the result of a trial that ended. */
export interface TriedOut {
  /** The .deckhand.yml of the default branch, and what it says. */
  file: string;
  settings: RepositorySettings;
  /** The commands of set-up that ran. */
  setup: Command[];
  /** The usual checks that were tried. */
  tried: Command[];
  refusedHosts: string[];
  /** Commands of set-up that were chosen from the files of the repository, and whose programs are missing. */
  missing: (MissingProgram & { image: string | null })[];
  needed: Needed;
  /** The keys of `checkout` for which the repository has use. */
  checkout: ('submodules' | 'lfs')[];
}

/**
 * Drafts a .deckhand.yml: the file that there is, with what a trial found besides. What people should decide is a comment:
 * images for missing programs, services, variables and refused hosts. Returns null when there is nothing to add.
 */
export async function draftSettings(trial: TriedOut): Promise<string | null> {
  const newline = /^(?:[^\n]*\r\n)+[^\n]*$/.test(trial.file) ? '\r\n' : '\n';
  const file = withoutEnd(trial.file.replaceAll(newline, '\n'));
  const added = [addedCheckout(trial), addedSetup(trial), addedChecks(trial)].filter((each) => each !== undefined);
  const keys = await keysOf(file);
  const comments = [
    imagesFor(trial),
    laterSetup(trial, keys),
    variables(trial, keys),
    services(trial, keys),
    network(trial, keys),
  ]
    .map((lines) => lines.map((line) => `# ${line}\n`).join(''))
    // A draft that was committed has its comments already.
    .filter((text) => text !== '' && !file.includes(text));
  if (added.length + comments.length === 0) return null;
  const whole = added.length === 0 ? file : await addKeys(file, added);
  const before = whole === '' || whole.endsWith('\n') ? whole : `${whole}\n`;
  return `${before}${comments.join('')}`.replaceAll('\n', newline);
}

/** Removes the mark at which YAML ends, because nothing may be added after it. */
function withoutEnd(file: string): string {
  const text = file.trimEnd();
  return /(?:^|\n)\.\.\.$/.test(text) ? text.slice(0, -'...'.length) : file;
}

type Added = Parameters<typeof addKeys>[1][number];

function addedCheckout({ checkout, settings }: TriedOut): Added | undefined {
  const lacking = checkout.filter((key) => !settings.checkout[key]);
  if (lacking.length === 0) return undefined;
  return {
    key: 'checkout',
    value: Object.fromEntries(lacking.map((key) => [key, true])),
    text: `checkout: { ${lacking.map((key) => `${key}: true`).join(', ')} }\n`,
  };
}

/**
 * Lists the commands of set-up that were detected. One that failed was of no use, so it is a comment. While a program is
 * missing, nothing is listed: with a list of commands, nothing else is detected, and the next trial would not miss the program.
 */
function addedSetup({ setup, missing, settings }: TriedOut): Added | undefined {
  const useful = usefulIn(setup);
  if (settings.setup.length > 0 || missing.length > 0 || useful.length === 0) return undefined;
  const lines = setup.map((each) => `${each.exitCode === 0 ? '' : '# '}  - ${yamlText(each.command)}${remark(each)}`);
  return { key: 'setup', value: useful.map(({ command }) => command), text: listed('setup', lines) };
}

const usefulIn = (setup: Command[]) => setup.filter(({ exitCode }) => exitCode === 0);

function addedChecks({ tried }: TriedOut): Added | undefined {
  const passed = tried.filter(hasPassed);
  if (passed.length === 0) return undefined;
  const lines = passed.map(({ command, seconds }) => `  - ${yamlText(command)} # ${seconds} s in the trial`);
  return { key: 'checks', value: passed.map(({ command }) => command), text: listed('checks', lines) };
}

function listed(key: string, lines: string[]): string {
  return `${[`${key}:`, ...lines].join('\n')}\n`;
}

function remark({ exitCode }: Command): string {
  if (exitCode === 0) return '';
  return exitCode === null ? ' # was stopped in the trial' : ` # exit code ${exitCode} in the trial`;
}

function imagesFor({ missing, settings }: TriedOut): string[] {
  if (settings.image !== undefined) return [];
  return missing.flatMap(({ program, image }) =>
    image === null ? [] : [`image: ${yamlText(image)} # an image for ${program}, which is not installed`],
  );
}

/** Says which set-up a trial chose, where it cannot be listed yet. */
function laterSetup({ setup, missing, settings }: TriedOut, keys: Set<string>): string[] {
  const isUseless = setup.length > 0 && usefulIn(setup).length === 0;
  if (settings.setup.length > 0 || !(isUseless || missing.length > 0)) return [];
  const lines = [
    ...setup.map((each) => `  - ${yamlText(each.command)}${remark(each)}`),
    ...missing.map(({ command, program }) => `  - ${yamlText(command)} # where ${program} is installed`),
  ];
  if (missing.length === 0) return underKey('setup', keys, lines);
  const programs = [...new Set(missing.map(({ program }) => program))].join(', ');
  return [
    `Set-up stays detected while this is not installed: ${programs}. It would be:`,
    ...underKey('setup', keys, lines),
  ];
}

/** Says which names of hosts do not exist where commands run, and which variables name them. */
function variables({ needed: { hosts, env }, settings }: TriedOut, keys: Set<string>): string[] {
  const pairs = Object.entries(env).filter(([name]) => !Object.hasOwn(settings.env, name));
  if (hosts.length + pairs.length === 0) return [];
  const where = 'Services of .deckhand.yml listen on localhost';
  const why = hosts.length === 0 ? where : `Commands did not find the host ${hosts.map(quoted).join(' or ')}. ${where}`;
  if (pairs.length === 0)
    return [
      `${why}: name it in the variable that the code reads, such as`,
      keys.has('env') ? '  DB_HOST: localhost' : 'env: { DB_HOST: localhost }',
    ];
  const lines = pairs.map(([name, value]) => `  ${name}: ${yamlText(value)}`);
  return [`${why}: set the variables that name others.`, ...underKey('env', keys, lines)];
}

const quoted = (text: string) => `"${text}"`;

function services({ needed, settings }: TriedOut, keys: Set<string>): string[] {
  const lacking = needed.services.filter(({ port }) => settings.services.every((each) => each.port !== port));
  if (lacking.length === 0) return [];
  const lines = lacking.map(({ run, port }) => `  - { run: ${JSON.stringify(run)}, port: ${port} }`);
  return [
    'Commands could not connect to these services, or the compose file names them. They need programs that are installed where commands run.',
    ...underKey('services', keys, lines),
  ];
}

/** A name that .deckhand.yml can allow. The list of refused hosts also has addresses, and an entry for further hosts. */
const hostName = /^(?=.{1,253}$)([a-z0-9_-]+\.)+[a-z][a-z0-9-]*$/i;

function network({ refusedHosts, settings: { network: allowed } }: TriedOut, keys: Set<string>): string[] {
  const hosts = refusedHosts.filter((host) => hostName.test(host));
  if (hosts.length === 0) return [];
  return [
    'These hosts were refused. To allow those that you trust, remove the # before the lines you need.',
    keys.has('network') ? 'Instead of the network above:' : 'network:',
    `  setup: [${[...allowed.setup, ...hosts].map(yamlText).join(', ')}]`,
    `  agent: [${[...allowed.agent, ...hosts].map(yamlText).join(', ')}] # also for checks`,
  ];
}

/** Returns the lines of a key, or says to which key of the file they belong. */
function underKey(key: string, keys: Set<string>, lines: string[]): string[] {
  return [keys.has(key) ? `To be added to ${key}:` : `${key}:`, ...lines];
}

/** Text that YAML reads as itself without quotation marks, and not as a number, a boolean or null. */
const isPlain = (text: string) =>
  /^[a-z][\w./@+=-]*( [\w./@+=-]+)*$/i.test(text) && !/^(true|false|yes|no|on|off|y|n|null)$/i.test(text);

/** Formats text as a YAML scalar. Characters that are invisible or reorder text are written as escapes. */
function yamlText(text: string): string {
  if (isPlain(text)) return text;
  return escapeInvisible(JSON.stringify(text));
}
