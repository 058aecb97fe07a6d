import { decidesByName, filesRunBy, takesPlaceOfModule, withScripts } from '../../domain/proof/deciding-files.ts';
import { differsInDeciding, mayDecide } from '../../domain/proof/manifests.ts';
import { isOrdinary, projectRoots } from '../../domain/proof/ordinary-files.ts';
import { isUsualTestFile } from '../../domain/proof/test-files.ts';
import { blobsOf } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';

interface Given {
  checkout: Checkout;
  /** The tree before the change. */
  base: string;
  /** The checks of the repository, with the scripts that they run. */
  commands: string[];
  changes: Change[];
  /** Whether a changed file is a test. */
  isTest(path: string): boolean;
}

/** Larger files are not read. A larger manifest is assumed to decide how tests run. */
const maxBytes = 200_000;
/** The most files that are read to find out what the checks run, and the characters that are read of each. */
const maxRead = 50;
const maxScriptChars = 20_000;

/** Finds the changed files that decide how tests run. With such a file, the results of checks prove nothing. */
export async function decidingFiles(given: Given): Promise<string[]> {
  const { changes, isTest } = given;
  const byContent = await decidingContents(given);
  const files = await given.checkout.files(given.base);
  const run = await filesThatChecksRun(given, files);
  const roots = projectRoots([...files.keys(), ...changes.map(({ path }) => path)]);
  return changes
    .filter(
      // Where .deckhand.yml does not name all tests, those that it names may use the others.
      ({ path, oldMode }) =>
        decidesByName(path) ||
        byContent.has(path) ||
        (oldMode === absent && takesPlaceOfModule(path)) ||
        (!isTest(path) && (run.has(path) || isUsualTestFile(path) || !(mayDecide(path) || isOrdinary(path, roots)))),
    )
    .map(({ path }) => path);
}

/** The mode of a file that does not exist on one side of a change. */
const absent = '000000';

/** Finds the changed manifests whose parts about tests changed, such as the scripts of package.json. */
async function decidingContents({ checkout, changes }: Given): Promise<Set<string>> {
  const read = changes.filter(({ path }) => mayDecide(path)).slice(0, maxRead);
  const [before, after] = [
    await blobsOf(checkout, read, 'old', maxBytes),
    await blobsOf(checkout, read, 'new', maxBytes),
  ];
  const decides = ({ path, oldMode, oldOid, newMode, newOid }: Change) => {
    const [old, now] = [before.get(oldOid)?.toString('utf8'), after.get(newOid)?.toString('utf8')];
    const isRead = (oldMode === absent || old !== undefined) && (newMode === absent || now !== undefined);
    return !isRead || differsInDeciding(path, old, now);
  };
  const unread = changes.filter(({ path }) => mayDecide(path)).slice(maxRead);
  return new Set([...read.filter(decides), ...unread].map(({ path }) => path));
}

/**
 * Finds the files that the checks run, through the scripts of package.json, Makefiles and shell scripts as the base has
 * them. A change of those is itself a reason for doubt.
 */
async function filesThatChecksRun({ checkout, commands, changes }: Given, files: Files): Promise<Set<string>> {
  // A new file may take the place of one that a command names without its ending.
  const added = new Set(changes.filter(({ oldMode }) => oldMode === absent).map(({ path }) => path));
  const isFile = (path: string) => files.has(path) || added.has(path);
  const read = readerOf(checkout, files);
  const found = new Set<string>();
  const queue = [...commands];
  const opened = new Set<string>();
  if (queue.some((command) => /\bg?make\b/.test(command))) queue.push(...(await makefilesOf(files, read)));
  for (let at = 0; at < queue.length; at++)
    for (const path of filesRunBy((queue[at] ?? '').slice(0, maxScriptChars), isFile)) {
      found.add(path);
      if (opened.has(path) || opened.size >= maxRead || !isShellScript.test(path)) continue;
      opened.add(path);
      queue.push(await read(path));
    }
  return found;
}

/** Scripts of a shell are followed; other programs would need a parser of their language. */
const isShellScript = /\.(sh|bash|mk)$|(^|\/)[^./]+$/;

async function makefilesOf(files: Files, read: Read): Promise<string[]> {
  const names = [...files.keys()].filter((path) => /(^|\/)(GNU)?[Mm]akefile$/.test(path)).slice(0, maxRead);
  return Promise.all(names.map(read));
}

type Read = (path: string) => Promise<string>;
type Files = Map<string, { oid: string }>;

function readerOf(checkout: Checkout, files: Files): Read {
  return async (path) => {
    const oid = files.get(path)?.oid;
    const content = oid === undefined ? undefined : (await checkout.readBlobs([oid], maxBytes)).get(oid);
    return content?.toString('utf8') ?? '';
  };
}

/** Returns the checks with the scripts that they run of the package.json files nearest to the root, as the base has them. */
export async function withScriptsOf(checkout: Checkout, base: string, commands: string[]): Promise<string[]> {
  const files = await checkout.files(base);
  const read = readerOf(checkout, files);
  const paths = [...files.keys()];
  const depth = (path: string) => path.split('/').length;
  const manifests = paths
    .filter((path) => /(^|\/)package\.json$/.test(path))
    .sort((a, b) => depth(a) - depth(b))
    .slice(0, maxRead);
  const all: string[] = [];
  for (const path of manifests) {
    const folder = path.slice(0, -'package.json'.length);
    const scripts = scriptsIn(await read(path));
    const run = withScripts(commands, scripts).slice(commands.length);
    all.push(...run.map((script) => (folder === '' ? script : `cd ${folder.slice(0, -1)}\n${script}`)));
  }
  return [...commands, ...all];
}

function scriptsIn(text: string): Record<string, string> {
  try {
    const { scripts = {} } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    return Object.fromEntries(
      Object.entries(scripts).filter((each): each is [string, string] => typeof each[1] === 'string'),
    );
  } catch {
    return {};
  }
}
