import type { Proof } from '../../domain/proof/proof.ts';
import { isProgram } from '../../domain/proof/reading-code.ts';
import { diffOf } from '../../git/diff.ts';
import type { FileDiff } from '../../git/diff-files.ts';
import type { ProofNote } from '../../runs/pull-proofs/pull-proofs.ts';
import { testFilesAmong } from '../proof/tested-change.ts';
import type { Work } from '../work.ts';
import { baseOfChange } from '../workspace/base-of-change.ts';

/** At most this many notes are shown, and this many in one file. GitHub takes 50 in one request. */
const [maxNotes, maxInFile] = [20, 5];
/** Shorter titles of tests are found in too many lines. */
const leastTitle = 4;

/**
 * Returns notes at the lines that decide about a proof: where an earlier test that fails now was, the tests that prove
 * nothing, and the code that has no test.
 */
export async function notesFor(
  work: Work,
  proof: Pick<Proof, 'status' | 'testsChanged'>,
  failingTests: string[],
): Promise<ProofNote[]> {
  if (proof.status === 'proved' || proof.status === 'not_run') return [];
  const { checkout, branch } = work;
  const { files } = await diffOf(checkout, await baseOfChange(work), branch.from);
  const shown = files.filter(({ status, binary, hunks }) => status !== 'deleted' && !binary && hunks.length > 0);
  const isTest = await testFilesAmong(
    work,
    shown.map(({ path }) => path),
  );
  const tests = shown.filter(({ path }) => isTest(path));
  const at = (file: FileDiff, level: ProofNote['level'], text: string): ProofNote => ({
    path: file.path,
    line: firstChanged(file),
    level,
    text,
  });
  switch (proof.status) {
    case 'no_tests':
      return shown
        .filter(({ path }) => isProgram(path) && !isTest(path))
        .map((file) => at(file, 'notice', 'No test was added or changed with this code.'))
        .slice(0, maxNotes);
    case 'unproved':
      return tests.map((file) => at(file, 'notice', 'These tests do not prove the change.')).slice(0, maxNotes);
    case 'changed':
    case 'weakened': {
      const level = proof.status === 'weakened' ? 'warning' : 'notice';
      const named = tests.flatMap((file) =>
        linesOf(file, failingTests).map(({ line, title }) => ({
          path: file.path,
          line,
          level,
          text: `As it was before, this test fails with the change: ${title}`,
        })),
      );
      if (named.length > 0) return named.slice(0, maxNotes) as ProofNote[];
      const text = 'As they were before, tests of this file may fail with the change.';
      return tests.map((file) => at(file, level, text)).slice(0, maxNotes);
    }
    default:
      return [];
  }
}

/** Returns the first line that a diff adds, or after which it removes something. */
function firstChanged({ hunks: [hunk] }: FileDiff): number {
  if (hunk === undefined) return 1;
  let line = hunk.newStart;
  for (const each of hunk.lines) {
    if (!each.startsWith(' ')) break;
    line += 1;
  }
  return Math.max(1, line);
}

/** Finds titles of tests in the parts of a file that a diff shows: the line of the new file, or the one before which it was. */
function linesOf({ hunks }: FileDiff, titles: string[]): { line: number; title: string }[] {
  const wanted = titles
    .map((title) => title.split(/ > | › /).at(-1) ?? title)
    .filter(({ length }) => length >= leastTitle);
  const found = new Map<string, number>();
  for (const { newStart, lines } of hunks) {
    let line = newStart;
    for (const each of lines) {
      for (const title of wanted) if (!found.has(title) && each.includes(title)) found.set(title, Math.max(1, line));
      if (!each.startsWith('-')) line += 1;
    }
  }
  return [...found].map(([title, line]) => ({ line, title: title.slice(0, 200) })).slice(0, maxInFile);
}
