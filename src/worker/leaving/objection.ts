import { isAllowed, type Protection, protectionAbove, protectionOf } from '../../domain/protected/protected-paths.ts';
import { RunFailed } from '../../domain/run.ts';
import { namesSubmodule } from '../../domain/text/names-submodule.ts';
import type { Change, Checkout } from '../../git/engine.ts';
import { inPortions } from '../../git/work-tree/tree-files.ts';
import {
  pathsAboveProtected,
  pathsProtectedBy,
  settingsFile,
} from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { textOfPeople } from '../../tasks/store.ts';
import { allWorks, type Work } from '../work.ts';
import { ownChangesOf, type TreeOf } from './changes.ts';
import { changedFilters, type Origin } from './filters.ts';
import { followProtected, type ProtectedLinks, tooMany } from './links.ts';
import { movedReason, type Objection, objectionsTo } from './scan-change.ts';
import { unresolved } from './search.ts';

/** At most this many names that changed files have by links are compared with what is protected. */
const maxNames = 50_000;
/** The length of these names, together. */
const maxChars = 2_000_000;

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
  const links = await followProtected(checkout, origin.tree, (names) => whichMatter(settings, names));
  const filters = await changedFilters(checkout, origin, changes, settings);
  const folders = new Set<Change>();
  for (const change of changes) if (await standsForFolder(change, links)) folders.add(change);
  const named = await namedChanges(changes, folders, links);
  await judgeByDefault(named, filters, settings);
  const namesOf = (some: Named[]) => some.flatMap(({ names }) => names);
  const own = {
    at: await pathsProtectedBy(settings, namesOf(named)),
    above: await pathsAboveProtected(settings, namesOf(named.filter(({ isFolder }) => isFolder))),
  };
  await inPortions(named, (each) => {
    const { path } = each.change;
    const reason = reasonOfOwn(each, own) ?? each.byDefault;
    if (reason !== undefined) objections.push({ path, reason: `${reason}; restore it` });
  });
  return objections;
}

/** Finds the names of changed files. @throws RunFailed beyond the limits */
async function namedChanges(changes: Change[], folders: ReadonlySet<Change>, links: ProtectedLinks): Promise<Named[]> {
  const named: Named[] = [];
  let [count, chars] = [0, 0];
  await inPortions(changes, (change) => {
    const isFolder = folders.has(change);
    const names = [change.path];
    for (const name of links.namesOf(change.path, isFolder)) {
      names.push(name);
      chars += name.length;
      if (count++ > maxNames || chars > maxChars) throw tooMany();
    }
    named.push({ change, isFolder, names, byDefault: undefined });
  });
  return named;
}

/** Notes why changes are protected by default. */
async function judgeByDefault(named: Named[], filters: ReadonlySet<string>, settings: RepositorySettings) {
  function* pairs(): Iterable<[Named, string]> {
    for (const each of named) for (const name of each.names) yield [each, name];
  }
  await inPortions(pairs(), ([each, name]) => {
    const { change } = each;
    if (filters.has(change.path)) each.byDefault = 'is protected by default, because it changes the filters of git';
    else each.byDefault ??= reasonByDefault(each, name, settings);
  });
}

/** Finds the names that are protected, or in whose place a folder could have protected files. */
async function whichMatter(settings: RepositorySettings, names: string[]): Promise<Set<string>> {
  const matter = new Set([
    ...(await pathsProtectedBy(settings, names)),
    ...(await pathsAboveProtected(settings, names)),
  ]);
  await inPortions(names, (name) => {
    if (protectionOf(name) !== undefined || protectionAbove(name) !== undefined) matter.add(name);
  });
  return matter;
}

interface Named {
  change: Change;
  /** It stands for a folder, whose files are not in the change. */
  isFolder: boolean;
  /** Its path, and the protected names under which that is reached. */
  names: string[];
  /** Why it is protected by default; undefined if it is not. */
  byDefault: string | undefined;
}

/** Names of changes that the settings protect, and those in whose place a folder could have files that they protect. */
interface OwnNames {
  at: ReadonlySet<string>;
  above: ReadonlySet<string>;
}

const [linkMode, submoduleMode] = ['120000', '160000'];

async function standsForFolder({ path, oldMode, newMode }: Change, links: ProtectedLinks): Promise<boolean> {
  if (oldMode === linkMode || oldMode === submoduleMode || newMode === submoduleMode) return true;
  // One on the way of a protected name stands for it, whatever it leads to.
  return newMode === linkMode && (!isEmpty(links.namesOf(path, false)) || !(await links.isFile(path)));
}

function isEmpty(items: Iterable<string>): boolean {
  for (const _ of items) return false;
  return true;
}

function reasonOfOwn({ change, isFolder, names }: Named, own: OwnNames): string | undefined {
  const name = names.find((each) => own.at.has(each) || (isFolder && own.above.has(each)));
  return name === undefined ? undefined : `${isAlso(change, name)} protected by the ${settingsFile} of the repository`;
}

function reasonByDefault(about: Judging, name: string, settings: RepositorySettings): string | undefined {
  const protection = protectionFor(name, about, settings);
  return protection && `${isAlso(about.change, name)} protected by default, because ${protection.why}`;
}

const isAlso = ({ path }: Change, name: string) =>
  name === path ? 'is' : `is also ${onOneLine(name)} by a link, which is`;

type Judging = Pick<Named, 'change' | 'isFolder'>;

/** Returns the protection of a name, unless the settings lift it. */
function protectionFor(
  name: string,
  { change, isFolder }: Judging,
  { allowed }: RepositorySettings,
): Protection | undefined {
  const isSubmodule = change.oldMode === submoduleMode && change.newMode === submoduleMode;
  const protection = protectionOf(name) ?? (isFolder ? protectionAbove(name, isSubmodule) : undefined);
  return protection?.mayBeAllowed && isAllowed(allowed, name) ? undefined : protection;
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
