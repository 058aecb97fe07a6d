import { decidesByName, maxPathChars, startsVendoring } from '../../domain/proof/deciding-files.ts';
import { mayDecide } from '../../domain/proof/manifests.ts';
import { isOrdinary, projectRoots } from '../../domain/proof/ordinary-files.ts';
import { isForTools } from '../../domain/proof/reachable.ts';
import { isProgram } from '../../domain/proof/reading-code.ts';
import { findsShadows } from '../../domain/proof/shadowed-modules.ts';
import { isSnapshotName } from '../../domain/proof/tests/snapshots.ts';
import { isUsualTestFile } from '../../domain/proof/tests/test-files.ts';
import { blobsOf } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';
import { batchesOf, judging, unlessTooSlow } from './contents.ts';
import { decidingManifests } from './manifests/deciding-manifests.ts';
import type { Files } from './manifests/new-packages.ts';

interface Given {
  checkout: Checkout;
  /** The tree before the change. */
  base: string;
  /** The checks of the repository, and those with the scripts that they run. */
  checks: string[];
  commands: string[];
  /** The commands of set-up and of services, with the scripts that they run. */
  others: string[];
  changes: Change[];
  /** Whether a changed file is a test. */
  isTest(path: string): boolean;
  /** Called with a reason why the change cannot be proved. */
  doubt(why: string): void;
}

/** Larger files are not read. */
const maxBytes = 200_000;
/** The most files that are read to find out what the checks run, and the characters that are read of each. */
const maxRead = 50;
const maxScriptChars = 20_000;

/** Finds the changed files that decide how tests run. With such a file, the results of checks prove nothing. */
export async function decidingFiles(given: Given): Promise<string[]> {
  const { changes, isTest } = given;
  const files = await given.checkout.files(given.base);
  const ofChecks = await filesRunBy(given.commands, given, files);
  const before = await filesRunBy(given.others, given, files);
  const texts = [...ofChecks.texts, ...before.texts];
  // What set-up runs can make the tests run differently. Manifests are judged by what they say.
  const programs = [...before.run].filter((path) => (isShellScript.test(path) || isProgram(path)) && !mayDecide(path));
  const run = new Set([...ofChecks.run, ...programs]);
  // Without a program that may start others, the checks run what their commands name and nothing else.
  const isClosed = await unlessTooSlow(judging.call('reachNoToolAtAll', texts), false);
  const known = texts.map((text) => text.slice(0, maxScriptChars));
  const byContent = await decidingManifests({ ...given, files, isClosed, known });
  const data = await snapshotsIn(given);
  const byName = (path: string) => decidesByName(path) && !data.has(path) && !(isClosed && isForTools(path));
  const roots = projectRoots([...files.keys(), ...changes.map(({ path }) => path)]);
  const takesPlaceOfModule = findsShadows({ roots, files, commands: known });
  return changes
    .filter(
      // Where .deckhand.yml does not name all tests, those that it names may use the others.
      ({ path, oldMode, newMode }) =>
        byName(path) ||
        leadsElsewhere(isTest(path), oldMode, newMode) ||
        byContent.has(path) ||
        (oldMode === absent && (takesPlaceOfModule(path) || startsVendoring(path))) ||
        (!isTest(path) &&
          (run.has(path) ||
            isUsualTestFile(path) ||
            !(mayDecide(path) || isOrdinary(path, roots) || (isClosed && isForTools(path))))),
    )
    .map(({ path }) => path);
}

/** The mode of a file that does not exist on one side of a change. */
const absent = '000000';
const [link, submodule] = ['120000', '160000'];

/**
 * Returns whether a change alters where a path leads. A symbolic link named `node_modules` is as good as the folder, and
 * nobody reads what a submodule holds. Links among the tests are a doubt of their own.
 */
function leadsElsewhere(isTest: boolean, ...modes: string[]): boolean {
  return modes.includes(submodule) || (!isTest && modes.includes(link));
}

/** Files of snapshots that a thread reads at once. Each has at most `maxBytes`. */
const readAtOnce = 10;

/** Finds the changed tests that hold nothing but snapshots. (a) and (b) judge those like other tests. */
async function snapshotsIn({ checkout, changes, isTest }: Given): Promise<Set<string>> {
  const isLikeOthers = (path: string) =>
    !decidesByName(`${path.slice(0, path.lastIndexOf('/') + 1).replace(/(^|\/)__snapshots__\//g, '$1')}x.txt`);
  const named = changes.filter(
    ({ path, newMode }) => newMode === '100644' && isTest(path) && isSnapshotName(path) && isLikeOthers(path),
  );
  const found = new Set<string>();
  for (const some of batchesOf(named.slice(0, maxRead), readAtOnce)) {
    const contents = await blobsOf(checkout, some, 'new', maxBytes);
    const read = some.flatMap(({ path, newOid }): [string, Buffer][] => {
      const content = contents.get(newOid);
      return content === undefined ? [] : [[path, content]];
    });
    for (const path of await unlessTooSlow(judging.call('onlySnapshots', read), [])) found.add(path);
  }
  return found;
}

