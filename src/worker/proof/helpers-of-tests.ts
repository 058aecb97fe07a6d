import { hasOwnName, importPathOf, moduleNameOf } from '../../domain/proof/module-names.ts';
import { mayNamePrograms } from '../../domain/proof/ordinary-files.ts';
import { isProgram } from '../../domain/proof/reading-code.ts';
import { isUsualTestFile } from '../../domain/proof/tests/test-files.ts';
import { blobsOf } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';
import { inPortions } from '../../git/work-tree/tree-files.ts';
import { batchesOf, judging, unlessTooSlow } from './contents.ts';

const maxChanges = 60;
/** Larger files are not read. */
const maxBytes = 200_000;
/** The most files of the base that are read, those near the change first. */
const maxFiles = 4000;
const readAtOnce = 20;
/** Folders of a path that count for how near two files are. */
const maxDepth = 20;
/** The most that files name modules. Ordinary files name a few dozen. */
const maxUses = 1_000_000;
const absent = '000000';
const submodule = '160000';

interface Given {
  checkout: Checkout;
  changes: Change[];
  /** Whether a changed file is a test. */
  isTest(path: string): boolean;
  /** Called with a reason why the change cannot be proved. */
  doubt(why: string): void;
}

const mayBeHelper = (path: string) => isProgram(path) && hasOwnName(path);

/** Returns the changed programs outside the tests. */
function codeIn({ changes, isTest }: Given): Change[] {
  const isFile = ({ newMode }: Change) => newMode !== absent && newMode !== submodule;
  return changes.filter((change) => isFile(change) && isProgram(change.path) && !isTest(change.path));
}

/**
 * Finds the new programs outside the tests that nothing but the tests of the change uses, such as assertions that never
 * fail. Where the change alters older programs too, such a file is no part of what its tests prove: they would fail on the
 * base only because it is missing there. Where it is all that the change adds, it is the change itself.
 */
export async function addedHelpers(given: Given): Promise<Change[]> {
  const { checkout, changes, isTest } = given;
  const code = codeIn(given);
  const added = code.filter(({ oldMode }) => oldMode === absent);
  if (added.length === 0 || added.length === code.length || changes.length > maxChanges) return [];
  const modules = [...new Set(added.map(({ path }) => moduleNameOf(path)))];
  const files = changes.map(({ path, newOid }) => ({ path, oid: newOid }));
  const indexes = await modulesNamed(files, modules, (some) =>
    blobsOf(
      checkout,
      changes.filter(({ newOid }) => some.includes(newOid)),
      'new',
      maxBytes,
    ),
  );
  if (indexes === undefined) given.doubt(tooLong);
  const named = new Map(files.map(({ path }, i) => [path, new Set([...(indexes?.[i] ?? [])].map((m) => modules[m]))]));
  const names = (by: Change, { path }: Change) => by.path !== path && named.get(by.path)?.has(moduleNameOf(path));
  const tests = changes.filter(({ path, newMode }) => newMode !== absent && isProgram(path) && isTest(path));
  let helpers = added.filter((file) => [...tests, ...added].some((by) => names(by, file)));
  // A file that only such files use is one of them, and one that other code uses is not.
  for (let before = -1; before !== helpers.length; ) {
    before = helpers.length;
    const others = changes.filter((each) => !isTest(each.path) && !helpers.includes(each));
    helpers = helpers.filter((file) => !others.some((other) => names(other, file)));
  }
  return helpers;
}

/**
 * Finds the changed programs outside the tests that the base has for its tests only, such as assertions: tests name them,
 * and so does no other file that something else uses. A new file that runners may load in the place of one counts as well.
 * If the change alters no other older program, they are the change itself.
 */
export async function changedHelpers(
  given: Given & { base: string; testsAmong(paths: string[]): Promise<(path: string) => boolean> },
): Promise<string[]> {
  const { checkout, base, testsAmong } = given;
  const all = await checkout.files(base);
  const older = new Set<string>();
  const files: { path: string; oid: string }[] = [];
  await inPortions(all, ([path, { mode, oid }]) => {
    if (isProgram(path)) older.add(importPathOf(path));
    if (mode !== submodule && mayNamePrograms(path)) files.push({ path, oid });
  });
  const changed = codeIn(given).filter(({ path, oldMode }) => oldMode !== absent || older.has(importPathOf(path)));
  if (changed.length < 2) return [];
  const near = await nearest(
    files,
    changed.map(({ path }) => path),
  );
  const isNamed = await testsAmong(near.map(({ path }) => path));
  // Where .deckhand.yml does not name all tests, the others are no ordinary code either.
  const isTest = (path: string) => isNamed(path) || isUsualTestFile(path);
  const onlyForTests = await usedByTestsOnly(checkout, near, isTest);
  if (onlyForTests === undefined) given.doubt(tooLong);
  const theirs = new Set([...(onlyForTests ?? [])].map(importPathOf));
  const helpers = changed.filter(({ path }) => theirs.has(importPathOf(path)));
  return helpers.length === changed.length ? [] : helpers.map(({ path }) => path);
}

