import { mayDecide } from '../../domain/proof/manifests.ts';
import { namesOf } from '../../domain/proof/proof.ts';
import { ownScripts } from '../../domain/proof/reachable.ts';
import { isProgram } from '../../domain/proof/reading-code.ts';
import {
  isFoundAs,
  isStillSearched,
  isUsualTestFile,
  type Searched,
  searchedBy,
} from '../../domain/proof/tests/test-files.ts';
import { maxPointerBytes, pointerIn } from '../../environment/files/lfs-pointer.ts';
import { coneOf } from '../../git/cone.ts';
import { blobsOf, diffOf, maxChangeBytes, type TreeDiff } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';
import { pathsMatching } from '../../repositories/settings/repository-settings.ts';
import type { Work } from '../work.ts';
import { baseOfChange } from '../workspace/base-of-change.ts';
import { batchesOf, judging, unlessTooSlow } from './contents.ts';
import { type Watch, watchFor } from './coverage.ts';
import { decidingFiles, withScriptsOf } from './deciding.ts';
import { compareEarlierTests, type EarlierTests } from './earlier-tests.ts';
import { addedHelpers, changedHelpers } from './helpers-of-tests.ts';

/** What a proof has to know about a change: its test files, and the two trees in which code and tests are mixed. */
export interface TestedChange {
  testsChanged: string[];
  testsRemoved: string[];
  /** Why the change cannot be proved, whatever its checks say. */
  doubts: string[];
  /** Whether some of these are about how the earlier tests run. */
  isHindered: boolean;
  /** New programs that only the tests of the change use. They are in `newTestsOnBase` too. */
  moved: string[];
  /** What to look for while the tests of the change run; undefined where it could not be seen. */
  watch: Watch | undefined;
  /** What the change did to the tests of the base. */
  earlier: EarlierTests;
  /** The base's code with the tests of the change. */
  newTestsOnBase: string;
  /** The code of the change with the tests of the base. */
  oldTestsOnChange: string;
}

/** The most paths that are stored of a change. The others still count. */
const maxPaths = 1000;
/** Larger test files that were renamed are not compared with what they were. */
const maxBytes = 1_000_000;
/** Files whose contents are in memory, and in a message to a thread, at the same time. */
const readAtOnce = 4;
/** Nothing larger is pushed, so a test that the diff does not show is read up to this size. */
const maxWholeBytes = 5_000_000;
/** Files whose new lines are sent to a thread at once. */
const linesAtOnce = 20;

/**
 * Reads the tests of a change: of everything that its pull request shows, not only of what this run did. `before` is the tree
 * with which it is compared, if that is not the commit of the base branch.
 * @throws GitFailed `broken` if the change names more files than a person reviews; it is not proved then
 */
