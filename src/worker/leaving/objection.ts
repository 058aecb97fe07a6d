import { setImmediate } from 'node:timers/promises';
import { isAllowed, type Protection, protectionAbove, protectionOf } from '../../domain/protected/protected-paths.ts';
import { RunFailed } from '../../domain/run.ts';
import { namesSubmodule } from '../../domain/text/names-submodule.ts';
import type { Change, Checkout } from '../../git/engine.ts';
import { pathsProtectedBy, settingsFile } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { textOfPeople } from '../../tasks/store.ts';
import { allWorks, type Work } from '../work.ts';
import { ownChangesOf, type TreeOf } from './changes.ts';
import { changedFilters, type Origin } from './filters.ts';
import { followLinks } from './links.ts';
import { movedReason, type Objection, objectionsTo } from './scan-change.ts';
import { unresolved } from './search.ts';

/** Paths checked before other requests are served. This many take a few milliseconds. */
const pathsInARow = 500;

/**
 * Finds the changed files that agents may not change in this repository: those that its settings protect, and those
 * that are protected by default unless the settings allow them.
 */
export async function protectedChanges(
  settings: RepositorySettings,
  changes: Change[],
  { checkout, origin }: { checkout: Checkout; origin: Origin },
): Promise<Objection[]> {
  if (changes.length === 0) return [];
  const objections: Objection[] = [];
  const links = await followLinks(checkout, origin.tree);
  const namesOf = ({ path, newMode }: Change) => [
    ...links.namesOf(path),
    ...(newMode === linkMode && settings.protected.length > 0 ? links.namesThrough(path) : []),
  ];
  const named = changes.map((change) => ({ change, names: namesOf(change) }));
  const own = await pathsProtectedBy(
    settings,
    named.flatMap(({ change, names }) => [change.path, ...names]),
  );
  const filters = await changedFilters(checkout, origin, changes, settings);
  for (const [i, { change, names }] of named.entries()) {
    const { path } = change;
    const reason = reasonOf(change, settings, own, filters) ?? reasonOfNames(change, names, settings, own);
    if (reason !== undefined) objections.push({ path, reason: `${reason}; restore it` });
    if (i % pathsInARow === pathsInARow - 1) await setImmediate();
  }
  return objections;
}

const ofSettings = `protected by the ${settingsFile} of the repository`;
const byDefault = ({ why }: Protection) => `protected by default, because ${why}`;

function reasonOf(
  change: Change,
  settings: RepositorySettings,
  own: Set<string>,
  filters: Set<string>,
): string | undefined {
  const { path } = change;
  if (own.has(path)) return `is ${ofSettings}`;
  if (filters.has(path)) return 'is protected by default, because it changes the filters of git';
  const protection = protectionFor(path, change, settings);
  return protection && `is ${byDefault(protection)}`;
}

/** Returns why the other paths of a changed file, or those that a changed link brings about, are protected; undefined if none is. */
function reasonOfNames(
  change: Change,
  names: string[],
  settings: RepositorySettings,
  own: Set<string>,
): string | undefined {
  for (const name of names) {
    const protection = protectionFor(name, change, settings);
    if (!own.has(name) && protection === undefined) continue;
    const why = own.has(name) || protection === undefined ? ofSettings : byDefault(protection);
    return `is also ${onOneLine(name)} by a link, which is ${why}`;
  }
  return undefined;
}

const [linkMode, submoduleMode] = ['120000', '160000'];

/** Returns the protection of a path or name of a changed file, unless the settings lift it. */
function protectionFor(
  path: string,
  { oldMode, newMode }: Change,
  { allowed }: RepositorySettings,
): Protection | undefined {
  // It stands for a folder, whose files are not in the change.
  const isFolder = [oldMode, newMode].some((mode) => mode === linkMode || mode === submoduleMode);
  const protection = protectionOf(path) ?? (isFolder ? protectionAbove(path) : undefined);
  return protection?.mayBeAllowed && isAllowed(allowed, path) ? undefined : protection;
}

/** At most this many files are named to the model and to people. The others are counted. */
const maxNamed = 50;

/** What the service says about the changes of a run. */
export interface Judged {
  /** Why it will not push them, one line per file of any repository; undefined when it may. */
  refused: string | undefined;
  /** What it pushes only if a person allows it, one line each. Nothing of it reveals a secret. */
  held: string[];
}

/** Judges the changes of a run in all its repositories. */
export async function judgeChanges(work: Work, treeOf: TreeOf): Promise<Judged> {
  const [lines, held]: [string[], string[]] = [[], []];
  for (const each of allWorks(work)) {
    const folder = each === work ? '' : `../${each.repository.name}/`;
    for (const { path, line, reason, mayBeAllowed } of await objectionsIn(each, treeOf)) {
      const place = `${folder}${onOneLine(path)}`;
      if (mayBeAllowed) held.push(`${line === undefined ? place : `${place}:${line}`} ${reason}`);
      else lines.push(`- ${place} ${reason}`);
    }
  }
  // A person allows only what they see.
  if (held.length > maxNamed)
    lines.push(`- ${held.length} places need the word of a person, who is asked about at most ${maxNamed}`);
  return { refused: lines.length === 0 ? undefined : joined(lines), held: held.slice(0, maxNamed) };
}

function joined(lines: string[]): string {
  // Conflicts come last, so that the cut never hides any other objection.
  lines.sort((a, b) => Number(isConflict(a)) - Number(isConflict(b)));
  const more = lines.length > maxNamed ? [`- and ${lines.length - maxNamed} more`] : [];
  return [...lines.slice(0, maxNamed), ...more].join('\n');
}

async function objectionsIn(work: Work, treeOf: TreeOf): Promise<Objection[]> {
  const { checkout, branch, settings, secrets, signal } = work;
  const conflicts = branch.conflicts ?? branch.reverts?.conflicts;
  const changes = await ownChangesOf(work, treeOf);
  const origin = { ...branch, tree: await treeOf(work) };
  const reasonOfMove = (move: Change) => unaskedMove(work, move);
  return [
    ...(await protectedChanges(settings, changes, { checkout, origin })),
    ...(await objectionsTo(checkout, changes, secrets, { conflicts, signal, reasonOfMove })),
  ];
}

/**
 * Returns why a person has to allow that a submodule moves; undefined if the text of the task asks for it. A commit that is no
 * branch or tag has to be in that text, too: hosts serve the commits of forks under the address of the original.
 */
function unaskedMove({ checkout, task }: Work, move: Change): string | undefined {
  const { path, newOid } = move;
  const isHead = checkout.submodules?.isHead(path, newOid);
  const reason = isHead === false ? `${movedReason(move)}, which is no branch or tag there` : movedReason(move);
  if (isHead === undefined) return reason;
  const text = textOfPeople(task);
  return namesSubmodule(text, path) && (isHead || text.includes(newOid)) ? undefined : reason;
}

/**
 * Builds the failure of a run whose change is not pushed. If unresolved conflicts are the only objection, its category
 * is `conflict`, because a retry merges the base branch again.
 */
export function rejection(objections: string): RunFailed {
  const [first = '', ...others] = objections.split('\n');
  // One objection is a sentence of its own, and no list.
  const message = others.length === 0 ? first.replace(/^- /, '') : `The change cannot be pushed:\n${objections}`;
  return new RunFailed(isConflict(first) ? 'conflict' : 'push_rejected', message);
}

function isConflict(line: string): boolean {
  return line.endsWith(unresolved);
}

/** Replaces control characters: a line break in a file name would look like the start of another objection. */
function onOneLine(path: string): string {
  return path.replace(/\p{Cc}/gu, '?').slice(0, 300);
}
