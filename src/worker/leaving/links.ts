import { setImmediate } from 'node:timers/promises';
import { seenAs } from '../../domain/protected/protected-paths.ts';
import { RunFailed } from '../../domain/run.ts';
import type { Checkout } from '../../git/engine.ts';
import { foldersOf, inPortions } from '../../git/work-tree/tree-files.ts';

/** The symbolic links of a tree by which protected names lead to other files. */
export interface ProtectedLinks {
  /**
   * Returns the protected names, or names above them, under which a path is reached: with a link from `.husky` to `hooks`,
   * `.husky/x` for `hooks/x`. A path that a link passes on its way has the name of that link. With `isFolder`, so does one above the
   * end of a link.
   */
  namesOf(path: string, isFolder: boolean): Iterable<string>;
  /** Returns whether a path leads to a file, and to no folder, submodule or nothing. */
  isFile(path: string): Promise<boolean>;
}

/** As many links as Linux follows for one path. */
const maxHops = 40;
/** The longest target of a link on Linux. */
const maxTargetBytes = 4096;
/** Limits for the names that are followed, for the links below what they lead to, and for the parts of all paths, which take about 2 s. */
const [maxNames, maxInside, maxParts] = [10_000, 50_000, 200_000];
/** With each link that a name leads through, it becomes longer. This limits the names, together, that links below others have. */
const maxChars = 1_000_000;
const submoduleMode = '160000';
/** After this time, the event loop has its turn. */
const portionMs = 5;

interface Name {
  name: string;
  /** The link that it is. */
  path: string;
  /** The links that the name leads through. */
  chain: string[];
}

/**
 * Follows the links of a tree whose names matter: those that are protected, and those in the place of a folder with protected files. Agents
 * may not add such links. One that exceeds the limits with links behind those of people only fails its own run.
 * @throws RunFailed `repository` beyond the limits
 */
export async function followProtected(
  checkout: Checkout,
  tree: string,
  whichMatter: (names: string[]) => Promise<ReadonlySet<string>>,
): Promise<ProtectedLinks> {
  const files = await checkout.files(tree);
  const links = await linksAmong(checkout, files);
  const leads = await leadsOf(links, whichMatter);
  const ends = [...leads.keys()].sort().map((seen) => ({ seen }));
  return {
    namesOf: (path, isFolder) => (leads.size === 0 ? [] : namesIn({ leads, ends }, path, isFolder)),
    isFile: async (path) => {
      // Agents can add other links that exceed the limits. They count as folders.
      const { end } = await follow(links, path).catch(() => ({ end: undefined }));
      const mode = end === undefined ? undefined : files.get(end)?.mode;
      return mode !== undefined && mode !== submoduleMode;
    },
  };
}

/** Returns the names that lead to a file or folder, by its path as the most lenient file system sees it; '' is the root. */
async function leadsOf(links: Links, whichMatter: (names: string[]) => Promise<ReadonlySet<string>>) {
  const leads = new Map<string, string[]>();
  let waiting: Name[] = links.below('').map(({ path }) => ({ name: path, path, chain: [path] }));
  for (let [count, chars] = [0, 0]; waiting.length > 0; ) {
    const matter = await whichMatter(waiting.map(({ name }) => name));
    const round = waiting.filter(({ name }) => matter.has(name));
    count += round.length;
    if (count > maxNames) throw tooMany();
    waiting = [];
    for (const each of round) {
      const inside = await lead(links, leads, each);
      for (const { name } of inside) chars += name.length;
      waiting.push(...inside);
      if (waiting.length > maxInside || chars > maxChars) throw tooMany();
    }
  }
  return leads;
}

/** Notes where a name leads. Returns the names of the links below that. */
async function lead(links: Links, leads: Map<string, string[]>, each: Name): Promise<Name[]> {
  const { end, passed } = await follow(links, each.path);
  for (const to of passed) addLead(leads, seenAs(to), each.name);
  if (end === undefined) return [];
  addLead(leads, seenAs(end), each.name);
  return namesInside(links, each, end);
}

function addLead(leads: Map<string, string[]>, to: string, name: string): void {
  const names = leads.get(to);
  if (names === undefined) leads.set(to, [name]);
  else names.push(name);
}

/** Returns the names of the links below the folder that a name leads to, without those that it leads through. */
function namesInside(links: Links, { name, chain }: Name, folder: string): Name[] {
  return links
    .below(folder)
    .filter(({ path }) => !chain.includes(path))
    .map(({ path, rest }) => ({ name: `${name}/${rest}`, path, chain: [...chain, path] }));
}

