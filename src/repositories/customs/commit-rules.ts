import type { Checkout } from '../../git/engine.ts';
import { apart } from '../../threads/apart.ts';
import { OverLimit } from '../../threads/start-thread.ts';
import type { RepositorySettings } from '../settings/schema.ts';
import type { TitleGiven } from './commitlint.ts';
import { type CommitRules, conventionalRules } from './conventional.ts';

/** Rules take milliseconds. A hostile configuration of 64 kB may take longer. */
const commitlint = apart<typeof import('./commitlint.ts')>(new URL('./commitlint.ts', import.meta.url), {
  seconds: 2,
  heapMb: 128,
});

/** Where commitlint looks for data, in its order. */
const dataFiles = [
  'package.json',
  'package.yaml',
  '.commitlintrc',
  '.commitlintrc.json',
  '.commitlintrc.yaml',
  '.commitlintrc.yml',
];
/** Programs, which are never run. */
const program = /^(?:\.commitlintrc|commitlint\.config)\.[cm]?[jt]s$/;

/** A larger configuration counts as the conventional rules. package.json has other contents besides. */
const maxBytes = 65_536;

/** The rules of a repository for its commits. */
export interface FoundRules {
  /** Undefined where every form is right. */
  rules: CommitRules | undefined;
  /** The file that they come from, or the key of .deckhand.yml. */
  from: string;
  /** What of the configuration is not used. */
  notes: string[];
}

/**
 * Finds the rules for commits at a commit of the base branch: those of a configuration of commitlint, or the conventional
 * ones where the settings ask for them. A configuration that is a program only says that there are rules.
 */
export async function findCommitRules(
  checkout: Checkout,
  commit: string,
  { commits }: Pick<RepositorySettings, 'commits'>,
): Promise<FoundRules> {
  const names = new Set(await checkout.listFolder(commit, ''));
  for (const name of dataFiles) {
    if (!names.has(name)) continue;
    const found = await rulesIn(checkout, commit, name);
    if (found.rules !== undefined) return { ...found, from: name };
  }
  const configuration = [...names].sort().find((name) => program.test(name));
  if (configuration !== undefined) {
    const notes = [`${configuration} is a program, which is not run, so the conventional rules count`];
    return { rules: conventionalRules, from: configuration, notes };
  }
  if (commits === 'conventional') return { rules: conventionalRules, from: '.deckhand.yml', notes: [] };
  return { rules: undefined, from: '', notes: [] };
}

async function rulesIn(checkout: Checkout, commit: string, name: string): Promise<Omit<FoundRules, 'from'>> {
  const file = await checkout.readFile(commit, name);
  if (file === undefined) return { rules: undefined, notes: [] };
  const isPackage = name.startsWith('package.');
  if (file === 'too large' || (!isPackage && file.length > maxBytes)) {
    if (isPackage) return { rules: undefined, notes: [] };
    return { rules: conventionalRules, notes: [`${name} is too large, so the conventional rules count`] };
  }
  // Most packages have no such key. They need no thread.
  if (isPackage && !file.includes('commitlint')) return { rules: undefined, notes: [] };
  return commitlint.call('readRules', name, file).catch((error) => {
    if (!(error instanceof OverLimit)) throw error;
    return { rules: conventionalRules, notes: [`${name} takes more than ${error.limit} to read`] };
  });
}

/** Returns what is wrong with a title; nothing where every form is right. */
export async function problemsWithTitle(title: string, rules: CommitRules | undefined): Promise<string[]> {
  if (rules === undefined) return [];
  return commitlint.call('problemsWithTitle', title, rules).catch(orElse([]));
}

/** Returns what is wrong with a message of a commit; nothing where every form is right. */
export async function problemsWithMessage(message: string, rules: CommitRules | undefined): Promise<string[]> {
  if (rules === undefined) return [];
  return commitlint.call('problemsWith', message, rules).catch(orElse([]));
}

/** At most this many paths decide what a title's type is. */
const maxPaths = 1000;

/** Returns a title that follows the rules as far as the service can repair it. */
export async function conformedTitle(given: TitleGiven, rules: CommitRules | undefined): Promise<string> {
  if (rules === undefined) return given.title;
  const paths = given.paths.slice(0, maxPaths);
  return commitlint.call('conformedTitle', { ...given, paths }, rules).catch(orElse(given.title));
}

/** A form that takes too long to check stays as it is: it is no reason to lose the work. */
function orElse<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof OverLimit) return otherwise;
    throw error;
  };
}
