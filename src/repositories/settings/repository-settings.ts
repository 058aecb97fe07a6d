import { createHash } from 'node:crypto';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { limitsInBudget, type ProjectBudgets } from '../../domain/budget.ts';
import { RunFailed } from '../../domain/run.ts';
import { noProving } from '../../domain/settings.ts';
import { defaultBranchPattern } from '../../domain/text/branch-names.ts';
import { storableJson } from '../../domain/text/sanitize.ts';
import type { Checkout, Remote } from '../../git/engine.ts';
import { apart } from '../../threads/apart.ts';
import { OverLimit } from '../../threads/start-thread.ts';
import type { AddedKey } from './add-keys.ts';
import { noPullRequestSettings, wholeCheckout } from './custom-keys.ts';
import type { RepositorySettings } from './schema.ts';

/** The file with a repository's settings for agents. Only its version on the default branch is used. */
export const settingsFile = '.deckhand.yml';

/** The settings about the form of what we push and open. They decide nothing about files. */
type CustomSettings = Pick<RepositorySettings, 'branch' | 'commits' | 'signOff' | 'verified' | 'pullRequest'>;

/** The settings that decide what checks and a proof say about files. */
export type DecidingSettings = Omit<
  RepositorySettings,
  | 'base'
  | 'plan'
  | 'push'
  | 'approve'
  | 'merge'
  | 'proof'
  | 'prove'
  | 'review'
  | 'protected'
  | 'allowed'
  | 'agent'
  | 'budget'
  | 'runsOn'
  | keyof CustomSettings
>;

/** Returns whether changes need checks or a proof to be ready. */
export const demandsEvidence = ({ checks, proof }: Pick<RepositorySettings, 'checks' | 'proof'>): boolean =>
  checks.length > 0 || proof === 'required';

/** Returns the settings that decide what checks and a proof say about files. Evidence counts for no others. */
export function decidingSettings(settings: RepositorySettings): DecidingSettings {
  const {
    base,
    plan,
    push,
    approve,
    merge,
    proof,
    prove,
    review,
    protected: closed,
    allowed,
    agent,
    budget,
    runsOn,
    ...others
  } = settings;
  const { branch, commits, signOff, verified, pullRequest, ...deciding } = others;
  return deciding;
}

/**
 * Returns a digest of all settings that decide about the proofs of people's pull requests. It is the same for settings that were stored
 * in the meantime, whatever the order of their keys.
 */
export function rulesOfProofs(settings: RepositorySettings): string {
  const deciding = { ...decidingSettings({ ...noSettings, ...settings }), everyone: settings.prove.everyone };
  const stored: unknown = JSON.parse(storableJson(deciding));
  return createHash('sha256').update(JSON.stringify(stored, inOrder)).digest('base64url');
}

/** Like `rulesOfProofs`, for the proof of a task: it does not depend on whether people's pull requests are proved. */
export function rulesForEverybody(settings: RepositorySettings): string {
  return rulesOfProofs({ ...settings, prove: { ...settings.prove, everyone: 'required' } });
}

