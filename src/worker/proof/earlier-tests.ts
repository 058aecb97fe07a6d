import { namesOf } from '../../domain/proof/proof.ts';
import { digestOf, type ResultsOfRun } from '../../domain/proof/tests/test-results.ts';
import { blobsOf, type TreeDiff } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';
import { batchesOf, judging, unlessTooSlow } from './contents.ts';

/** What a change did to the tests that were there before. */
export interface EarlierTests {
  /** Why they may check less than before. */
  lost: string[];
  /** The files in which expectations changed. */
  changed: string[];
  /** Texts that changed, such as titles of tests, each with what it was. */
  renamed: [old: string, now: string][];
}

const absent = '000000';
const maxBytes = 1_000_000;
const readAtOnce = 4;

/**
 * Compares the test files of the base with what the change made of them. `diff` is the one of the tests alone. What cannot be
 * compared counts as lost.
 */
export async function compareEarlierTests(
  checkout: Checkout,
  tests: Change[],
  { files, truncated }: TreeDiff,
): Promise<EarlierTests> {
  const byPath = new Map(tests.map((each) => [each.path, each]));
  const found: EarlierTests = {
    lost: truncated ? ['the diff of the tests is too long to compare them'] : [],
    changed: [],
    renamed: [],
  };
  const why = new Map<string, string[]>();
  const lose = (path: string, reason: string) => why.set(reason, [...(why.get(reason) ?? []), path]);
  const shown = new Map(files.map((file) => [file.path, file]));
  const earlier = tests.flatMap((change) => {
    const from = byPath.get(shown.get(change.path)?.previousPath ?? change.path);
    const isEarlier = change.newMode !== absent && from !== undefined && from.oldMode !== absent;
    return isEarlier && from.oldOid !== change.newOid
      ? [{ ...change, oldOid: from.oldOid, oldMode: from.oldMode }]
      : [];
  });
  for (const some of batchesOf(earlier, readAtOnce)) {
    const before = await blobsOf(checkout, some, 'old', maxBytes);
    const sent = some.flatMap(({ path, oldOid }) => {
      const [file, old] = [shown.get(path), before.get(oldOid)];
      if (file === undefined || file.truncated || file.binary || old === undefined) {
        lose(path, 'is too long to be compared, or no text');
        return [];
      }
      return [{ path, old, hunks: file.hunks.map(({ lines }) => lines) }];
    });
    const tooSlow = sent.map(({ path }) => ({
      path,
      lost: 'takes too long to compare',
      hasChanged: false,
      renamed: [],
    }));
    for (const { path, lost, hasChanged, renamed } of await unlessTooSlow(
      judging.call('earlierTests', sent),
      tooSlow,
    )) {
      if (lost !== undefined) lose(path, lost);
      if (hasChanged) found.changed.push(path);
      found.renamed.push(...renamed);
    }
  }
  for (const [reason, paths] of why) found.lost.push(`${namesOf(paths)} ${reason}`);
  if (found.changed.length === 0 && found.lost.length === 0)
    found.lost.push('the change alters no expectation of an earlier test');
  return found;
}

/**
 * Compares the tests that ran with the earlier tests on the change, and with its own. Returns why tests were lost: each
 * that ran before has to pass now, under its name or under one that took the place of its name.
 */
export function missingTests(
  before: ResultsOfRun | undefined,
  now: ResultsOfRun | undefined,
  renamed: EarlierTests['renamed'],
): string[] {
  if (before === undefined || now === undefined || !before.isWhole || !now.isWhole || now.passed.length === 0)
    return [];
  const passed = new Set(now.passed);
  const names = new Map<string, string>();
  for (const [old, is] of renamed) names.set(textIn(old), textIn(is));
  const inNew = (name: string) => passed.has(digestOf(name));
  const renamedTo = new Map([...names].map(([old, is]) => [digestOf(old), is]));
  const isKept = (digest: string) => {
    const name = renamedTo.get(digest);
    return passed.has(digest) || (name !== undefined && inNew(name));
  };
  const missing = before.failed.filter((name) => !isKept(digestOf(name)));
  if (missing.length > 0) return [`the change no longer runs these tests: ${namesOf(missing)}`];
  const others = before.passed.filter((digest) => !isKept(digest)).length;
  return others === 0
    ? []
    : [`the change no longer runs ${others === 1 ? 'a test' : `${others} tests`} that passed before`];
}

/** Returns a text without its quotes. */
function textIn(literal: string): string {
  return /^["'`]/.test(literal) ? literal.slice(1, -1) : literal;
}
