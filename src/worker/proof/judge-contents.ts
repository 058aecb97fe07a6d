// Runs in a thread (contents.ts), because whoever writes a change chooses how long its files take to read.
import { maxPathChars, pathsRunBy, withScripts } from '../../domain/proof/deciding-files.ts';
import type { Surroundings } from '../../domain/proof/manifests/manifest.ts';
import { namesTaken } from '../../domain/proof/manifests/taken-names.ts';
import { differsInDeciding } from '../../domain/proof/manifests.ts';
import { modulesNamedIn } from '../../domain/proof/module-names.ts';
import { mayRunUnseen, onlyDeclares } from '../../domain/proof/reach.ts';
import { reachNoTool } from '../../domain/proof/reachable.ts';
import { isProgram, readsCode } from '../../domain/proof/reading-code.ts';
import { compareData, compareSnapshots, compareTests, type Kept } from '../../domain/proof/tests/lost-tests.ts';
import { holdsOnlySnapshots, isSnapshotName } from '../../domain/proof/tests/snapshots.ts';
import { countSkips, isCollected, keepsMost, takesOver } from '../../domain/proof/tests/test-files.ts';
import { digestOf, type ResultsOfRun, readResults } from '../../domain/proof/tests/test-results.ts';

/** A file before and after a change; undefined where it is missing, or was not read. */
export interface BothSides {
  path: string;
  old: Uint8Array | undefined;
  now: Uint8Array | undefined;
}

/** The most commands, and their characters, that the checks may run through scripts of package.json. */
const [maxCommands, maxCommandChars] = [5000, 500_000];

/** A manifest before and after a change, and whether it is new in a folder in which the base has no file. */
export type ChangedManifest = BothSides & Pick<Surroundings, 'isNewFolder'>;

/** Returns the manifests that differ in a part which decides how tests run. */
export function differingManifests(files: ChangedManifest[], around: Omit<Surroundings, 'isNewFolder'>): string[] {
  const text = (content: Uint8Array | undefined) => (content === undefined ? undefined : textOf(content));
  return files
    .filter(({ path, old, now, isNewFolder }) =>
      differsInDeciding(path, text(old), text(now), { ...around, isNewFolder }),
    )
    .map(({ path }) => path);
}

/** Returns the new packages that may take the place of one that is installed on the base. */
export function packagesInPlaceOfOthers(
  added: [path: string, content: Uint8Array][],
  manifests: Uint8Array[],
  locks: Uint8Array[] | undefined,
): string[] {
  const texts = (contents: Uint8Array[]) => contents.map(textOf);
  const isTaken = namesTaken(texts(manifests), locks === undefined ? undefined : texts(locks));
  return added.filter(([, content]) => isTaken(textOf(content))).map(([path]) => path);
}

/** Returns the paths that scripts of a shell may run; undefined if they are too many. */
export function pathsRunByAll(texts: string[]): string[] | undefined {
  const found = new Set<string>();
  let chars = 0;
  for (const text of texts) {
    const paths = pathsRunBy(text);
    chars += paths?.reduce((sum, { length }) => sum + length, 0) ?? 0;
    if (paths === undefined || chars > maxPathChars) return undefined;
    for (const path of paths) found.add(path);
  }
  return [...found];
}

/** Returns whether these commands are known to reach no build tool. */
export function reachNoToolAtAll(commands: string[]): boolean {
  return reachNoTool(commands);
}

/** Returns the files that hold nothing but snapshots. */
export function onlySnapshots(files: [path: string, content: Uint8Array][]): string[] {
  return files.filter(([path, content]) => holdsOnlySnapshots(path, textOf(content))).map(([path]) => path);
}

/** Returns commands with the scripts that they run of package.json files, by folder; undefined if they are too many. */
export function commandsRunBy(
  commands: string[],
  manifests: [folder: string, content: Uint8Array][],
): string[] | undefined {
  const all = [...commands];
  let chars = 0;
  for (const [folder, content] of manifests)
    for (const script of withScripts(commands, scriptsIn(textOf(content))).slice(commands.length)) {
      all.push(folder === '' ? script : `cd ${folder}\n${script}`);
      chars += script.length + folder.length;
      if (all.length > maxCommands || chars > maxCommandChars) return undefined;
    }
  return all;
}

