/** Only the beginning of a text is read, and at most this many names are found in it. */
const [maxText, maxNames, maxName] = [20_000, 50, 200];

/** A name with a folder or an extension, of the letters that names in texts have. */
const pathShape = /^[\w@*-][\w@.*/-]*$/;
/** More than one letter before it, because texts have `e.g.`, too. */
const extension = /[\w-]{2}\.[A-Za-z]\w{0,9}$/;

/**
 * Returns what looks like paths of files or folders in a text by people. Names without a folder count if they have an
 * extension; addresses and numbers of versions do not.
 */
export function namedPaths(text: string): string[] {
  const found = new Set<string>();
  for (const word of text.slice(0, maxText).split(/[\s"'`()[\]<>{},;|]+/)) {
    const name = word.replace(/[.:!?]$/, '').replace(/^\.\//, '');
    if (name.length > maxName || !pathShape.test(name) || name.includes('//')) continue;
    if (name.slice(0, -1).includes('/') || extension.test(name)) found.add(name);
    if (found.size === maxNames) break;
  }
  return [...found];
}

/** Files or folders that a plan or a text names: each is a path, or a folder with everything in it. */
interface Named {
  path: string;
  isFolder: boolean;
}

/** Returns a pattern without what follows its first wildcard; undefined if it stands for everything, or another repository. */
function namedBy(pattern: string): Named | undefined {
  const plain = pattern.replace(/^\.?\//, '');
  if (plain.startsWith('../') || plain.startsWith('!')) return undefined;
  const wildcard = plain.search(/[*?[{]/);
  const isFolder = wildcard >= 0 || plain.endsWith('/');
  const path =
    wildcard < 0 ? plain.replace(/\/$/, '') : plain.slice(0, plain.lastIndexOf('/', wildcard) + 1).slice(0, -1);
  return path === '' ? undefined : { path, isFolder };
}

/** At most this many files of a task are compared with those of others. */
const maxCompared = 500;

/**
 * Returns which of the files that one change will touch another one touches as well. Both are paths, folders or patterns. A
 * pattern counts as its folder, so this rather names too much than too little.
 */
export function overlap(patterns: string[], others: string[]): string[] {
  const theirs = others.slice(0, maxCompared).flatMap((other) => namedBy(other) ?? []);
  const exact = new Set(theirs.map(({ path }) => path));
  return patterns.slice(0, maxCompared).filter((pattern) => {
    const mine = namedBy(pattern);
    if (mine === undefined) return false;
    return exact.has(mine.path) || theirs.some((other) => isIn(mine, other) || isIn(other, mine));
  });
}

const isIn = (inner: Named, outer: Named) => inner.path.startsWith(`${outer.path}/`);

/** What is to be ordered: a task and the files that it will probably touch. */
export interface Expecting {
  id: string;
  files: string[];
}

/**
 * Orders tasks so that those which touch none of the busy files come first, and none that an earlier one of them touches.
 * Otherwise the order stays.
 */
export function fewestCollisionsFirst(tasks: Expecting[], busy: string[]): string[] {
  const taken = [...busy];
  const [first, later]: [string[], string[]] = [[], []];
  for (const { id, files } of tasks) {
    const isFree = overlap(files, taken).length === 0;
    (isFree ? first : later).push(id);
    if (isFree) taken.push(...files);
  }
  return [...first, ...later];
}
