import { protectionAbove, protectionOf, seenAs } from '../../domain/protected/protected-paths.ts';
import type { Checkout } from '../../git/engine.ts';
import { inPortions } from '../../git/work-tree/tree-files.ts';

/** A path through which programs reach a file or folder that has another path in the repository. */
interface Lead {
  from: string;
  /** As the most lenient file system sees it; '' for the root. */
  to: string;
}

/** As many links as Linux follows for one path. */
const maxHops = 40;
/** At most this many are followed, the shortest first. Links can lead to each other in a circle; agents cannot add protected ones. */
const maxNames = 1000;
/** The longest target of a link on Linux. */
const maxTargetBytes = 4096;

/**
 * Finds the protected paths of a tree that are symbolic links, and those inside a folder that such a link leads to. Returns a function that
 * returns the protected names under which a path of the repository is also reached: with a link from `.husky` to `hooks`, that is
 * `.husky/pre-commit` for `hooks/pre-commit`.
 */
export async function protectedNames(checkout: Checkout, tree: string): Promise<(path: string) => string[]> {
  const links = new Map<string, string>();
  await inPortions(await checkout.files(tree), ([path, { mode, oid }]) => {
    if (mode === '120000') links.set(path, oid);
  });
  const leads: Lead[] = [];
  const byLength = [...links.keys()].filter(isProtected).sort((a, b) => a.length - b.length);
  const waiting = byLength.map((path) => ({ name: path, path }));
  const known = new Set(waiting.map(({ name }) => name));
  for (const [i, { name, path }] of waiting.entries()) {
    if (i === maxNames) break;
    const { end, passed } = await follow(checkout, links, path);
    for (const to of [...passed, ...(end === undefined ? [] : [end])]) leads.push({ from: name, to: seenAs(to) });
    if (end === undefined) continue;
    await inPortions(links.keys(), (inside) => {
      const alias = nameUnder(name, end, inside);
      if (alias === undefined || known.size >= maxNames || known.has(alias) || !isProtected(alias)) return;
      known.add(alias);
      waiting.push({ name: alias, path: inside });
    });
  }
  return (path) => {
    const seen = leads.length === 0 ? '' : seenAs(path);
    return leads.map(({ from, to }) => nameUnder(from, to, seen)).filter((name) => name !== undefined);
  };
}

const isProtected = (path: string) => protectionOf(path) !== undefined || protectionAbove(path) !== undefined;

/** Returns the name of a path if `from` leads to that path or a folder above it; undefined otherwise. */
function nameUnder(from: string, to: string, path: string): string | undefined {
  if (to === '') return `${from}/${path}`;
  return path === to || path.startsWith(`${to}/`) ? `${from}${path.slice(to.length)}` : undefined;
}

/**
 * Follows the links of a path inside a tree. Returns where it ends, undefined if that is not in the repository, and the
 * other links that it passes.
 */
async function follow(checkout: Checkout, links: Map<string, string>, path: string) {
  const passed: string[] = [];
  const names: string[] = [];
  const left = path.split('/');
  for (let hops = 0; left.length > 0; ) {
    if (!enter(names, left.shift())) return { end: undefined, passed };
    const here = names.join('/');
    const oid = links.get(here);
    if (oid === undefined) continue;
    if (hops++ > 0) passed.push(here);
    const target = (await checkout.readBlobs([oid], maxTargetBytes)).get(oid)?.toString();
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
