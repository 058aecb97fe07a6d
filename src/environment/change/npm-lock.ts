import { leadsOut, rangesOfNpm } from './ranges.ts';

/** Maps from the names of packages to ranges, or in old lock files to entries. */
const dependencyKeys = new Set(['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']).add(
  'requires',
);
/** What says where a package comes from. */
const referenceKeys = new Set(['resolved', 'version', 'from']);
/** Names of programs and other things that may look like the keys above. */
const otherKeys = new Set(['bin', 'engines', 'funding', 'license', 'peerDependenciesMeta']);

/**
 * Returns whether a lock file of npm names only packages of registries, of the repository itself, and archives, in the folders of
 * packages. npm up to
 * version 10 runs scripts of packages from git to prepare them, even if it downloads them as archives and scripts are off.
 */
export function isUsualLockOfNpm(lock: object): boolean {
  const open: object[] = [lock];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!referencesIn(next).every(isUsualReference) || Object.entries(next).some(leadsOutside)) return false;
    for (const [key, value] of Object.entries(next))
      if (!otherKeys.has(key)) open.push(...partsOf(key, value, isObject));
  }
  return true;
}

/** Returns the references of an entry. Links are left out: they name a folder of the repository. */
function referencesIn(entry: { link?: unknown }): string[] {
  return Object.entries(entry).flatMap(([key, value]) => {
    if (!dependencyKeys.has(key) && !referenceKeys.has(key)) return [];
    const isFolder = key === 'resolved' && entry.link === true && !String(value).includes(':');
    return isFolder ? [] : partsOf(key, value, (part) => typeof part === 'string');
  });
}

/** Returns whether a part of an entry names a package that would be written outside of the folder of packages. */
function leadsOutside([key, value]: [string, unknown]): boolean {
  const isMap = dependencyKeys.has(key) && isObject(value);
  return (
    /(^|\/)node_modules\/(.*\/)?\.\.(\/|$)/.test(key) ||
    (isMap && Object.keys(value).some((name) => leadsOut.test(name)))
  );
}

/** Returns a value, or those in it if it is a map of dependencies, as far as they are of a kind. */
const partsOf = <T>(key: string, value: unknown, isOfKind: (part: unknown) => part is T): T[] =>
  (dependencyKeys.has(key) && isObject(value) ? Object.values(value) : [value]).filter(isOfKind);

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
