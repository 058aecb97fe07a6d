import { isProgram } from '../../domain/proof/reading-code.ts';
import { blobsOf } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';

/** Larger files are not read, and larger changes are not looked through. */
const maxBytes = 200_000;
const maxRead = 60;

/**
 * Finds the new programs outside the tests that nothing but the tests of the change uses, such as assertions that never
 * fail. Where the change alters older programs too, such a file is no part of what its tests prove: they would fail on the
 * base only because it is missing there. Where it is all that the change adds, it is the change itself.
 */
export async function onlyUsedByTests(
  checkout: Checkout,
  changes: Change[],
  isTest: (path: string) => boolean,
): Promise<Change[]> {
  const programs = changes.filter(({ path, newMode }) => newMode !== absent && isProgram(path));
  const code = programs.filter(({ path }) => !isTest(path));
  const added = code.filter(({ oldMode }) => oldMode === absent);
  if (added.length === 0 || added.length === code.length || changes.length > maxRead) return [];
  const texts = await blobsOf(checkout, changes, 'new', maxBytes);
  const textOf = ({ newOid }: Change) => texts.get(newOid)?.toString('utf8') ?? '';
  const names = (by: Change, { path }: Change) => by.path !== path && wordsOf(textOf(by)).has(stemOf(path));
  const tests = programs.filter(({ path }) => isTest(path));
  let support = added.filter((file) => [...tests, ...added].some((by) => names(by, file)));
  // A file that only such files use is one of them, and one that other code uses is not.
  for (let before = -1; before !== support.length; ) {
    before = support.length;
    const others = changes.filter((each) => !isTest(each.path) && !support.includes(each));
    support = support.filter((file) => !others.some((other) => names(other, file)));
  }
  return support;
}

const absent = '000000';

/** The name by which other files import a program. */
function stemOf(path: string): string {
  const parts = path.replace(/(\/(index|__init__|mod|main))?(\.d)?\.\w+$/, '').split('/');
  return parts.at(-1) ?? path;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.split(/[^\w-]+/));
}
