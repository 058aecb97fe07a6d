import type { Checkout } from '../../git/engine.ts';
import { inPortions } from '../../git/work-tree/tree-files.ts';
import { apart } from '../../threads/apart.ts';
import { OverLimit } from '../../threads/start-thread.ts';
import { decidesByName, isConfiguration, isManifest } from './approval-reasons.ts';
import type { ForFetch, Manifests } from './judge-manifests.ts';
import type { Fetch, PackageManager } from './package-managers.ts';
import { maxRequirements } from './requirements.ts';

/** The most bytes of one file that is read for fetches. */
const maxBytes = 5_000_000;
/** The most bytes of all of them together, in the base and in the change. */
const maxTotalBytes = 20_000_000;
/** The most manifests of a tree, and the most other files of a fetch. */
const maxFiles = 3000;
/** The most fetches. Set-up that was detected has fewer. */
const maxFetches = 60;
const readAtOnce = 4;

/** Ordinary manifests take milliseconds, and the largest lock files a second. */
const judging = apart<typeof import('./judge-manifests.ts')>(new URL('./judge-manifests.ts', import.meta.url), {
  seconds: 15,
  heapMb: 512,
});

/** The files of a tree, by path. */
type Entries = Map<string, { mode: string; oid: string }>;

/** The files that the fetches of a change may use, as git has them. */
export interface FilesForFetches {
  /** The ids of all regular files, by path. Links and submodules are left out. */
  base: Map<string, string>;
  change: Map<string, string>;
  manifests: Manifests;
  /** The files that a fetch gets besides manifests: configurations of the base, and patches of the change. */
  others: Map<PackageManager, [path: string, oid: string][]>;
  /** The contents of everything that a fetch may get, by id. */
  contents: Map<string, Buffer>;
}

/**
 * Reads the files that decide about fetches, and those that fetches get.
 * @throws SetupNeedsApproval if they are too large, or if code of the change would have a say
 */
export async function readManifests(
  checkout: Checkout,
  trees: { base: Entries; change: Entries },
  fetches: Fetch[],
): Promise<FilesForFetches> {
  if (fetches.length > maxFetches)
    throw tooLarge('set-up', `it has more than ${maxFetches} commands that fetch packages`);
  const [base, change] = [await regularIn(trees.base), await regularIn(trees.change)];
  const reader = readerOf(checkout);
  const manifests: Manifests = { base: new Map(), change: new Map(), contents: new Map() };
  const managers = [...new Set(fetches.map(({ manager }) => manager))];
  const isOfAny = (is: (manager: Fetch['manager'], path: string) => boolean) => (path: string) =>
    managers.some((manager) => is(manager, path));
  const take = async (oids: Map<string, string>, into: Map<string, string>, paths: string[]) => {
    await reader.read(paths.map((path) => [path, oids.get(path) ?? '']));
    for (const path of paths) into.set(path, oids.get(path) ?? '');
  };
  for (const [oids, into] of [
    [change, manifests.change],
    [base, manifests.base],
  ] as const) {
    await take(oids, into, await pathsIn(oids, (path) => isOfAny(isManifest)(path) && isOwn(path)));
    await readRequirements(fetches, reader.contents, oids, (paths) => take(oids, into, paths));
  }
  manifests.contents = new Map(reader.contents);
  for (const [oids, into] of [
    [base, manifests.base],
    [change, manifests.change],
  ] as const)
    for (const path of await pathsIn(oids, isOfAny(decidesByName))) into.set(path, oids.get(path) ?? '');
  const files: FilesForFetches = { base, change, manifests, others: new Map(), contents: reader.contents };
  const reasons = await judged(files, judging.call('reasonsIn', fetches, manifests));
  if (reasons.length > 0) throw new SetupNeedsApproval(reasons);
  for (const manager of managers) {
    const others = await otherFiles(manager, files);
    await reader.read(others);
    files.others.set(manager, others);
  }
  const changed = [...files.others.values()].flat().filter(([path, oid]) => isPatch(path) && base.get(path) !== oid);
  const patches = [...new Map(changed)].map(([path, oid]): [string, Buffer] => [
    path,
    reader.contents.get(oid) ?? Buffer.alloc(0),
  ]);
  const outside =
    patches.length === 0 ? [] : await asked(patches[0]?.[0] ?? '', judging.call('outsideOfPackage', patches));
  if (outside.length > 0) throw new SetupNeedsApproval(outside);
  return files;
}

/**
 * Returns what a fetch reads of the change.
 * @throws SetupNeedsApproval if that takes too long
 */
export function readForFetch(fetch: Fetch, files: FilesForFetches): Promise<ForFetch> {
  return judged(files, judging.call('readForFetch', fetch, files.manifests));
}