export const tooMany = () =>
  new RunFailed(
    'repository',
    'its protected paths are symbolic links that lead to too many others to be followed; remove some of the links',
  );

interface Links {
  /**
   * Returns the link at a path, also one that some file system takes for the same path. With `isTwin`, another file or a folder has
   * exactly this path.
   */
  at(path: string): Promise<{ path: string; oid: string; isTwin: boolean } | undefined>;
  /** Returns the links below a folder, with what follows its path; '' is the root. */
  below(folder: string): { path: string; rest: string }[];
  targetOf(oid: string): Promise<string | undefined>;
  /** Counts a part of a path, and gives the event loop its turns. @throws RunFailed beyond `maxParts` */
  count(): Promise<void>;
}

async function linksAmong(checkout: Checkout, files: Map<string, { mode: string; oid: string }>): Promise<Links> {
  const found: { path: string; seen: string; oid: string }[] = [];
  await inPortions(files, ([path, { mode, oid }]) => {
    if (mode === '120000') found.push({ path, seen: seenAs(path), oid });
  });
  const sorted = found.sort((a, b) => (a.seen < b.seen ? -1 : 1));
  const [exact, seen] = [
    new Map(sorted.map((link) => [link.path, link])),
    new Map(sorted.map((link) => [link.seen, link])),
  ];
  const targets = new Map<string, string | undefined>();
  let [parts, turnAt] = [0, performance.now() + portionMs];
  return {
    count: async () => {
      if (parts++ > maxParts) throw tooMany();
      if (performance.now() < turnAt) return;
      await setImmediate();
      turnAt = performance.now() + portionMs;
    },
    at: async (path) => {
      const own = exact.get(path);
      const found = own ?? seen.get(seenAs(path));
      if (found === undefined) return undefined;
      return { ...found, isTwin: own === undefined && (files.has(path) || (await foldersOf(files)).has(path)) };
    },
    below: (folder) => {
      const above = folder === '' ? '' : `${seenAs(folder)}/`;
      const inside: { path: string; rest: string }[] = [];
      for (let at = firstFrom(sorted, above); sorted[at]?.seen.startsWith(above); at++)
        inside.push(withRest(sorted[at] as (typeof sorted)[number], above));
      return inside;
    },
    targetOf: async (oid) => {
      if (!targets.has(oid)) targets.set(oid, (await checkout.readBlobs([oid], maxTargetBytes)).get(oid)?.toString());
      return targets.get(oid);
    },
  };
}

function withRest({ path, seen }: { path: string; seen: string }, above: string) {
  return { path, rest: lastParts(path, seen.slice(above.length)) };
}

/** Returns the end of a path that has as many parts as `rest`, which is that end as some file system sees it. */
const lastParts = (path: string, rest: string) => path.split('/').slice(-rest.split('/').length).join('/');

/** Returns the index of the first link that does not come before a path. */
function firstFrom(sorted: { seen: string }[], path: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.seen ?? '') < path) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Follows the links of a path inside a tree. Returns where it ends, undefined if that is not in the repository, and the
 * other links that it passes.
 */
async function follow(links: Links, path: string): Promise<{ end?: string; passed: string[] }> {
  const passed: string[] = [];
  const names: string[] = [];
  const left = path.split('/');
  for (let hops = 0; left.length > 0; ) {
    await links.count();
    if (!enter(names, left.shift())) return { passed };
    const link = await links.at(names.join('/'));
    if (link === undefined) continue;
    if (hops > 0 || link.isTwin) passed.push(link.path);
    if (link.isTwin) continue;
    hops += 1;
    const target = await links.targetOf(link.oid);
    if (target === undefined || target.startsWith('/') || hops > maxHops) return { passed };
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

/** Where names lead to, in the order of the paths. */
interface Leads {
  leads: Map<string, string[]>;
  ends: { seen: string }[];
}

function* namesIn({ leads, ends }: Leads, path: string, isFolder: boolean): Iterable<string> {
  const seen = seenAs(path);
  for (const name of leads.get('') ?? []) yield `${name}/${path}`;
  for (const name of leads.get(seen) ?? []) yield name;
  for (let end = seen.lastIndexOf('/'); end > 0; end = seen.lastIndexOf('/', end - 1))
    for (const name of leads.get(seen.slice(0, end)) ?? []) yield `${name}/${lastParts(path, seen.slice(end + 1))}`;
  if (!isFolder) return;
  for (let at = firstFrom(ends, `${seen}/`); ends[at]?.seen.startsWith(`${seen}/`); at++)
    yield* leads.get(ends[at]?.seen ?? '') ?? [];
}