/** Commands that are sent to a thread at once. Each has at most `maxScriptChars`. */
const sentAtOnce = 25;

/**
 * Finds the files that commands run, through the scripts of package.json, Makefiles and shell scripts as the base has
 * them, with the texts of all of these. A change of those is itself a reason for doubt.
 */
async function filesRunBy(
  commands: string[],
  { checkout, changes, doubt }: Pick<Given, 'checkout' | 'changes' | 'doubt'>,
  files: Files,
): Promise<{ run: Set<string>; texts: string[] }> {
  // A new file may take the place of one that a command names without its ending.
  const added = new Set(changes.filter(({ oldMode }) => oldMode === absent).map(({ path }) => path));
  const isFile = (path: string) => files.has(path) || added.has(path);
  const read = readerOf(checkout, files);
  const found = new Set<string>();
  const opened = new Set<string>();
  const texts: string[] = [];
  let next = [...commands];
  if (next.some((command) => /\bg?make\b/.test(command))) next.push(...(await makefilesOf(files, read)));
  while (next.length > 0) {
    texts.push(...next);
    const paths = await pathsRunByAll(next);
    if (paths === undefined) doubt(tooLong);
    const run = paths?.filter(isFile) ?? [];
    for (const path of run) found.add(path);
    const scripts = run.filter((path) => isShellScript.test(path) && !opened.has(path)).slice(0, maxRead - opened.size);
    for (const path of scripts) opened.add(path);
    next = [];
    for (const path of scripts) next.push(await read(path));
  }
  return { run: found, texts };
}

/** Returns the paths that scripts may run; undefined if they are too many, or take too long to find. */
async function pathsRunByAll(scripts: string[]): Promise<string[] | undefined> {
  const all = new Set<string>();
  let chars = 0;
  for (const some of batchesOf(scripts, sentAtOnce)) {
    const texts = some.map((text) => text.slice(0, maxScriptChars));
    const paths = await unlessTooSlow(judging.call('pathsRunByAll', texts), undefined);
    chars += paths?.reduce((sum, { length }) => sum + length, 0) ?? 0;
    if (paths === undefined || chars > maxPathChars) return undefined;
    for (const path of paths) all.add(path);
  }
  return [...all];
}

const tooLong = 'the commands of the checks are too long to find out what they run';

/** Scripts of a shell are followed; other programs would need a parser of their language. */
const isShellScript = /\.(sh|bash|mk)$|(^|\/)[^./]+$/;

async function makefilesOf(files: Files, read: Read): Promise<string[]> {
  const names = [...files.keys()].filter((path) => /(^|\/)(GNU)?[Mm]akefile$/.test(path)).slice(0, maxRead);
  return Promise.all(names.map(read));
}

type Read = (path: string) => Promise<string>;

function readerOf(checkout: Checkout, files: Files): Read {
  return async (path) => {
    const file = files.get(path);
    if (file === undefined || file.mode === submodule) return '';
    return (await checkout.readBlobs([file.oid], maxBytes)).get(file.oid)?.toString('utf8') ?? '';
  };
}

/**
 * Returns the checks with the scripts that they run of the package.json files nearest to the root, as the base has them.
 * If they are too many, there is a doubt, and none of them.
 */
export async function withScriptsOf(
  checkout: Checkout,
  base: string,
  commands: string[],
  doubt: (why: string) => void,
): Promise<string[]> {
  const nearest = [...(await checkout.files(base))]
    .filter(([path, { mode }]) => mode !== submodule && /(^|\/)package\.json$/.test(path))
    .map(([path, { oid }]) => ({ path, oid, depth: path.split('/').length }))
    .sort((a, b) => a.depth - b.depth)
    .slice(0, maxRead);
  const contents = await checkout.readBlobs([...new Set(nearest.map(({ oid }) => oid))], maxBytes);
  const manifests = nearest.flatMap(({ path, oid }): [string, Buffer][] => {
    const content = contents.get(oid);
    return content === undefined ? [] : [[path.slice(0, -'/package.json'.length), content]];
  });
  const all = await unlessTooSlow(judging.call('commandsRunBy', commands, manifests), undefined);
  if (all === undefined) doubt(tooLong);
  return all ?? commands;
}