export async function readTestedChange(work: Work, tree: string, before?: string): Promise<TestedChange> {
  const { checkout, settings } = work;
  const base = before ?? (await checkout.treeOf(await baseOfChange(work)));
  const changes = await checkout.changes(base, tree, maxChangeBytes);
  const testsAmong = (paths: string[]) => testFilesAmong(work, paths);
  const isTest = await testsAmong(changes.map(({ path }) => path));
  const tests = changes.filter(({ path }) => isTest(path));
  const unread = new Set<string>();
  const doubt = (why: string) => void unread.add(why);
  const support = await addedHelpers({ checkout, changes, isTest, doubt });
  const testsOnBase = await checkout.replaceFiles(base, tests.map(newSide));
  const newTestsOnBase = await checkout.replaceFiles(testsOnBase, support.map(newSide));
  const oldTestsOnChange = await checkout.replaceFiles(tree, tests.map(oldSide));
  const diff = await diffOf(checkout, base, testsOnBase);
  const { checks } = settings;
  const commands = await withScriptsOf(checkout, base, checks, doubt);
  const others = await withScriptsOf(checkout, base, commandsBefore(work), doubt);
  const after = await checkout.files(tree);
  const moved = await movedTests(
    checkout,
    tests,
    diff,
    searchedBy(commands, (path) => after.has(path)),
  );
  const isRemoved = ({ newMode }: Change) => newMode === absent;
  const testsRemoved = tests.filter((each) => isRemoved(each) && !moved.has(each.path)).map(({ path }) => path);
  const links = tests.filter(({ newMode }) => newMode === '120000').map(({ path }) => path);
  const programs = changes.map(({ path }) => path).filter((path) => !isTest(path));
  const deciding = await decidingFiles({ checkout, base, checks, commands, others, changes, isTest, doubt });
  const helpers = await changedHelpers({ checkout, base, changes, isTest, testsAmong, doubt });
  const ways = [...new Set([...deciding, ...helpers])];
  const pointers = await inLfs(checkout, changes, isTest);
  const unrun = outsideOfCheckout(work, tests);
  const { takingOver, reading } = await judgeNewLines({ checkout, tests, programs }, diff);
  const watch = await watchFor({ checkout, base, codeOfChange: oldTestsOnChange, changes, isTest, commands });
  return {
    testsChanged: tests
      .filter((each) => !isRemoved(each))
      .map(({ path }) => path)
      .slice(0, maxPaths),
    testsRemoved: testsRemoved.slice(0, maxPaths),
    doubts: [
      ...doubtAbout([...new Set([...ways, ...takingOver])], 'decides how the tests run', 'decide how the tests run'),
      ...doubtAbout(testsRemoved, 'was removed', 'were removed'),
      ...doubtAbout(await switchedOff(checkout, tests, diff), 'switches tests off', 'switch tests off'),
      ...doubtAbout(links, 'is a symbolic link', 'are symbolic links'),
      ...doubtAbout(pointers, 'is in Git LFS', 'are in Git LFS'),
      ...doubtAbout(unrun, 'is outside of checkout.paths', 'are outside of checkout.paths'),
      ...doubtAbout(reading, 'reads code as text', 'read code as text'),
      ...unread,
    ],
    isHindered: ways.length + pointers.length + unrun.length + unread.size > 0,
    moved: support.map(({ path }) => path),
    watch,
    earlier: await compareEarlierTests(checkout, tests, diff),
    newTestsOnBase,
    oldTestsOnChange,
  };
}

/**
 * Returns the tests, programs and deciding files of a change of which the trees have a pointer of Git LFS. Nobody reads their
 * contents for a proof.
 */
async function inLfs(checkout: Checkout, changes: Change[], isTest: (path: string) => boolean): Promise<string[]> {
  const counting = changes.filter(({ path }) => isTest(path) || isProgram(path) || mayDecide(path));
  const blobs = await blobsOf(checkout, counting, 'new', maxPointerBytes);
  return counting
    .filter(({ newOid }) => pointerIn(blobs.get(newOid) ?? Buffer.alloc(0)) !== undefined)
    .map(({ path }) => path);
}

/** Returns the older tests of a change that the checks do not see, because the checkout leaves them out. */
function outsideOfCheckout({ settings }: Work, tests: Change[]): string[] {
  const { paths } = settings.checkout;
  if (paths.length === 0) return [];
  const { has } = coneOf(paths);
  return tests.filter(({ path, oldMode }) => oldMode !== absent && !has(path)).map(({ path }) => path);
}

/** Returns the commands that run before the checks, with the scripts that package managers run by themselves. */
function commandsBefore({ environment, settings }: Work): string[] {
  const all = [...environment.plan.commands.map(({ command }) => command), ...settings.services.map(({ run }) => run)];
  return all.length === 0 ? [] : [...all, ownScripts];
}

/** Returns which paths are tests: those that .deckhand.yml names, otherwise those with usual names. */
export async function testFilesAmong(
  { settings }: Pick<Work, 'settings'>,
  paths: string[],
): Promise<(path: string) => boolean> {
  const { tests } = settings;
  if (tests === undefined) return isUsualTestFile;
  const found = await pathsMatching('tests', tests, paths);
  return (path) => found.has(path);
}