/** Returns the tests in which more is switched off than before, or that can no longer be read. */
export function switchingOff(files: BothSides[]): string[] {
  const skipsIn = (content: Uint8Array | undefined) => (content === undefined ? 0 : countSkips(textOf(content)));
  return files
    .filter(({ old, now }) => (old !== undefined && now === undefined) || skipsIn(now) > skipsIn(old))
    .map(({ path }) => path);
}

/** Returns the tests whose new lines decide about other tests, and those whose new lines read changed programs as text. */
export function judgeAddedLines(
  files: { path: string; lines: string[] }[],
  programs: string[],
): { takingOver: string[]; reading: string[] } {
  const those = (does: (lines: string[]) => boolean) =>
    files.filter(({ lines }) => does(lines)).map(({ path }) => path);
  return { takingOver: those(takesOver), reading: those((lines) => readsCode(lines, programs)) };
}

/** Does the same for tests whose new lines are not known: everything in them counts as new. */
export function judgeWholeTests(files: [path: string, content: Uint8Array][], programs: string[]) {
  const all = files.map(([path, content]) => ({ path, lines: textOf(content).split('\n') }));
  return judgeAddedLines(all, programs);
}

/** Returns the renamed files that keep most of their lines. `changed` are the lines of the diff, with their signs. */
export function keepingMost(files: { path: string; old: Uint8Array | undefined; changed: string[] }[]): string[] {
  const keeps = ({ old, changed }: (typeof files)[number]) =>
    keepsMost(old === undefined ? [] : textOf(old).split('\n'), changed);
  return files.filter(keeps).map(({ path }) => path);
}

/** Returns which of these modules each file names, by their indexes. */
export function modulesNamedInAll(files: [path: string, content: Uint8Array][], modules: string[]): Uint32Array[] {
  const indexes = new Map(modules.map((name, i) => [name, i]));
  return files.map(([path, content]) => {
    const named = [...modulesNamedIn(path, textOf(content))];
    return Uint32Array.from(named.flatMap((name) => indexes.get(name) ?? []));
  });
}

/** Returns the programs that only declare types. */
export function declaringOnly(files: [path: string, content: Uint8Array][]): string[] {
  return files.filter(([path, content]) => onlyDeclares(path, textOf(content))).map(([path]) => path);
}

/** Returns whether one of these programs may run code that is not seen. */
export function someRunUnseen(contents: Uint8Array[]): boolean {
  return contents.some((content) => mayRunUnseen(textOf(content)));
}

/** Tests that are declared in a file whose name says nothing about tests. */
const declaresTests =
  /^\s*(test|it|describe|suite|context)(\.\w+)?\(|^\s*(async )?def test_|^func Test[A-Z]|^\s*#\[(tokio::)?test\]|^\s*@(Test|ParameterizedTest)\b/m;

/** Compares earlier test files with what a change made of them. A helper may check less without a visible assertion. */
export function earlierTests(
  files: { path: string; old: Uint8Array; hunks: string[][] }[],
): (Kept & { path: string })[] {
  return files.map(({ path, old, hunks }) => {
    const text = textOf(old);
    if (isSnapshotName(path)) return { path, ...compareSnapshots(hunks) };
    if (isCollected(path) || declaresTests.test(text)) return { path, ...compareTests(path, text, hunks) };
    if (isProgram(path)) return { path, hasChanged: false, renamed: [], lost: 'changes a helper of earlier tests' };
    return { path, ...compareData(hunks) };
  });
}

/** The most failed and passed tests that are kept of one run. With more, nothing is said about missing ones. */
const [maxFailed, maxPassed] = [200, 2000];

/** Reads the results of single tests from the output of checks. */
export function resultsIn(text: string, isWhole: boolean): ResultsOfRun | undefined {
  const found = readResults(text, isWhole);
  if (found === undefined) return undefined;
  return {
    failed: found.failed.slice(0, maxFailed),
    passed: found.passed.slice(0, maxPassed).map(digestOf),
    isWhole: found.isWhole && found.failed.length <= maxFailed && found.passed.length <= maxPassed,
  };
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8');
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