async function otherFiles(
  manager: PackageManager,
  { base, change }: Pick<FilesForFetches, 'base' | 'change'>,
): Promise<[string, string][]> {
  const takesPatches = /^(pnpm|yarn)$/.test(manager);
  const of = (oids: Map<string, string>, paths: string[]) =>
    paths.map((path): [string, string] => [path, oids.get(path) ?? '']);
  const configurations = await pathsIn(base, (path) => isConfiguration(manager, path) && isOwn(path));
  const patches = takesPatches ? await pathsIn(change, (path) => isPatch(path) && isOwn(path)) : [];
  return [...of(base, configurations), ...of(change, patches)];
}

/** Returns the paths of a kind. There may be half a million of others. */
export async function pathsIn(files: Map<string, unknown>, isOfKind: (path: string) => boolean): Promise<string[]> {
  const found: string[] = [];
  await inPortions(files.keys(), (path) => {
    if (isOfKind(path)) found.push(path);
  });
  return found;
}

const isPatch = (path: string) => path.endsWith('.patch');

/** Returns whether a file is not among installed packages, which somebody committed. */
export function isOwn(path: string): boolean {
  return !/(^|\/)(node_modules|vendor)\//.test(path);
}

async function regularIn(entries: Entries): Promise<Map<string, string>> {
  const regular = new Map<string, string>();
  await inPortions(entries, ([path, { mode, oid }]) => {
    if (mode.startsWith('100')) regular.set(path, oid);
  });
  return regular;
}

/** Reads files of requirements as far as they refer to each other. Each of them is parsed once. */
async function readRequirements(
  fetches: Fetch[],
  contents: Map<string, Buffer>,
  oids: Map<string, string>,
  take: (paths: string[]) => Promise<void>,
): Promise<void> {
  const known = new Set<string>();
  let next = fetches.flatMap(({ requirements }) => requirements);
  while (next.length > 0 && known.size <= maxRequirements) {
    const fresh = [...new Set(next)].filter((path) => !known.has(path));
    for (const path of fresh) known.add(path);
    const paths = fresh.filter((path) => oids.has(path)).slice(0, maxRequirements);
    await take(paths);
    const read = paths.map((path): [string, Buffer] => [path, contents.get(oids.get(path) ?? '') ?? Buffer.alloc(0)]);
    const referred = read.length === 0 ? [] : judging.call('referredInAll', read);
    next = await asked(`${paths[0]}`, Promise.resolve(referred));
  }
}

/** Reads contents of files, each once. */
function readerOf(checkout: Checkout) {
  const contents = new Map<string, Buffer>();
  let bytes = 0;
  const keep = (path: string, oid: string, content: Buffer | undefined) => {
    if (content === undefined) throw tooLarge(path, `it has more than ${maxBytes / 1e6} MB`);
    bytes += content.length;
    contents.set(oid, content);
    if (bytes > maxTotalBytes)
      throw tooLarge(path, `with it, the files for package managers have more than ${maxTotalBytes / 1e6} MB`);
  };
  return {
    contents,
    /** @throws SetupNeedsApproval if the files are too large, too many, or have too many bytes together */
    read: async (files: [path: string, oid: string][]): Promise<void> => {
      const [last] = files[maxFiles] ?? [];
      if (last !== undefined)
        throw tooLarge(last, `with it, there are more than ${maxFiles} files for package managers`);
      const fresh = [...new Map(files.map(([path, oid]) => [oid, path]))].filter(([oid]) => !contents.has(oid));
      for (let at = 0; at < fresh.length; at += readAtOnce) {
        const some = fresh.slice(at, at + readAtOnce);
        const oids = some.map(([oid]) => oid);
        const blobs = await checkout.readBlobs(oids, maxBytes);
        for (const [oid, path] of some) keep(path, oid, blobs.get(oid));
      }
    },
  };
}

function tooLarge(path: string, why: string): SetupNeedsApproval {
  return new SetupNeedsApproval([`${path}: ${why}, which is too much to check`]);
}

/** Asks a person if manifests take too long. The reason names the largest, which probably is why. */
function judged<T>({ manifests }: FilesForFetches, answer: Promise<T>): Promise<T> {
  const sizeOf = (oid: string) => manifests.contents.get(oid)?.length ?? 0;
  const largest = [...manifests.change].reduce((a, b) => (sizeOf(b[1]) > sizeOf(a[1]) ? b : a), ['', '']);
  return asked(largest[0], answer);
}

/** @throws SetupNeedsApproval if the thread exceeded a limit */
function asked<T>(path: string, answer: Promise<T>): Promise<T> {
  return answer.catch((error) => {
    if (!(error instanceof OverLimit)) throw error;
    throw new SetupNeedsApproval([`${path}: checking it and the other manifests takes more than ${error.limit}`]);
  });
}

/** Set-up of a change needs the network of set-up, and code of the change would use it. A person has to allow that. */
export class SetupNeedsApproval extends Error {
  /** One line each: a file or a command, and why. */
  readonly reasons: string[];

  constructor(reasons: string[]) {
    super(`set-up of this change needs the approval of a person: ${reasons.join('; ')}`);
    this.name = 'SetupNeedsApproval';
    this.reasons = reasons;
  }
}
