import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type FilesOfTree, objectIn, writtenAgain } from './files-of-tree.ts';
import { isUsualLockOfNpm } from './npm-lock.ts';
import type { Fetch, PackageManager } from './package-managers.ts';
import { nameLeadsOut, rangesOfNpm, rangesOfYarn, unusualRanges } from './ranges.ts';
import { inRequirements, linesIn, requirementFiles } from './requirements.ts';
import { formatOfYarn, isUsualLock } from './yarn-lock.ts';

/** Files that tell a package manager what to fetch. They hold no code, so those of the change are used. */
const manifests: Record<PackageManager, RegExp> = {
  npm: /(^|\/)(package|package-lock|npm-shrinkwrap)\.json$/,
  pnpm: /(^|\/)(package\.json|pnpm-lock\.yaml)$/,
  yarn: /(^|\/)(package\.json|yarn\.lock)$/,
  pip: /(?!)/,
  uv: /(^|\/)(pyproject\.toml|uv\.lock)$/,
  go: /(^|\/)go\.(mod|sum|work|work\.sum)$/,
  cargo: /(^|\/)Cargo\.(toml|lock)$/,
  composer: /(^|\/)composer\.(json|lock)$/,
};

/** Returns whether a file is a manifest or a lock file of a package manager. */
export function isManifest(manager: PackageManager, path: string): boolean {
  return manifests[manager].test(path);
}

/**
 * Returns the texts, by path, that a fetch gets of the change: the manifests of its own package manager and files of
 * requirements. A file that only has the name of another manager's manifest may hold a program. Requirements and JSON are
 * written again from what was parsed here, so that the package manager reads what was checked. Manifests of Node lose their
 * scripts: npm up to version 10 runs `prepare` of folders and workspaces although scripts are off.
 */
export function textsForFetch({ manager, requirements }: Fetch, { texts }: FilesOfTree): Map<string, string> {
  const found = new Map<string, string>();
  for (const [path, text] of texts) if (manifests[manager].test(path)) found.set(path, writtenForFetch(path, text));
  for (const path of requirementFiles(requirements, texts))
    if (texts.has(path)) found.set(path, linesIn(texts.get(path) ?? '').join('\n'));
  return found;
}

function writtenForFetch(path: string, text: string): string {
  if (!path.endsWith('.json')) return text;
  if (posix.basename(path) !== 'package.json') return writtenAgain(text) ?? text;
  const manifest = objectIn(text);
  if (manifest === undefined) return text;
  const { scripts: _, ...others } = manifest;
  return `${JSON.stringify(others, null, 2)}\n`;
}

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
export function isConfiguration(manager: PackageManager, path: string): boolean {
  return configuration[manager].test(path) || besides.test(path);
}

/** Returns whether a change of a file needs an approval because it configures a package manager, or is code that one runs. */
export function decidesByName(manager: PackageManager, path: string): boolean {
  return configuration[manager].test(path) || (manager === 'pnpm' && pnpmCode.test(path));
}

const pnpmCode = /(^|\/)\.pnpmfile\.[cm]?js$/;

/** Files that configurations name, such as certificates, and files with the version of a program. */
const besides = /\.(pem|crt)$|(^|\/)\.(nvmrc|node-version|python-version|go-version|tool-versions)$/;

/** The most reasons. People see fewer, with the number of the others. */
const maxReasons = 1000;

/**
 * Returns why the packages of a change cannot be fetched without its code having a say: one line for each file, which
 * names it. Empty when they can be.
 */
export function approvalReasons(fetches: Fetch[], base: FilesOfTree, change: FilesOfTree): string[] {
  const reasons = new Set<string>();
  for (const [i, fetch] of fetches.entries()) {
    // All fetches of a manager have the same manifests; those of pip have requirements of their own.
    const isFirst = fetches.findIndex(({ manager }) => manager === fetch.manager) === i;
    if (!isFirst && fetch.manager !== 'pip') continue;
    const used = configuration[fetch.manager];
    for (const path of new Set([...base.oids.keys(), ...change.oids.keys()]))
      if (used.test(path) && base.oids.get(path) !== change.oids.get(path))
        reasons.add(`${path}: it changes, and tells ${fetch.manager} where packages come from and what to run`);
    for (const reason of readDifferently(fetch, base, change)) reasons.add(reason);
    for (const reason of inManifests[fetch.manager](fetch, base, change)) reasons.add(reason);
  }
  return [...reasons].slice(0, maxReasons);
}

