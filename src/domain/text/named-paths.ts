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

/** Returns a pattern without what follows its first wildcard; undefined if it stands for everything, or another repository. */
function namedBy(pattern: string): string | undefined {
  const plain = pattern.replace(/^\.?\//, '');
  if (plain.startsWith('../') || plain.startsWith('!')) return undefined;
  const wildcard = plain.search(/[*?[{]/);
  const path =
    wildcard < 0 ? plain.replace(/\/$/, '') : plain.slice(0, plain.lastIndexOf('/', wildcard) + 1).slice(0, -1);
  return path === '' ? undefined : path;
}

/** At most this many files of a task are compared with those of others, and at most this many folders above each of them. */
const [maxCompared, maxDepth] = [500, 30];
/** At most this many files of all busy tasks count for an order. */
const maxBusy = 5000;

/** Files and folders, and all folders above them. */
interface Indexed {
  paths: Set<string>;
  above: Set<string>;
}

function indexed(patterns: string[]): Indexed {
  const index = { paths: new Set<string>(), above: new Set<string>() };
  addTo(index, patterns);
  return index;
}

function addTo({ paths, above }: Indexed, patterns: string[]): void {
  for (const path of patterns.flatMap((pattern) => namedBy(pattern) ?? [])) {
    paths.add(path);
    for (const folder of foldersAbove(path)) above.add(folder);
  }
}

function foldersAbove(path: string): string[] {
  const found: string[] = [];
  let end = path.indexOf('/');
  for (; end >= 0 && found.length < maxDepth; end = path.indexOf('/', end + 1)) found.push(path.slice(0, end));
  return found;
}

/**
 * Returns which of the files that one change will touch another one touches as well. Both are paths, folders or patterns. A
 * pattern counts as its folder, so this rather names too much than too little.
 */
export function overlap(patterns: string[], others: string[]): string[] {
  return overlapWith(patterns, indexed(others.slice(0, maxCompared)));
}

function overlapWith(patterns: string[], { paths, above }: Indexed): string[] {
  return patterns.slice(0, maxCompared).filter((pattern) => {
    const path = namedBy(pattern);
    if (path === undefined) return false;
    return paths.has(path) || above.has(path) || foldersAbove(path).some((folder) => paths.has(folder));
  });
}

/** A task and the files that it will probably change, by which tasks are ordered. */
export interface Expecting {
  id: string;
  files: string[];
}

/**
 * Orders tasks so that those which touch none of the busy files come first, and none that an earlier one of them touches.
 * Otherwise the order stays.
 */
export function fewestCollisionsFirst(tasks: Expecting[], busy: string[]): string[] {
  const taken = indexed(busy.slice(0, maxBusy));
  const [first, later]: [string[], string[]] = [[], []];
  for (const { id, files } of tasks) {
    const isFree = overlapWith(files, taken).length === 0;
    (isFree ? first : later).push(id);
    if (isFree) addTo(taken, files.slice(0, maxCompared));
  }
  return [...first, ...later];
}