/** Returns the old paths of the test files that were renamed and keep most of what they say. */
async function movedTests(
  checkout: Checkout,
  tests: Change[],
  { files }: TreeDiff,
  searched: Searched,
): Promise<Set<string>> {
  const renamed = files.flatMap(({ previousPath, ...file }) => (previousPath ? [{ ...file, previousPath }] : []));
  const byPath = new Map(tests.map((each) => [each.path, each]));
  const found = renamed.filter(
    ({ path, previousPath }) => isFoundAs(previousPath, path) && isStillSearched(previousPath, path, searched),
  );
  const isSame = ({ path, previousPath }: (typeof found)[number]) =>
    byPath.get(previousPath)?.oldOid === byPath.get(path)?.newOid;
  const kept = new Set(found.filter(isSame).map(({ previousPath }) => previousPath));
  const changed = found.filter((file) => !isSame(file) && !file.truncated && !file.binary);
  for (const some of batchesOf(changed, readAtOnce)) {
    const removed = some.flatMap(({ previousPath }) => byPath.get(previousPath) ?? []);
    const blobs = await blobsOf(checkout, removed, 'old', maxBytes);
    const sent = some.map(({ previousPath, hunks }) => ({
      path: previousPath,
      old: blobs.get(byPath.get(previousPath)?.oldOid ?? ''),
      changed: hunks.flatMap(({ lines }) => lines),
    }));
    for (const path of await unlessTooSlow(judging.call('keepingMost', sent), [])) kept.add(path);
  }
  return kept;
}

const newSide = ({ path, newMode, newOid }: Change) => ({ path, mode: newMode, oid: newOid });
const oldSide = ({ path, oldMode, oldOid }: Change) => ({ path, mode: oldMode, oid: oldOid });

/**
 * Finds the test files of the base in which the change switches more tests off than on. Their whole contents are
 * compared, because a diff leaves out what is long or binary.
 */
async function switchedOff(checkout: Checkout, tests: Change[], { files }: TreeDiff): Promise<string[]> {
  const changed = new Map(tests.map((each) => [each.path, each]));
  const renamed = files.flatMap(({ path, previousPath }) => {
    const [from, to] = [changed.get(previousPath ?? ''), changed.get(path)];
    return from === undefined || to === undefined ? [] : [{ ...to, oldMode: from.oldMode, oldOid: from.oldOid }];
  });
  const both = [...tests.filter(({ oldMode, newMode }) => oldMode !== absent && newMode !== absent), ...renamed];
  const found: string[] = [];
  for (const some of batchesOf(both, readAtOnce)) {
    const before = await blobsOf(checkout, some, 'old', maxBytes);
    const after = await blobsOf(checkout, some, 'new', maxBytes);
    const sides = some.map(({ path, oldOid, newOid }) => ({ path, old: before.get(oldOid), now: after.get(newOid) }));
    const all = some.map(({ path }) => path);
    found.push(...(await unlessTooSlow(judging.call('switchingOff', sides), all)));
  }
  return found;
}

const absent = '000000';

const addedLines = ({ hunks }: TreeDiff['files'][number]) =>
  hunks.flatMap(({ lines }) => lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1)));

/**
 * Finds the tests whose new lines decide how other tests run, and those whose new lines read changed programs as text. The
 * diff leaves out what is long or binary; such tests are read as a whole.
 */
async function judgeNewLines(
  { checkout, tests, programs }: { checkout: Checkout; tests: Change[]; programs: string[] },
  { files }: TreeDiff,
): Promise<{ takingOver: string[]; reading: string[] }> {
  const found = { takingOver: [] as string[], reading: [] as string[] };
  const add = async (judged: Promise<typeof found>, all: string[]) => {
    const { takingOver, reading } = await unlessTooSlow(judged, { takingOver: [], reading: all });
    found.takingOver.push(...takingOver);
    found.reading.push(...reading);
  };
  const shown = files.filter(({ truncated, binary }) => !truncated && !binary);
  for (const some of batchesOf(shown, linesAtOnce)) {
    const sent = some.map((file) => ({ path: file.path, lines: addedLines(file) }));
    await add(
      judging.call('judgeAddedLines', sent, programs),
      some.map(({ path }) => path),
    );
  }
  const known = new Set(shown.map(({ path }) => path));
  const unseen = tests.filter(({ path, newMode }) => newMode !== absent && !known.has(path));
  for (const some of batchesOf(unseen, readAtOnce)) {
    const contents = await blobsOf(checkout, some, 'new', maxWholeBytes);
    const read = some.flatMap(({ path, newOid }): [string, Buffer][] => {
      const content = contents.get(newOid);
      if (content === undefined) found.takingOver.push(path);
      return content === undefined ? [] : [[path, content]];
    });
    await add(
      judging.call('judgeWholeTests', read, programs),
      read.map(([path]) => path),
    );
  }
  return found;
}

function doubtAbout(paths: string[], one: string, many: string): string[] {
  if (paths.length === 0) return [];
  return [`${namesOf(paths)} ${paths.length === 1 ? one : many}`];
}
