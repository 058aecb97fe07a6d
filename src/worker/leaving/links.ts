import { protectionAbove, protectionOf, seenAs } from '../../domain/protected/protected-paths.ts';
import type { Checkout } from '../../git/engine.ts';
import { inPortions } from '../../git/work-tree/tree-files.ts';

/** How the symbolic links of a tree bring its files under other paths. */
export interface Links {
  /** Returns the other paths of a file. With a link from `.husky` to `hooks`, `hooks/x` also is `.husky/x`. */
  namesOf(path: string): string[];
  /** Returns the paths that a link gives to files of the tree. */
  namesThrough(link: string): string[];
}

/** As many links as Linux follows for one path. */
const maxHops = 40;
/** The longest target of a link on Linux. */
const maxTargetBytes = 4096;
/** At most this many links and names are followed: protected ones first, the shortest first. Links can lead to each other in a circle. */
const maxNames = 5000;
/** A file has more other paths than this only by such circles. */
const maxNamesOfFile = 50;
/** Paths through a link that are compared with the patterns of a repository. */
const maxNamesThrough = 50_000;

/** Follows the links of a tree. */
export async function followLinks(checkout: Checkout, tree: string): Promise<Links> {
  const files = await checkout.files(tree);
  const links = await linksAmong(checkout, files);
  /** Paths that lead to a file or folder, by its path as the most lenient file system sees it; '' is the root. */
  const leads = new Map<string, string[]>();
  const ends = new Map<string, string>();
  const waiting = [...links.keys()].map((path) => ({ name: path, path }));
  const known = new Set(links.keys());
  for (const { name, path } of waiting) {
    const { end, passed } = follow(links, path);
    for (const to of end === undefined ? passed : [...passed, end]) addTo(leads, seenAs(to), name);
    if (end === undefined) continue;
    ends.set(name, end);
    await inPortions(links.keys(), (inside) => {
      const alias = nameUnder(name, end, inside);
      if (alias === undefined || known.size >= maxNames || known.has(alias)) return;
      known.add(alias);
      waiting.push({ name: alias, path: inside });
    });
  }
  return {
    namesOf: (path) => (leads.size === 0 ? [] : namesIn(leads, seenAs(path))),
    namesThrough: (link) => {
      const end = ends.get(link);
      const names = end === undefined ? [] : [...files.keys()].map((path) => nameUnder(link, end, path));
      return names.filter((name) => name !== undefined).slice(0, maxNamesThrough);
    },
  };
}

/** Reads where the links of a tree lead. */
async function linksAmong(checkout: Checkout, files: Map<string, { mode: string; oid: string }>) {
  const oids = new Map<string, string>();
  await inPortions(files, ([path, { mode, oid }]) => {
    if (mode === '120000') oids.set(path, oid);
  });
  const isProtected = (path: string) => protectionOf(path) !== undefined || protectionAbove(path) !== undefined;
  const order = (a: string, b: string) => Number(isProtected(b)) - Number(isProtected(a)) || a.length - b.length;
  const paths = [...oids.keys()].sort(order).slice(0, maxNames);
  const targets = await checkout.readBlobs([...new Set(paths.map((path) => oids.get(path) ?? ''))], maxTargetBytes);
  return new Map(paths.map((path) => [path, targets.get(oids.get(path) ?? '')?.toString()]));
}

function addTo(leads: Map<string, string[]>, to: string, name: string): void {
  const names = leads.get(to);
  if (names === undefined) leads.set(to, [name]);
  else names.push(name);
}

/** Returns the names of a file, by the paths that lead to it and to the folders above it. */
function namesIn(leads: Map<string, string[]>, path: string): string[] {
  const found = (leads.get('') ?? []).map((name) => `${name}/${path}`);
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    for (const name of leads.get(path.slice(0, end)) ?? []) found.push(`${name}${path.slice(end)}`);
  return found.slice(0, maxNamesOfFile);
}

/** Returns the name of a path if `name` leads to that path or a folder above it; undefined otherwise. */
function nameUnder(name: string, to: string, path: string): string | undefined {
  if (to === '') return `${name}/${path}`;
  return path === to || path.startsWith(`${to}/`) ? `${name}${path.slice(to.length)}` : undefined;
}

/**
 * Follows the links of a path inside a tree. Returns where it ends, undefined if that is not in the repository, and the
 * other links that it passes.
 */
function follow(links: Map<string, string | undefined>, path: string) {
  const passed: string[] = [];
  const names: string[] = [];
  const left = path.split('/');
  for (let hops = 0; left.length > 0; ) {
    if (!enter(names, left.shift())) return { end: undefined, passed };
    const here = names.join('/');
    if (!links.has(here)) continue;
    if (hops++ > 0) passed.push(here);
    const target = links.get(here);
    if (target === undefined || target.startsWith('/') || hops > maxHops) return { end: undefined, passed };
    names.pop();
    left.unshift(...target.split('/'));
  }
  return { end: names.join('/'), passed };
}

/** Goes to a name from a folder, whose names it changes. Returns false if that leaves the repository. */
function enter(names: string[], name = ''): boolean {
  if (name === '..') return names.pop() !== undefined;
  if (name !== '' && name !== '.') names.push(name);
  return true;
}
