import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Checkout } from '../git/engine.ts';
import { inPortions } from '../git/work-tree/tree-files.ts';
import { onHost } from '../repositories/credentials.ts';
import { type CheckoutSettings, wholeCheckout } from '../repositories/settings/custom-keys.ts';
import { pathsMatching } from '../repositories/settings/repository-settings.ts';
import { type DetectedCommand, detectSetup, isKnownCacheFile, readManifest } from './detect.ts';
import { chosenOf } from './files/choose-files.ts';
import type { OpenSecret } from './secrets/secrets.ts';
import { type SetupContext, secretNamed } from './setup-context.ts';

/** Everything that decides what set-up makes. Two set-ups with the same parts may share one kept result. */
export interface KeyParts {
  projectId: string;
  repositoryId: string;
  /** Which repository that is on its host now. A repository that was deleted may be created again under its name. */
  onHost: string;
  /** The digest of the image, or a description of the worker's own system. */
  system: string;
  commands: string[];
  env: Record<string, string>;
  /** The hosts that set-up may reach, as .deckhand.yml lists them. */
  hosts: string[];
  secrets: { name: string; version: string }[];
  /** The files that set-up sees, as .deckhand.yml chooses them. */
  checkout?: CheckoutSettings;
  /** The files that decide whether set-up runs again. */
  files: { path: string; oid: string }[];
}

/** Raised when kept results of older versions cannot be used any more. */
const format = 1;

/** Returns the name under which a result of set-up is kept: 64 hex digits. */
export function keyOf({ projectId, repositoryId, onHost, system, ...parts }: KeyParts): string {
  const sorted = <T>(list: T[], by: (item: T) => string) => [...list].sort((a, b) => (by(a) < by(b) ? -1 : 1));
  const { commands, env, hosts, secrets, files, checkout = wholeCheckout } = parts;
  const all = [
    format,
    [projectId, repositoryId, onHost, process.arch, system],
    commands,
    sorted(Object.entries(env), ([name]) => name),
    sorted(hosts, String),
    sorted(secrets, ({ name }) => name).map(({ name, version }) => [name, version]),
    sorted(files, ({ path }) => path).map(({ path, oid }) => [path, oid]),
    // Only where some files are left out or added, so that the keys of all other repositories stay as they are.
    ...(isDeepStrictEqual(checkout, wholeCheckout) ? [] : [checkout]),
    // Older versions do not ask who may use what private submodules are in a result.
    ...(checkout.submodules ? ['asked'] : []),
  ];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}

/**
 * Describes the worker's own system. Compiled packages of another release, or of another Node, may not work on it.
 */
async function ownSystem(): Promise<string> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => process.platform);
  const lines = release.split('\n').filter((line) => /^(ID|VERSION_ID)=/.test(line));
  return [...lines, `node modules ${process.versions.modules}`].join(' ');
}

/** What set-up of a commit does, and under which key its result is kept. */
export interface SetupPlan {
  commit: string;
  /** A command is left out where all of its programs are missing. */
  commands: (Pick<DetectedCommand, 'command'> & Partial<DetectedCommand>)[];
  /** Files that name packages which set-up does not install. */
  unknown: string[];
  /** The commands were chosen from the files of the repository. Their failure does not fail a run. */
  isDetected: boolean;
  key: string;
  /** The name of the package caches that its package managers use; see `PackageCaches`. */
  cachesKey: string;
  /** The files that decide whether set-up runs again, with the ids of their contents. */
  files: Map<string, string>;
  /** The secrets that set-up gets as variables. */
  secrets: OpenSecret[];
}

/** Decides what set-up does. @throws RunFailed `setup` when .deckhand.yml names a secret of another repository, or none */
export async function planSetup(
  { repository, checkout, settings, image }: SetupContext,
  commit: string,
  known: OpenSecret[],
): Promise<SetupPlan> {
  const all = await chosenOf(settings, await checkout.files(commit));
  const isDetected = settings.setup.length === 0;
  const { commands, unknown } = await commandsOf(settings.setup, all, { checkout, commit });
  const secrets = [...new Set(settings.secrets)].map((name) => secretNamed(known, name));
  const files = await cacheFilesIn(all, settings.cache);
  const parts = {
    projectId: repository.projectId,
    repositoryId: repository.id,
    onHost: onHost(repository),
    system: image?.digest ?? (await ownSystem()),
    hosts: settings.network.setup,
    secrets,
  };
  const key = keyOf({
    ...parts,
    commands: commands.map(({ command }) => command),
    env: settings.env,
    checkout: settings.checkout,
    files: [...files].map(([path, oid]) => ({ path, oid })),
  });
  // Whoever lost a secret or a host must not find what they brought in a cache.
  const cachesKey = keyOf({ ...parts, commands: ['package caches'], env: {}, files: [] });
  return { commit, commands, unknown, isDetected, key, cachesKey, files, secrets };
}

/** Returns the commands that .deckhand.yml lists. If it lists none, they are chosen from the files of the commit. */
export async function commandsOf(
  listed: string[] | 'none',
  files: Map<string, unknown>,
  { checkout, commit }: { checkout: Checkout; commit: string },
): Promise<Pick<SetupPlan, 'commands' | 'unknown'>> {
  if (listed.length === 0) return detectSetup(files.keys(), await readManifest(checkout, commit));
  return { commands: listed === 'none' ? [] : listed.map((command) => ({ command })), unknown: [] };
}

async function knownCacheFiles(paths: Iterable<string>): Promise<string[]> {
  const known: string[] = [];
  await inPortions(paths, (path) => {
    if (isKnownCacheFile(path)) known.push(path);
  });
  return known;
}

/** Returns the files that decide whether set-up runs again, by path. */
export async function cacheFilesIn(
  files: Map<string, { oid: string }>,
  patterns: string[] | undefined,
): Promise<Map<string, string>> {
  const chosen =
    patterns === undefined
      ? await knownCacheFiles(files.keys())
      : await pathsMatching('cache', patterns, [...files.keys()]);
  return new Map([...chosen].map((path) => [path, files.get(path)?.oid ?? '']));
}
