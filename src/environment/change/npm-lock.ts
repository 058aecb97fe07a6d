import { leadsOut, rangesOfNpm } from './ranges.ts';

/** Maps from the names of packages to ranges, or in old lock files to entries. */
const dependencyKeys = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies', 'requires'];

interface Entry {
  /** What says where the package comes from. */
  resolved?: unknown;
  version?: unknown;
  from?: unknown;
  link?: unknown;
}

/**
 * Returns whether a lock file of npm names only packages of registries, of the repository itself, and archives, in the folders of
 * packages. npm up to version 10 runs scripts of packages from git to prepare them, even if it downloads them as archives and
 * scripts are off.
 */
export function isUsualLockOfNpm(lock: object): boolean {
  const locations = mapIn((lock as { packages?: unknown }).packages);
  if (locations.some(([location]) => leadsOutOfPackages.test(location))) return false;
  const open: object[] = [lock, ...locations.map(([, entry]) => entry).filter(isObject)];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const dependencies = dependencyKeys.flatMap((key) => mapIn((entry as Record<string, unknown>)[key]));
    if (dependencies.some(([name]) => leadsOut.test(name))) return false;
    const parts = dependencies.map(([, part]) => part);
    if (![...referencesIn(entry), ...parts.filter(isText)].every(isUsualReference)) return false;
    open.push(...parts.filter(isObject));
  }
  return true;
}

const leadsOutOfPackages = /(^|\/)node_modules\/(.*\/)?\.\.(\/|$)/;

/** Returns what says where a package comes from. Links are left out: they name a folder of the repository. */
function referencesIn({ resolved, version, from, link }: Entry): string[] {
  const isFolder = link === true && !String(resolved).includes(':');
  return [isFolder ? undefined : resolved, version, from].filter(isText);
}

const mapIn = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);
const isText = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns whether a reference is that of a registry, a folder or an archive, however it is written. */
function isUsualReference(text: string): boolean {
  const reference = text.replace(/^(@[\w.~-]+\/)?[\w.~-]+@(?!.*@)/, '');
  return !/[:/]/.test(reference) || rangesOfNpm.test(reference) || isArchive(reference);
}

/** npm takes any address there for that of a repository (https://github.com/npm/hosted-git-info). */
const gitHosts = /^(www\.)?(gist\.github\.com|github\.com|gitlab\.com|bitbucket\.org|git\.sr\.ht)$/;

function isArchive(text: string): boolean {
  const url = /^https?:\/\//.test(text) ? URL.parse(text) : null;
  if (url === null) return false;
  // GitLab is also a registry, whose addresses have this part.
  return !gitHosts.test(url.hostname) || (url.hostname === 'gitlab.com' && url.pathname.includes('/-/'));
}
