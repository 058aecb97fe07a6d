import { createHash } from 'node:crypto';
import { type ChangedFile, droppedBecause, whyDropped } from '../../domain/lab/static-filter.ts';
import { isProgram } from '../../domain/proof/reading-code.ts';
import { isUsualTestFile } from '../../domain/proof/tests/test-files.ts';
import { oneLine, visible } from '../../domain/text/sanitize.ts';
import { isKnownCacheFile } from '../../environment/detect.ts';
import { chosenOf } from '../../environment/files/choose-files.ts';
import { cacheFilesIn } from '../../environment/plan-setup.ts';
import { changesIfFew, diffOf } from '../../git/diff.ts';
import type { Change, Checkout, PastCommit } from '../../git/engine.ts';
import { pathsMatching } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { addedHelpers } from '../proof/helpers-of-tests.ts';

/** A change of the past whose files say that it may become a task. */
export interface Candidate {
  solutionSha: string;
  baseSha: string;
  /** The first line of the commit's message. */
  subject: string;
  /** The numbers of issues and pull requests in the message. */
  mentioned: number[];
  /** When it was committed, in milliseconds since the epoch. */
  at: number;
  /** Its place in the history, counted from the newest commit. */
  place: number;
  /** The paths of its tests, and of new files that only these use. */
  tests: string[];
  /** Candidates with the same one need the same environment. */
  group: string;
}

/** What a page of the history offers. */
export interface Looked {
  candidates: Candidate[];
  /** How many commits were dropped, by the reason. */
  dropped: Record<string, number>;
  looked: number;
  /** Whether nothing follows. */
  isLast: boolean;
}

/** Commits that are looked at together. */
const pageSize = 50;
/** At most this many commits are looked at. */
const maxLooked = 5000;

/** Where and from when on the history is read. */
export interface Past {
  checkout: Checkout;
  settings: RepositorySettings;
  /** The newest commit. */
  head: string;
  /** The commit whose files prepare the environment. */
  trusted: string;
  /** Older commits are left alone. */
  since: Date | null;
}

/**
 * Returns the commits of a page of the history, newest first, along first parents. A merge counts as one change, as a squash
 * does. @throws RangeError for git in JavaScript, which cannot do this
 */
export async function readPage({ checkout, head }: Past, page: number): Promise<PastCommit[]> {
  if (checkout.history === undefined) throw new RangeError('this git engine reads no history');
  const commits = await checkout.history(head, (page + 1) * pageSize);
  return commits.slice(page * pageSize);
}

/** Looks at the files of each change of a page, and finds those that may become tasks. */
export async function lookAtPage(past: Past, page: number): Promise<Looked> {
  const all = await readPage(past, page);
  const { since } = past;
  const tooOld = since === null ? -1 : all.findIndex(({ at }) => at < since);
  const commits = tooOld < 0 ? all : all.slice(0, tooOld);
  const found: Looked = {
    candidates: [],
    dropped: {},
    looked: commits.length,
    isLast: tooOld >= 0 || all.length < pageSize || (page + 1) * pageSize >= maxLooked,
  };
  // One commit at a time, because each may change thousands of files.
  for (const [i, commit] of commits.entries()) {
    const [parent] = commit.parents;
    const own = parent === undefined ? [] : await changesIfFew(past.checkout, parent, commit.id);
    const classify = await classifier(past, own ?? []);
    const reason = own === undefined ? droppedBecause.tooLarge : await whyNot(past, commit, own, classify);
    if (reason !== undefined) found.dropped[reason] = (found.dropped[reason] ?? 0) + 1;
    else found.candidates.push(await candidateOf(past, commit, own ?? [], { classify, place: page * pageSize + i }));
  }
  return found;
}

type Classify = (change: Change) => Omit<ChangedFile, 'isBinary'>;

