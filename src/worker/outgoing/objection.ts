import { setImmediate } from 'node:timers/promises';
import { filterLines, filterMacros } from '../../domain/protected/ci-files.ts';
import { isAllowed, isAttributesFile, protectionOf } from '../../domain/protected/protected-paths.ts';
import { RunFailed } from '../../domain/run.ts';
import { blobsOf } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';
import { pathsProtectedBy, settingsFile } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { allWorks, type Work } from '../work.ts';
import type { Branch } from '../workspace/workspace.ts';
import { ownChangesOf, type TreeOf } from './changes.ts';
import { type Objection, objectionsTo } from './outgoing-scan.ts';
import { unresolved } from './search.ts';

/** Parsing this many bytes takes 10 ms. A change to a larger file counts as a change of its filters. */
const maxAttributesBytes = 200_000;
/** Paths checked before other requests are served. This many take a few milliseconds. */
const pathsInARow = 500;

/** From which commits a change comes. */
type Origin = Pick<Branch, 'from' | 'base' | 'conflicts'>;

/**
 * Finds the changed files that agents may not change in this repository: those that its settings protect, and those
 * that are protected by default unless the settings allow them.
 */
export async function protectedChanges(
  settings: RepositorySettings,
  changes: Change[],
  { checkout, branch }: { checkout: Checkout; branch: Origin },
): Promise<Objection[]> {
  const objections: Objection[] = [];
  const own = await pathsProtectedBy(
    settings,
    changes.map(({ path }) => path),
  );
  const filters = await changedFilters(checkout, branch, changes);
  for (const [i, { path }] of changes.entries()) {
    const reason = reasonOf(path, settings, own, filters);
    if (reason !== undefined) objections.push({ path, reason: `${reason}; restore it` });
    if (i % pathsInARow === pathsInARow - 1) await setImmediate();
  }
  return objections;
}

function reasonOf(
  path: string,
  { allowed }: RepositorySettings,
  own: Set<string>,
  filters: Set<string>,
): string | undefined {
  if (own.has(path)) return `is protected by the ${settingsFile} of the repository`;
  if (filters.has(path)) return 'is protected by default, because it changes the filters of git';
  const protection = protectionOf(path);
  if (protection === undefined || (protection.mayBeAllowed && isAllowed(allowed, path))) return undefined;
  return `is protected by default, because ${protection.why}`;
}

/** Finds the .gitattributes files whose lines about filters changed. */
async function changedFilters(checkout: Checkout, branch: Origin, changes: Change[]): Promise<Set<string>> {
  const touched = changes.filter(({ path }) => isAttributesFile(path));
  if (touched.length === 0) return new Set();
  const root = await checkout.readFile(branch.from, '.gitattributes');
  if (root === 'too large' || (root?.length ?? 0) > maxAttributesBytes) return new Set(touched.map(({ path }) => path));
  const macros = filterMacros(root?.toString('latin1') ?? '');
  const linesOf = (content: Buffer | undefined) =>
    content && filterLines(content.toString('latin1'), macros).join('\n');
  const found = new Set<string>();
  for (const change of touched) {
    const now = linesOf(await contentOf(checkout, change, 'new'));
    const isSame = now !== undefined && now === linesOf(await contentOf(checkout, change, 'old'));
    if (!isSame && !(await isAsOnBase(checkout, branch, change.path, (base) => linesOf(base) === now)))
      found.add(change.path);
    await setImmediate();
  }
  return found;
}

/**
 * Returns whether a merge takes a file's filters from the base branch. `isSame` compares them with the base version.
 */
async function isAsOnBase(checkout: Checkout, branch: Origin, path: string, isSame: (base: Buffer) => boolean) {
  if (branch.conflicts === undefined) return false;
  const base = (await checkout.readFile(branch.base, path)) ?? Buffer.alloc(0);
  return base !== 'too large' && base.length <= maxAttributesBytes && isSame(base);
}

/** Reads a file's old or new contents. Returns undefined for a file that is too large to parse. */
async function contentOf(checkout: Checkout, change: Change, side: 'old' | 'new'): Promise<Buffer | undefined> {
  const [mode, oid] = side === 'old' ? [change.oldMode, change.oldOid] : [change.newMode, change.newOid];
  if (mode === '000000') return Buffer.alloc(0);
  return (await blobsOf(checkout, [change], side, maxAttributesBytes)).get(oid);
}

/** At most this many files are named to the model and to people. The others are counted. */
const maxNamed = 50;

/**
 * Explains why the host will not push the changes of a run, one line per file of any repository. Returns undefined when
 * it will push them.
 */
export async function objections(work: Work, treeOf: TreeOf): Promise<string | undefined> {
  const lines: string[] = [];
  for (const each of allWorks(work)) {
    const changes = await ownChangesOf(each, treeOf);
    const found = [
      ...(await protectedChanges(each.settings, changes, each)),
      ...(await objectionsTo(each.checkout, changes, each.secrets, {
        conflicts: each.branch.conflicts,
        signal: each.signal,
      })),
    ];
    const folder = each === work ? '' : `../${each.repository.name}/`;
    lines.push(...found.map(({ path, reason }) => `- ${folder}${onOneLine(path)} ${reason}`));
  }
  if (lines.length === 0) return undefined;
  // Conflicts come last, so that the cut never hides any other objection.
  lines.sort((a, b) => Number(isConflict(a)) - Number(isConflict(b)));
  const more = lines.length > maxNamed ? [`- and ${lines.length - maxNamed} more`] : [];
  return [...lines.slice(0, maxNamed), ...more].join('\n');
}

/**
 * Builds the failure of a run whose change is not pushed. If unresolved conflicts are the only objection, its category
 * is `conflict`, because a retry merges the base branch again.
 */
export function rejection(objections: string): RunFailed {
  const [first = ''] = objections.split('\n');
  return new RunFailed(isConflict(first) ? 'conflict' : 'push_rejected', objections);
}

function isConflict(line: string): boolean {
  return line.endsWith(unresolved);
}

/** Replaces control characters: a line break in a file name would look like the start of another objection. */
function onOneLine(path: string): string {
  return path.replace(/\p{Cc}/gu, '?').slice(0, 300);
}
