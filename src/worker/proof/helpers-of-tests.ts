import { setImmediate as breathe } from 'node:timers/promises';
import { hasOwnName, moduleNameOf, modulesNamedIn } from '../../domain/proof/module-names.ts';
import { mayNamePrograms } from '../../domain/proof/ordinary-files.ts';
import { isProgram } from '../../domain/proof/reading-code.ts';
import { isUsualTestFile } from '../../domain/proof/test-files.ts';
import { blobsOf } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';

const maxChanges = 60;
/** Larger files are not read. */
const maxBytes = 200_000;
/** The most files of the base that are read, those near the change first. */
const maxFiles = 4000;
const readAtOnce = 50;
const absent = '000000';

interface Given {
  checkout: Checkout;
  changes: Change[];
  /** Whether a changed file is a test. */
  isTest(path: string): boolean;
}

const mayBeHelper = (path: string) => isProgram(path) && hasOwnName(path);

/** Returns the changed programs outside the tests. */
function codeIn({ changes, isTest }: Given): Change[] {
  return changes.filter(({ path, newMode }) => newMode !== absent && isProgram(path) && !isTest(path));
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
  const texts = await blobsOf(checkout, changes, 'new', maxBytes);
  const named = new Map(
    changes.map(({ path, newOid }) => [path, modulesNamedIn(path, texts.get(newOid)?.toString('utf8') ?? '')]),
  );
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
 * and so does no other file that something else uses. If the change alters no other older program, they are the change
 * itself.
 */
export async function changedHelpers(
  given: Given & { base: string; testsAmong(paths: string[]): Promise<(path: string) => boolean> },
): Promise<string[]> {
  const { checkout, base, testsAmong } = given;
  const code = codeIn(given);
  const changed = code.filter(({ oldMode }) => oldMode !== absent);
  if (changed.length < 2) return [];
  const files = [...(await checkout.files(base))]
    .filter(([path]) => mayNamePrograms(path))
    .map(([path, { oid }]) => ({ path, oid }));
  const near = nearest(
    files,
    changed.map(({ path }) => path),
  ).slice(0, maxFiles);
  const users = await usersOf(checkout, near);
  const isNamed = await testsAmong(near.map(({ path }) => path));
  // Where .deckhand.yml does not name all tests, the others are no ordinary code either.
  const isTest = (path: string) => isNamed(path) || isUsualTestFile(path);
  const helpers = changed.filter(({ path }) => isOnlyForTests(path, users, isTest));
  return helpers.length === changed.length ? [] : helpers.map(({ path }) => path);
}

/** Sorts files by how many of their folders they share with one of these paths. */
function nearest<File extends { path: string }>(files: File[], paths: string[]): File[] {
  const folders = new Set(paths.flatMap((path) => path.split('/').map((_, i, all) => all.slice(0, i).join('/'))));
  const shared = ({ path }: File) =>
    path.split('/').filter((_, i, all) => folders.has(all.slice(0, i).join('/'))).length;
  const counted = files.map((file) => ({ file, count: shared(file) }));
  return counted.sort((a, b) => b.count - a.count).map(({ file }) => file);
}

/** Returns the paths of the files that name a module, by its name. */
async function usersOf(checkout: Checkout, files: { path: string; oid: string }[]): Promise<Map<string, string[]>> {
  const modules = new Set(files.filter(({ path }) => mayBeHelper(path)).map(({ path }) => moduleNameOf(path)));
  const users = new Map<string, string[]>();
  for (let at = 0; at < files.length; at += readAtOnce) {
    const some = files.slice(at, at + readAtOnce);
    const texts = await checkout.readBlobs([...new Set(some.map(({ oid }) => oid))], maxBytes);
    for (const { path, oid } of some) {
      for (const name of modulesNamedIn(path, texts.get(oid)?.toString('utf8') ?? ''))
        if (modules.has(name))
          users
            .set(name, users.get(name) ?? [])
            .get(name)
            ?.push(path);
      await breathe();
    }
  }
  return users;
}

/** Returns whether tests name a program, and all that does so besides them is named in the end by tests only. */
function isOnlyForTests(path: string, users: Map<string, string[]>, isTest: (path: string) => boolean): boolean {
  const found = new Set([path]);
  let isTested = false;
  for (const each of found) {
    const by = mayBeHelper(each) ? (users.get(moduleNameOf(each)) ?? []).filter((user) => user !== each) : [];
    // People or tools run what nothing names.
    if (by.length === 0) return false;
    for (const user of by)
      if (isTest(user)) isTested = true;
      else found.add(user);
  }
  return isTested;
}