/**
 * Names files in which programs may see other characters or lines than this service. Some take more characters for the end
 * of a line, as Python does, or look for another encoding. JSON is left out: what a fetch gets of it is written again.
 */
function readDifferently(fetch: Fetch, base: FilesOfTree, change: FilesOfTree): string[] {
  const unusual = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\uFEFF\uFFFD]/u;
  return [...textsForFetch(fetch, change).keys()]
    .filter((path) => !path.endsWith('.json') && base.oids.get(path) !== change.oids.get(path))
    .filter((path) => unusual.test(change.texts.get(path)?.replaceAll('\r\n', '\n') ?? ''))
    .map((path) => `${path}: it has control characters or is not UTF-8, so ${fetch.manager} could read it differently`);
}

type Judge = (fetch: Fetch, base: FilesOfTree, change: FilesOfTree) => string[];

const inManifests: Record<PackageManager, Judge> = {
  npm: (_fetch, base, change) => [
    ...changedKeys(base, change),
    ...unusualRanges(base, change, rangesOfNpm),
    ...inLocksOfNpm(base, change),
  ],
  pnpm: (_fetch, base, change) => [
    ...changedKeys(base, change),
    ...unusualRanges(base, change, rangesOfNpm),
    ...changedText(base, change, /(^|\/)pnpm-lock\.yaml$/, beforePackages).map(
      (path) => `${path}: what it says before the packages changes, and can choose the program that installs`,
    ),
    ...matching(change, /(^|\/)pnpm-lock\.yaml$/, /\btype["']?\s*:\s*(!!str\s*)?["']?git\b/, fromGit),
    ...archivesOfGit(base, change).map((path) => `${path}: ${fromGit}`),
    ...matching(change, /(^|\/)pnpm-lock\.yaml$/, nameLeadsOut, ofNoFolder),
    ...[...change.oids.keys()]
      .filter((path) => pnpmCode.test(path))
      .map((path) => `${path}: it is code that decides what pnpm installs`),
  ],
  // `built` lets Yarn run the script of a package although scripts are off.
  yarn: (_fetch, base, change) => [
    ...changedKeys(base, change, [...nodeKeys, 'dependenciesMeta']),
    ...unusualRanges(base, change, rangesOfYarn),
    ...inYarnLocks(base, change),
    ...matching(change, /(^|\/)yarn\.lock$/, nameLeadsOut, ofNoFolder),
  ],
  pip: ({ requirements }, base, change) => inRequirements(requirements, base.texts, change.texts),
  uv: (_fetch, base, change) => [
    ...matching(change, /(^|\/)uv\.lock$/, /\bgit["']?\s*=|\\/, fromGit),
    ...changedText(base, change, /(^|\/)pyproject\.toml$/, settingsOfUv).map(
      (path) => `${path}: its settings of uv change, and tell it where packages come from`,
    ),
  ],
  go: () => [],
  cargo: () => [],
  composer: (_fetch, base, change) => inComposer(base, change),
};

const ofNoFolder = 'it names a package that would be written outside of the folder of packages';
const fromGit = 'it names a package of a git repository, whose scripts would run to prepare it';

function inLocksOfNpm(base: FilesOfTree, change: FilesOfTree): string[] {
  return [...change.texts].flatMap(([path, text]) => {
    if (!/(^|\/)(package-lock|npm-shrinkwrap)\.json$/.test(path)) return [];
    const lock = writtenAgain(text);
    if (lock === undefined) return base.oids.get(path) === change.oids.get(path) ? [] : [`${path}: it cannot be read`];
    return isUsualLockOfNpm(JSON.parse(lock)) ? [] : [`${path}: ${fromGit}`];
  });
}

/** Keys of package.json that choose the program which installs, or configure it. */
const nodeKeys = ['packageManager', 'devEngines', 'volta', 'pnpm'];

function changedKeys(base: FilesOfTree, change: FilesOfTree, keys = nodeKeys): string[] {
  return [...change.texts].flatMap(([path, text]) => {
    if (posix.basename(path) !== 'package.json' || base.oids.get(path) === change.oids.get(path)) return [];
    const now = objectIn(text);
    if (now === undefined) return [`${path}: it cannot be read`];
    const before = objectIn(base.texts.get(path) ?? '{}') ?? {};
    return keys
      .filter((key) => !isDeepStrictEqual(now[key], before[key]))
      .map((key) => `${path}: its "${key}" changes, and chooses or configures the program that installs`);
  });
}

/** Returns the document with which a lock file of pnpm may begin. It names pnpm itself and plugins. */
function beforePackages(text: string): string {
  const documents = text.split(/^---/m);
  if (documents.length === 1) return '';
  return documents.length === 3 && documents[0] === '' ? (documents[1] ?? '') : text;
}

/** A line that may name an archive of a git host. */
const archiveOfGit = /\btarball\b|\bgitHosted\b|\\/;
/** An archive of a registry or of the repository, as pnpm writes it. URLs have many spellings, so the others are not listed. */
const usualArchive =
  /^[^\\]*\btarball: (file:[^\s"'{}]+|https?:\/\/(?!(codeload\.github\.com|gitlab\.com|bitbucket\.org)[:/])[a-z0-9.-]+(:\d+)?\/[^\s"'{},\\]+)\}?,?$/;

/** Names lock files of pnpm with new archives of git hosts. Some versions before 7.24 run the scripts of such packages. */
function archivesOfGit(base: FilesOfTree, change: FilesOfTree): string[] {
  const isLock = ([path]: [string, string]) => posix.basename(path) === 'pnpm-lock.yaml';
  return [...change.texts].filter(isLock).flatMap(([path, text]) => {
    const before = new Set(base.texts.get(path)?.split('\n'));
    const isUnusual = (line: string) => archiveOfGit.test(line) && !usualArchive.test(line) && !before.has(line);
    return text.split('\n').some(isUnusual) ? [path] : [];
  });
}

function matching({ texts }: FilesOfTree, path: RegExp, pattern: RegExp, why: string): string[] {
  return [...texts].filter(([name, text]) => path.test(name) && pattern.test(text)).map(([name]) => `${name}: ${why}`);
}

/**
 * Later versions of Yarn run code to fetch a package from git, from GitHub or by `exec:`. Their lock file is read by what
 * it may say, because it could write the forbidden in other ways. Its format has to be that of the base, because Yarn
 * resolves packages again if the format is older than its own.
 */
function inYarnLocks(base: FilesOfTree, change: FilesOfTree): string[] {
  const isLock = ([path]: [string, string]) => posix.basename(path) === 'yarn.lock';
  const known = new Set([...base.texts].filter(isLock).map(([, text]) => formatOfYarn(text)));
  return [...change.texts].filter(isLock).flatMap(([path, text]) => {
    const format = formatOfYarn(text);
    if (format === undefined || (format !== 'v1' && !isUsualLock(text)))
      return [`${path}: it names a package that is not of a registry, or is written in an unusual way`];
    if (format === 'v1' && /resolved["']?[\s:]+["']?(git[+:@]|github:|ssh:)/.test(text)) return [`${path}: ${fromGit}`];
    return known.size === 0 || known.has(format) ? [] : [`${path}: its format is not that of the base`];
  });
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
      return hasArchives(now)
        ? []
        : [
            `${path}: it names a package without an archive, one that is not from git, or one that goes into a folder of its own choice`,
          ];
    const before = objectIn(base.texts.get(path) ?? '{}') ?? {};
    return Object.keys({ ...before, ...now })
      .filter((key) => !harmlessForComposer.has(key) && !isDeepStrictEqual(now[key], before[key]))
      .map(
        (key) => `${path}: its "${key.slice(0, 50)}" changes, and can tell Composer where packages come from and go`,
      );
  });
}

/** The fields of a composer.json that only name packages, describe the project, or are for scripts and plugins, which are off. */
const harmlessForComposer = new Set([
  ...['name', 'description', 'version', 'type', 'keywords', 'homepage', 'readme', 'time', 'license', 'authors'],
  ...['support', 'funding', 'abandoned', 'archive', 'scripts', 'scripts-descriptions', 'scripts-aliases', 'extra'],
  ...['require', 'require-dev', 'conflict', 'replace', 'provide', 'suggest', 'autoload', 'autoload-dev'],
  ...['minimum-stability', 'prefer-stable', '_comment'],
]);

interface LockedByComposer {
  name?: unknown;
  'target-dir'?: unknown;
  dist?: { type?: string } | null;
  source?: { type?: string };
}

/** Composer unpacks a package into the folder of its name (https://getcomposer.org/doc/04-schema.md#name). */
const isComposerName = /^[a-z0-9][a-z0-9_.-]{0,99}\/[a-z0-9][a-z0-9_.-]{0,99}$/;

function hasArchives(lock: Record<string, unknown>): boolean {
  const packages = [lock.packages ?? [], lock['packages-dev'] ?? []].flat() as (LockedByComposer | null)[];
  return packages.every(
    (each) =>
      isComposerName.test(String(each?.name)) &&
      each?.['target-dir'] === undefined &&
      /^(zip|tar|path)$/.test(each?.dist?.type ?? '') &&
      (each?.source?.type ?? 'git') === 'git',
  );
}

/**
 * Returns the statements of a TOML file that could configure uv, however they spell `tool.uv`; the whole text if it cannot
 * be read.
 */
function settingsOfUv(text: string): string {
  const parts = partsOf(text);
  if (parts === undefined) return text;
  const statements = [''];
  let depth = 0;
  for (const part of parts) {
    if (part === '\n' && depth === 0) statements.push('');
    else if (!part.startsWith('#')) statements.push((statements.pop() ?? '') + part);
    if (/^[[{]$/.test(part)) depth++;
    if (/^[\]}]$/.test(part)) depth--;
  }
  // The root table may have keys of `tool`.
  let [isOfUv, mayNameUv] = [false, true];
  const settings = statements
    .map((each) => each.trim())
    .filter((statement) => {
      // A backslash may spell any name.
      const namesUv = /\buv\b|\\/.test(statement);
      if (statement.startsWith('[')) {
        isOfUv = namesUv;
        mayNameUv = /^\[\s*["']?tool["']?\s*\]$/.test(statement);
      }
      return isOfUv ? statement !== '' : mayNameUv && namesUv;
    });
  return settings.join('\n');
}

/** Whatever a string of TOML cannot begin in: comments, brackets, ends of lines, and the text between them. */
const outsideStrings = /#[^\n]*|[[\]{}]|\n|[^#"'[\]{}\n]+/y;

/** Splits a TOML file into its strings and what is between them. Returns undefined if a string has no end. */
function partsOf(text: string): string[] | undefined {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    outsideStrings.lastIndex = at;
    const end = outsideStrings.test(text) ? outsideStrings.lastIndex : endOfString(text, at);
    if (end === undefined) return undefined;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

/** Returns where the string ends that begins at a position. A pattern would look for the ends of all strings again. */
function endOfString(text: string, start: number): number | undefined {
  const sign = text[start] ?? '';
  const hasLines = text.startsWith(sign.repeat(3), start);
  const quotes = hasLines ? sign.repeat(3) : sign;
  for (let at = start + quotes.length; at < text.length; at++) {
    if (text[at] === '\\' && sign === '"') at++;
    else if (text.startsWith(quotes, at)) {
      let end = at + quotes.length;
      // A string of several lines may end with two quotes of its own.
      while (hasLines && end < at + 5 && text[end] === sign) end++;
      return end;
    }
    if (text[at] === '\n' && !hasLines) return undefined;
  }
  return undefined;
}
