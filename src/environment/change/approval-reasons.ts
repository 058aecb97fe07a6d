import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Fetch, isRequirement, type PackageManager } from './package-managers.ts';

/** The files of a tree that decide about a fetch. */
export interface FilesOfTree {
  /** The ids of all files, by path. */
  oids: Map<string, string>;
  /** The texts of manifests and lock files, by path. */
  texts: Map<string, string>;
}

/** Files that tell a package manager what to fetch. They hold no code, so those of the change are used. */
export const manifests =
  /(^|\/)(package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|go\.(mod|sum|work|work\.sum)|Cargo\.(toml|lock)|composer\.(json|lock)|pyproject\.toml|uv\.lock)$/;

const node = String.raw`\.npmrc`;
const configuration: Record<PackageManager, RegExp> = {
  npm: new RegExp(`(^|/)${node}$`),
  pnpm: new RegExp(`(^|/)(${node}|\\.pnpmfile\\.[cm]?js|pnpm-workspace\\.yaml)$`),
  yarn: new RegExp(`(^|/)(${node}|\\.yarnrc|\\.yarnrc\\.yml|\\.yarn/(releases|plugins)/.+)$`),
  pip: /(^|\/)pip\.conf$/,
  uv: /(^|\/)uv\.toml$/,
  go: /(?!)/,
  cargo: /(^|\/)(\.cargo\/config(\.toml)?|rust-toolchain(\.toml)?)$/,
  composer: /(^|\/)auth\.json$/,
};

/** Returns whether a file configures a package manager. Only the file of the base is used. */
export function isConfiguration(path: string): boolean {
  return Object.values(configuration).some((pattern) => pattern.test(path)) || besides.test(path);
}

/** Files that configurations name, such as certificates, and files with the version of a program. */
const besides = /\.(pem|crt)$|(^|\/)\.(nvmrc|node-version|python-version|go-version|tool-versions)$/;

/**
 * Returns why the packages of a change cannot be fetched without its code having a say: one line for each file, which
 * names it. Empty when they can be.
 */
export function approvalReasons(fetches: Fetch[], base: FilesOfTree, change: FilesOfTree): string[] {
  const reasons = new Set<string>();
  for (const fetch of fetches) {
    const used = configuration[fetch.manager];
    for (const path of new Set([...base.oids.keys(), ...change.oids.keys()]))
      if (used.test(path) && base.oids.get(path) !== change.oids.get(path))
        reasons.add(`${path}: it changes, and tells ${fetch.manager} where packages come from and what to run`);
    for (const reason of inManifests[fetch.manager](fetch, base, change)) reasons.add(reason);
  }
  return [...reasons];
}

type Judge = (fetch: Fetch, base: FilesOfTree, change: FilesOfTree) => string[];

const inManifests: Record<PackageManager, Judge> = {
  npm: (_fetch, base, change) => [
    ...changedKeys(base, change),
    ...matching(
      change,
      /(^|\/)(package-lock|npm-shrinkwrap)\.json$/,
      /"(resolved|version)":\s*"(git[+:]|github:|ssh:)/,
      fromGit,
    ),
  ],
  pnpm: (_fetch, base, change) => [
    ...changedKeys(base, change),
    ...matching(change, /(^|\/)pnpm-lock\.yaml$/, /\btype: git\b/, fromGit),
    ...[...change.oids.keys()]
      .filter((path) => /(^|\/)\.pnpmfile\.[cm]?js$/.test(path))
      .map((path) => `${path}: it is code that decides what pnpm installs`),
  ],
  yarn: (_fetch, base, change) => [...changedKeys(base, change), ...inYarnLocks(change)],
  pip: ({ requirements }, base, change) => inRequirements(requirements, base, change),
  uv: (_fetch, base, change) => [
    ...matching(change, /(^|\/)uv\.lock$/, /\bgit\s*=/, fromGit),
    ...changedText(base, change, /(^|\/)pyproject\.toml$/, uvTables).map(
      (path) => `${path}: its settings of uv change, and tell it where packages come from`,
    ),
  ],
  go: () => [],
  cargo: () => [],
  composer: (_fetch, base, change) => inComposer(base, change),
};

const fromGit = 'it names a package of a git repository, whose scripts would run to prepare it';

/** Keys of package.json that choose the program which installs, or configure it. */
const nodeKeys = ['packageManager', 'devEngines', 'volta', 'pnpm'];