/** Orders the keys of objects for `JSON.stringify`. */
const inOrder = (_key: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

const maxSettingsBytes = 32_768;
const tooLarge = `it is larger than 32 kB (${maxSettingsBytes} bytes)`;

/** Ordinary files and patterns take milliseconds; the worst file of 32 kB takes half a second to parse. */
const rules = apart<typeof import('./parse.ts')>(new URL('./parse.ts', import.meta.url), {
  seconds: 2,
  heapMb: 128,
});

export const noSettings: RepositorySettings = {
  setup: [],
  runsOn: [],
  network: { setup: ['defaults'], agent: [] },
  env: {},
  secrets: [],
  services: [],
  checks: [],
  plan: 'never',
  push: 'free',
  approve: 'anyone',
  merge: { update: true },
  setupOfChange: 'packages',
  proof: 'optional',
  prove: noProving,
  review: 'asked',
  protected: [],
  allowed: [],
  budget: {},
  checkout: wholeCheckout,
  branch: defaultBranchPattern,
  commits: 'free',
  signOff: false,
  verified: 'auto',
  pullRequest: noPullRequestSettings,
};

/** Returns the limits that a repository sets for its runs. */
export function budgetsOfRepository({ budget }: RepositorySettings): ProjectBudgets {
  return limitsInBudget(budget);
}

/**
 * Parses the settings file.
 * @throws RunFailed `repository` that says what is wrong with the file
 */
export async function parseSettings(file: Buffer | 'too large'): Promise<RepositorySettings> {
  if (file === 'too large' || file.length > maxSettingsBytes) throw unusable(tooLarge);
  const parsed = await rules.call('parseSettings', file).catch((error) => {
    throw error instanceof OverLimit ? unusable(`it takes more than ${error.limit} to read`) : error;
  });
  if ('problem' in parsed) throw unusable(parsed.problem);
  return parsed.settings;
}

/**
 * Adds keys to the text of a settings file that is valid.
 * @throws OverLimit when that takes too long
 */
export async function addKeys(file: string, added: AddedKey[]): Promise<string> {
  return rules.call('adding', file, added);
}

/**
 * Returns the keys of a settings file that is valid, also those without a value.
 * @throws OverLimit when that takes too long
 */
export async function keysOf(file: string): Promise<Set<string>> {
  return new Set(await rules.call('listing', file));
}

/**
 * Reads the settings of a repository at a commit of its default branch.
 * @throws RunFailed `repository` when the file is invalid. Ignoring it would leave the paths that it protects
 * unprotected.
 */
export async function readSettings(checkout: Checkout, commit: string): Promise<RepositorySettings> {
  const file = await checkout.readFile(commit, settingsFile);
  return file === undefined ? noSettings : parseSettings(file);
}

/** The branch of a repository from which its tasks start, and its settings. */
export interface RepositoryBase {
  settings: RepositorySettings;
  branch: string;
  head: string;
  /** The commit whose files prepare environments. It is never on a branch that only the project calls the default one. */
  trusted: string;
}

/** A repository, and where it is fetched from. */
interface Fetched {
  repository: Pick<RepositoryRow, 'defaultBranch'>;
  remote: Pick<Remote, 'defaultBranch'>;
}

/**
 * Finds the branch from which the tasks of a repository start: the one that the settings name, or the default branch of the project.
 * The settings and the set-up are those of GitHub's default branch, even if the project has another one. Otherwise everybody who may
 * create a branch could choose them.
 * @param known reads the settings at a commit, if they may be known already
 * @throws RunFailed `repository` when the file is invalid, or one of the branches does not exist
 */
export async function readBase(
  checkout: Checkout,
  { repository: { defaultBranch: usual }, remote: { defaultBranch: own = usual } }: Fetched,
  known = (commit: string) => readSettings(checkout, commit),
): Promise<RepositoryBase> {
  const ownHead = await checkout.fetch(own);
  if (ownHead === undefined)
    throw new RunFailed(
      'repository',
      `the repository has no branch ${own}; push a first commit, or set the default branch of the repository`,
    );
  const settings = await known(ownHead);
  const { base = usual } = settings;
  const head = base === own ? ownHead : await checkout.fetch(base);
  if (head !== undefined)
    return { settings, branch: base, head, trusted: settings.base === undefined ? ownHead : head };
  if (settings.base !== undefined) throw unusable(`base: there is no branch ${base}`);
  throw new RunFailed('repository', `the repository has no branch ${usual}; set its default branch to ${own}`);
}

/** Paths sent to the worker thread in one message. */
const pathsAtOnce = 10_000;

/**
 * Finds the paths that `protected` matches.
 * @throws RunFailed `repository` when matching its patterns takes too long
 */
export async function pathsProtectedBy(settings: RepositorySettings, paths: string[]): Promise<Set<string>> {
  return pathsMatching('protected', settings.protected, paths);
}

/**
 * Finds the paths that, if they were folders, could contain files that `protected` matches.
 * @throws RunFailed `repository` when matching its patterns takes too long
 */
export async function pathsAboveProtected(settings: RepositorySettings, paths: string[]): Promise<Set<string>> {
  return findPaths('above', 'protected', settings.protected, paths);
}

/**
 * Finds the paths that the patterns of a key match.
 * @throws RunFailed `repository` when matching takes too long
 */
export async function pathsMatching(key: string, patterns: string[], paths: string[]): Promise<Set<string>> {
  return findPaths('matching', key, patterns, paths);
}

async function findPaths(how: 'matching' | 'above', key: string, patterns: string[], paths: string[]) {
  const found = new Set<string>();
  for (let at = 0; at < paths.length && patterns.length > 0; at += pathsAtOnce) {
    const some = paths.slice(at, at + pathsAtOnce);
    const those = await rules.call(how, patterns, some).catch((error) => {
      if (!(error instanceof OverLimit)) throw error;
      const what = `the patterns of "${key}" with ${some.length} paths`;
      throw unusable(`comparing ${what} takes more than ${error.limit}; use fewer or simpler patterns`);
    });
    for (const path of those) found.add(path);
  }
  return found;
}

function unusable(why: string): RunFailed {
  return new RunFailed('repository', `${settingsFile} on the default branch cannot be used: ${why}`);
}