const tooLong = 'the files take too long to find out which of them only tests use';

/** Returns the files that share the most folders with one of these paths, at most `maxFiles`. */
async function nearest<File extends { path: string }>(files: File[], paths: string[]): Promise<File[]> {
  const folders = new Set(paths.flatMap(foldersOf));
  const byCount: File[][] = [];
  await inPortions(files, (file) => {
    const count = foldersOf(file.path).filter((folder) => folders.has(folder)).length;
    byCount[count] ??= [];
    byCount[count].push(file);
  });
  return byCount.reverse().flat().slice(0, maxFiles);
}

/** Returns the folders in which a file is, from the root on. */
function foldersOf(path: string): string[] {
  const found = [''];
  for (let at = path.indexOf('/'); at >= 0 && found.length < maxDepth; at = path.indexOf('/', at + 1))
    found.push(path.slice(0, at));
  return found;
}

/**
 * Returns which of these modules each file names, by their indexes; undefined if that takes too long, or they are too many.
 */
async function modulesNamed(
  files: { path: string; oid: string }[],
  modules: string[],
  read: (oids: string[]) => Promise<Map<string, Buffer>>,
): Promise<Uint32Array[] | undefined> {
  const all: Uint32Array[] = [];
  let uses = 0;
  for (const some of batchesOf(files, readAtOnce)) {
    const texts = await read([...new Set(some.map(({ oid }) => oid))]);
    const sent = some.map(({ path, oid }): [string, Buffer] => [path, texts.get(oid) ?? Buffer.alloc(0)]);
    const named = await unlessTooSlow(judging.call('modulesNamedInAll', sent, modules), undefined);
    if (named === undefined) return undefined;
    all.push(...named);
    uses += named.reduce((sum, { length }) => sum + length, 0);
    if (uses > maxUses) return undefined;
  }
  return all;
}

/**
 * Returns the programs that tests name, and that nothing else names but what in the end only tests name. People or tools
 * run what nothing names. Undefined if that takes too long to find out.
 */
async function usedByTestsOnly(
  checkout: Checkout,
  files: { path: string; oid: string }[],
  isTest: (path: string) => boolean,
): Promise<Set<string> | undefined> {
  const modules = [...new Set(files.filter(({ path }) => mayBeHelper(path)).map(({ path }) => moduleNameOf(path)))];
  const named = await modulesNamed(files, modules, (oids) => checkout.readBlobs(oids, maxBytes));
  if (named === undefined) return undefined;
  const indexes = new Map(modules.map((name, i) => [name, i]));
  const declared = files.map(({ path }) => (mayBeHelper(path) ? indexes.get(moduleNameOf(path)) : undefined));
  const users = modules.map(() => 0);
  for (const some of named) for (const module of some) users[module] = (users[module] ?? 0) + 1;
  const isUsed = (file: number) => {
    const module = declared[file];
    if (module === undefined) return false;
    return (users[module] ?? 0) > (named[file]?.includes(module) ? 1 : 0);
  };
  const tests = files.map(({ path }) => isTest(path));
  const those = (is: (file: number) => boolean) => [...files.keys()].filter(is);
  const used = { named, declared, tests };
  const byTests = usedInTheEnd(
    those((file) => tests[file] === true),
    used,
  );
  const byOthers = usedInTheEnd(
    those((file) => !tests[file] && !isUsed(file)),
    used,
  );
  const found = those((file) => isUsed(file) && byTests.has(file) && !byOthers.has(file));
  return new Set(found.map((file) => files[file]?.path ?? ''));
}

/** Who uses what, by the indexes of files and modules. */
interface Uses {
  /** The modules that each file names. */
  named: Uint32Array[];
  /** The module of each file, if others may use it. */
  declared: (number | undefined)[];
  tests: boolean[];
}

/**
 * Returns the files that some files use, directly or through files that are no tests. Looks at each use once: a repository
 * can have a million of them.
 */
function usedInTheEnd(users: number[], { named, declared, tests }: Uses): Set<number> {
  const files = new Map<number, number[]>();
  for (const [file, module] of declared.entries())
    if (module !== undefined)
      files
        .set(module, files.get(module) ?? [])
        .get(module)
        ?.push(file);
  const found = new Set<number>();
  const firstUser = new Map<number, number>();
  const queue = new Set(users);
  // No file is a user of itself, so the first user of its own module waits for the second.
  const usedBy = (user: number, module: number): number[] => {
    const first = firstUser.get(module);
    if (first === undefined) {
      firstUser.set(module, user);
      return (files.get(module) ?? []).filter((file) => file !== user);
    }
    return first !== user && declared[first] === module ? [first] : [];
  };
  const add = (file: number) => {
    found.add(file);
    if (!tests[file]) queue.add(file);
  };
  for (const user of queue) for (const module of named[user] ?? []) usedBy(user, module).forEach(add);
  return found;
}