/** Returns what the paths of changed files say about them. */
async function classifier({ settings }: Past, changes: Change[]): Promise<Classify> {
  const paths = [...new Set(changes.map(({ path }) => path))];
  const matching = async (key: 'tests' | 'cache', usual: (path: string) => boolean) => {
    const patterns = settings[key];
    if (patterns === undefined) return usual;
    const found = await pathsMatching(key, patterns, paths);
    return (path: string) => found.has(path);
  };
  const isTest = await matching('tests', isUsualTestFile);
  const isSetup = await matching('cache', isKnownCacheFile);
  return ({ path, oldMode, newMode }) => ({
    path,
    oldMode,
    newMode,
    isTest: isTest(path),
    isProgram: isProgram(path),
    isSetup: isSetup(path),
  });
}

/** Files of a change that are compared line by line at most. Larger changes are dropped anyway. */
const maxCompared = 60;

async function whyNot(
  { checkout }: Past,
  { id, parents }: PastCommit,
  changes: Change[],
  classify: Classify,
): Promise<string | undefined> {
  const files = changes.map((change) => ({ ...classify(change), isBinary: false }));
  // Comparing lines takes the most time, so it is done only where nothing else decides.
  const early = whyDropped({ parents: parents.length, files, lines: files.length > maxCompared ? undefined : 0 });
  if (early !== undefined || parents[0] === undefined) return early;
  const diff = await diffOf(checkout, parents[0], id);
  const binary = new Set(diff.files.filter((file) => file.binary).map(({ path }) => path));
  const isShown = !diff.truncated && diff.files.every((file) => !file.truncated);
  const lines = diff.files.reduce((sum, { additions, deletions }) => sum + additions + deletions, 0);
  return whyDropped({
    parents: parents.length,
    files: files.map((file) => ({ ...file, isBinary: binary.has(file.path) })),
    lines: isShown ? lines : undefined,
  });
}

/** At most this many numbers in the message of a commit are looked up. */
const maxMentioned = 3;

async function candidateOf(
  { checkout, settings }: Past,
  { id, parents: [base = ''], message, at }: PastCommit,
  changes: Change[],
  { classify, place }: { classify: Classify; place: number },
): Promise<Candidate> {
  const isTest = (path: string) => changes.some((change) => change.path === path && classify(change).isTest);
  const helpers = await addedHelpers({ checkout, changes, isTest, doubt: () => {} });
  const tests = changes.map(({ path }) => path).filter(isTest);
  const numbers = [...message.slice(0, 4000).matchAll(/(?<![\w/])#([1-9]\d{0,8})\b/g)].map(([, n]) => Number(n));
  return {
    solutionSha: id,
    baseSha: base,
    subject: oneLine(visible(message.split('\n', 1)[0] ?? ''), 200) || `Change of ${at.toISOString().slice(0, 10)}`,
    mentioned: [...new Set(numbers)].slice(0, maxMentioned),
    at: at.getTime(),
    place,
    tests: [...tests, ...helpers.map(({ path }) => path)],
    group: await groupOf(checkout, settings, base),
  };
}

/** Identifies the files that decide about set-up at a commit. */
async function groupOf(checkout: Checkout, settings: RepositorySettings, commit: string): Promise<string> {
  const files = await cacheFilesIn(await chosenOf(settings, await checkout.files(commit)), settings.cache);
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16);
}

/** Returns a tree in which some files are as the solution has them: its tests, over what somebody else made. */
export async function withTestsOf(
  checkout: Checkout,
  tree: string,
  { baseSha, solutionSha, tests }: Pick<Candidate, 'baseSha' | 'solutionSha' | 'tests'>,
): Promise<string> {
  const hidden = new Set(tests);
  const changes = await checkout.changes(baseSha, solutionSha);
  const files = changes
    .filter(({ path }) => hidden.has(path))
    .map(({ path, newMode, newOid }) => ({ path, mode: newMode, oid: newOid }));
  return checkout.replaceFiles(tree, files);
}
