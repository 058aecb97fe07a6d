import { posix } from 'node:path';
import { type FilesOfTree, objectIn } from './files-of-tree.ts';

const [named, versions] = [String.raw`(@[\w.-]+\/)?[\w.-]+`, String.raw`[\w.*+^~<>=|\s-]*`];
/** Ranges whose packages come from a registry or from the repository itself, so that nothing runs to resolve them. */
const rangesOfAll = `${versions}|npm:(${named}@)?${versions}|npm:${named}|workspace:[\\w.*^~/@-]*|catalog:[\\w-]*`;
export const rangesOfNpm = new RegExp(`^(${rangesOfAll}|link:.*|file:.*|\\$${named})$`);
export const rangesOfYarn = new RegExp(
  `^(${rangesOfAll}|(link|portal):[^:#%]*|patch:(@|%40)?[\\w./-]+@(npm(:|%3A))?([\\w.*+^~-]|%5E|%7E)*(#[^:%]*)?)$`,
);

/** Fields of package.json with ranges, also below further keys. Which of them counts depends on the package manager. */
const rangeFields = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'].concat([
  'resolutions',
  'overrides',
  'packageExtensions',
  'catalog',
  'catalogs',
]);

/** A name that leads out of the folder of packages: some package managers write there, such as into the home folder. */
export const leadsOut = /(^|\/)\.\.(\/|$)/;

/** The same in a line of a lock file, before a version or an address. */
export const nameLeadsOut = /^(\? )?[ \t]*["']?@?(?:[^\s"',:@]*\/)?\.\.[/"':@]|, ["']?@?(?:[^\s"',:@]*\/)?\.\.[/"':@]/m;

/**
 * Names manifests with unusual new ranges, such as `exec:` of Yarn and those from git, which name code that could run while they
 * are resolved, and with names that lead out of the folder of packages.
 */
export function unusualRanges(base: FilesOfTree, change: FilesOfTree, usual: RegExp): string[] {
  return [...change.texts].flatMap(([path, text]) => {
    if (posix.basename(path) !== 'package.json' || base.oids.get(path) === change.oids.get(path)) return [];
    const before = new Set(rangesIn(base.texts.get(path) ?? '').map(({ name, range }) => `${name} ${range}`));
    const unusual = rangesIn(text).find(
      ({ name, range }) => (leadsOut.test(name) || !usual.test(range)) && !before.has(`${name} ${range}`),
    );
    if (unusual === undefined) return [];
    return leadsOut.test(unusual.name)
      ? [`${path}: "${unusual.name.slice(0, 100)}" is not the name of a package`]
      : [`${path}: "${unusual.range.slice(0, 100)}" is not a version of a package of a registry`];
  });
}

function rangesIn(text: string): { name: string; range: string }[] {
  const found: { name: string; range: string }[] = [];
  const manifest = objectIn(text);
  const open = rangeFields.map((field): [string, unknown] => ['', manifest?.[field]]);
  for (const [name, value] of open) {
    if (typeof value === 'string') found.push({ name, range: value });
    else if (typeof value === 'object' && value !== null) open.push(...Object.entries(value));
  }
  return found;
}