function changedKeys(base: FilesOfTree, change: FilesOfTree): string[] {
  return [...change.texts].flatMap(([path, text]) => {
    if (posix.basename(path) !== 'package.json' || base.oids.get(path) === change.oids.get(path)) return [];
    const now = objectIn(text);
    if (now === undefined) return [`${path}: it cannot be read`];
    const before = objectIn(base.texts.get(path) ?? '{}') ?? {};
    return nodeKeys
      .filter((key) => !isDeepStrictEqual(now[key], before[key]))
      .map((key) => `${path}: its "${key}" changes, and chooses or configures the program that installs`);
  });
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function matching({ texts }: FilesOfTree, path: RegExp, pattern: RegExp, why: string): string[] {
  return [...texts].filter(([name, text]) => path.test(name) && pattern.test(text)).map(([name]) => `${name}: ${why}`);
}

/**
 * Later versions of Yarn run code to fetch a package from git, from GitHub or by `exec:`. Their lock file is read by what
 * it may say, because it could write the forbidden in other ways.
 */
function inYarnLocks({ texts }: FilesOfTree): string[] {
  return [...texts].flatMap(([path, text]) => {
    if (posix.basename(path) !== 'yarn.lock') return [];
    if (!text.includes('__metadata:')) return /resolved "(git[+:]|ssh:)/.test(text) ? [`${path}: ${fromGit}`] : [];
    const resolutions = text.match(/resolution/g)?.length ?? 0;
    const usual = text.match(
      /^ {2}resolution: "(@[\w.-]+\/)?[\w.-]+@(npm:|workspace:|link:|portal:|patch:(@|%40)?[\w.%/-]+@npm%3A)[^"]*"$/gm,
    );
    const isUsual = resolutions === (usual?.length ?? 0) && !/\\|exec:/.test(text);
    return isUsual ? [] : [`${path}: it names a package that is not of a registry, or is written in an unusual way`];
  });
}

/** The most files of requirements that refer to each other. */
const maxRequirements = 50;

/** Reads files of requirements as far as they refer to each other. Their options could allow pip to run code. */
function inRequirements(files: string[], base: FilesOfTree, change: FilesOfTree): string[] {
  const reasons: string[] = [];
  const all = requirementFiles(files, change.texts);
  if (all.length > maxRequirements) return [`${files[0]}: it refers to more than ${maxRequirements} files`];
  for (const path of all) {
    const before = new Set(linesIn(base.texts.get(path) ?? '').filter((line) => isIndexOption.test(line)));
    const wrong = linesIn(change.texts.get(path) ?? '').find((line) => !isHarmless(line) && !before.has(line));
    if (wrong !== undefined)
      reasons.push(`${path}: "${wrong.slice(0, 100)}" is more than a package of the index and its versions`);
  }
  return reasons;
}

/** Returns these files of requirements, and those that they refer to. */
export function requirementFiles(files: string[], texts: Map<string, string>): string[] {
  const found = new Set(files);
  for (const path of found) {
    if (found.size > maxRequirements) break;
    for (const line of linesIn(texts.get(path) ?? '')) {
      const [, other] = referral.exec(line) ?? [];
      if (other !== undefined) found.add(posix.normalize(posix.join(posix.dirname(path), other)));
    }
  }
  return [...found];
}

const referral = /^(?:-[rc]|--requirement|--constraint)[ =]?\s*([\w./-]+\.(?:txt|in))$/;
/** Options that name an index. They count as harmless where the base has the same line. */
const isIndexOption = /^(-i|-f|--index-url|--extra-index-url|--find-links|--trusted-host|--pre|--prefer-binary)\b/;

function linesIn(text: string): string[] {
  return text
    .replaceAll(/\\\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '');
}

function isHarmless(line: string): boolean {
  const [, other] = referral.exec(line) ?? [];
  if (other !== undefined) return !other.startsWith('/');
  const [requirement = ''] = line.split(/\s--hash[ =]/, 1);
  const [named = ''] = requirement.split(';', 1);
  return isRequirement(named.trim());
}

/** Returns the lines of the tables of a TOML file that configure uv. */
function uvTables(text: string): string {
  let isUv = false;
  const lines = text.split('\n').filter((line) => {
    if (/^\s*\[/.test(line)) isUv = /\buv\b/.test(line);
    return isUv || /\btool\b.*\buv\b/.test(line);
  });
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** Returns the paths of files of which a part changes. */
function changedText(base: FilesOfTree, change: FilesOfTree, path: RegExp, part: (text: string) => string): string[] {
  return [...change.texts.keys()].filter(
    (name) => path.test(name) && part(change.texts.get(name) ?? '') !== part(base.texts.get(name) ?? ''),
  );
}

/** Composer falls back from an archive to the source, which several programs can fetch. git is switched off. */
function inComposer(base: FilesOfTree, change: FilesOfTree): string[] {
  return [...change.texts].flatMap(([path, text]) => {
    const name = posix.basename(path);
    if (name !== 'composer.json' && name !== 'composer.lock') return [];
    const now = objectIn(text);
    if (now === undefined) return [`${path}: it cannot be read`];
    if (name === 'composer.lock')
      return hasArchives(now) ? [] : [`${path}: it names a package without an archive, or one that is not from git`];
    const before = objectIn(base.texts.get(path) ?? '{}') ?? {};
    const isSame = isDeepStrictEqual(now.repositories, before.repositories);
    return isSame ? [] : [`${path}: its "repositories" change, and tell Composer where packages come from`];
  });
}

interface LockedByComposer {
  dist?: unknown;
  source?: { type?: string };
}

function hasArchives(lock: Record<string, unknown>): boolean {
  const packages = [lock.packages ?? [], lock['packages-dev'] ?? []].flat() as (LockedByComposer | null)[];
  return packages.every((each) => each?.dist !== undefined && (each.source?.type ?? 'git') === 'git');
}
