import { readFileSync } from 'node:fs';
import {
  changedLines,
  type Lines,
  measuresCoverage,
  reachesNothing,
  type Sighting,
  watchedLanguage,
} from '../../domain/proof/reach.ts';
import { isProgram } from '../../domain/proof/reading-code.ts';
import { isCollected } from '../../domain/proof/tests/test-files.ts';
import { blobsOf, diffOf } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';
import type { Machine } from '../../sandbox/sandbox.ts';
import { batchesOf, judging, unlessTooSlow } from './contents.ts';

/** What to look for while the tests of a change run. */
export interface Watch {
  /** The changed lines of the programs by path. */
  programs: Record<string, Lines>;
  /** The changed tests that runners find by their names. */
  tests: string[];
}

interface Given {
  checkout: Checkout;
  /** The tree of the base, the one of its tests with the code of the change, and what the change did. */
  base: string;
  codeOfChange: string;
  changes: Change[];
  isTest(path: string): boolean;
  /** The commands of the checks, with the scripts that they run. */
  commands: string[];
}

/** Larger programs and tests are not looked at. */
const maxBytes = 500_000;
/** The most files that may be loaded, so that their texts are looked at. */
const maxLoaded = 600;
const readAtOnce = 10;

/**
 * Finds out what the new tests have to reach. Undefined where it could not be seen whether they do: in other languages,
 * where the checks measure coverage themselves, or without a changed line that does something.
 */
export async function watchFor({
  checkout,
  base,
  codeOfChange,
  changes,
  isTest,
  commands,
}: Given): Promise<Watch | undefined> {
  if (measuresCoverage(commands)) return undefined;
  const changed = changes.filter(({ path, newMode }) => !isTest(path) && newMode !== absent && isProgram(path));
  if (changed.length > maxLoaded || changed.some(({ path }) => watchedLanguage(path) === undefined)) return undefined;
  const declaring = await declaringAmong(checkout, changed);
  if (declaring === undefined) return undefined;
  const diff = await diffOf(checkout, base, codeOfChange);
  const files = new Map(diff.files.map((file) => [file.path, file]));
  const programs: Watch['programs'] = {};
  for (const { path } of changed) {
    const file = files.get(path);
    if (file === undefined || file.truncated || file.binary) return undefined;
    const lines = changedLines(file.hunks);
    if (!declaring.has(path) && lines.lines.length + lines.cuts.length > 0) programs[path] = lines;
  }
  if (Object.keys(programs).length === 0) return undefined;
  const tests = changes.filter(({ path, newMode }) => isTest(path) && newMode !== absent && isCollected(path));
  return { programs, tests: tests.map(({ path }) => path) };
}

/** Returns the programs that only declare types; undefined if one is too large to be looked at. */
async function declaringAmong(checkout: Checkout, changed: Change[]): Promise<Set<string> | undefined> {
  const found = new Set<string>();
  for (const some of batchesOf(changed, readAtOnce)) {
    const texts = await blobsOf(checkout, some, 'new', maxBytes);
    const read = some.flatMap(({ path, newOid }): [string, Buffer][] => {
      const content = texts.get(newOid);
      return content === undefined ? [] : [[path, content]];
    });
    if (read.length < some.length) return undefined;
    for (const path of await unlessTooSlow(judging.call('declaringOnly', read), [])) found.add(path);
  }
  return found;
}

const absent = '000000';

const insideFile = (name: string) => readFileSync(new URL(`./inside/${name}`, import.meta.url), 'utf8');
/** Where the processes of the tests write what they reached. */
const folder = '$HOME/.cache/reached';
/** The end of a text in a shell script. No line of the texts is the same. */
const end = 'END_OF_THE_FILE';

/**
 * Variables for the checks, with which Node and Python write what they reached. They are the same in all places that are
 * compared, so that no test can tell these apart by them.
 */
export const watchedVariables = `export NODE_V8_COVERAGE="${folder}/v8" REACHED_BY_PYTHON="${folder}" PYTHONPATH="${folder}/python\${PYTHONPATH:+:$PYTHONPATH}"`;

/** Seconds for each of the commands around the checks. */
const seconds = 30;

/** Prepares a machine so that the checks which follow say what they reach. */
export async function prepareWatch(machine: Machine, { programs, tests }: Watch, signal: AbortSignal): Promise<void> {
  // A copy of a program in another place is recognized by the end of its path.
  const watched = Object.keys(programs).map((path) => `/${path.split('/').slice(-2).join('/')}`);
  const script = `mkdir -p "${folder}/v8" "${folder}/python"
cat > "${folder}/python/sitecustomize.py" <<'${end}'
${insideFile('sitecustomize.py')}${end}
cat > "${folder}/wanted.json" <<'${end}'
${JSON.stringify({ programs, tests, watched })}
${end}`;
  await machine.run(script, { seconds, signal });
}

/**
 * Returns what the checks have reached on a machine. All of it was written, and may have been forged, by the code that
 * ran there. Undefined where nothing was written, or too much.
 */
export async function sightingOn(machine: Machine, signal: AbortSignal): Promise<Sighting | undefined> {
  const script = `cat "${folder}"/python-* 2>/dev/null
if [ -n "$(ls "${folder}/v8")" ]; then node --input-type=module - "${folder}/v8" "${folder}/wanted.json" 2>/dev/null <<'${end}'
${insideFile('reached-by-node.mjs')}${end}
fi`;
  let text = '';
  const { exitCode } = await machine.run(script, { seconds, signal, heard: (more) => (text += more) });
  return exitCode === 0 && text.length < maxHeard ? merged(text) : undefined;
}

/** A machine reports at most 256,000 characters, and a text that was cut says nothing. */
const maxHeard = 200_000;

function merged(text: string): Sighting | undefined {
  const all: Sighting = { loaded: [], reached: [], outside: false };
  for (const line of text.split('\n').filter((each) => each !== ''))
    try {
      const { loaded, reached, outside } = JSON.parse(line) as Record<keyof Sighting, unknown>;
      all.loaded.push(...stringsIn(loaded));
      all.reached.push(...stringsIn(reached));
      all.outside ||= outside !== false;
    } catch {
      return undefined;
    }
  return all.loaded.length === 0 ? undefined : all;
}

const stringsIn = (value: unknown) => (Array.isArray(value) ? value : []).filter((each) => typeof each === 'string');

/** Returns whether the tests of a change ran, and reached no changed line. */
export async function missesChange(
  checkout: Checkout,
  tree: string,
  watch: Watch,
  sighting: Sighting,
): Promise<boolean> {
  if (!reachesNothing(sighting, Object.keys(watch.programs), watch.tests)) return false;
  const files = await checkout.files(tree);
  const loaded = [...new Set(sighting.loaded)];
  const oids = loaded.flatMap((path) => files.get(path)?.oid ?? []);
  // What set-up or a build made may be the changed programs in another form.
  if (oids.length < loaded.length || loaded.length > maxLoaded) return false;
  for (const some of batchesOf(oids, readAtOnce)) {
    const texts = await checkout.readBlobs(some, maxBytes);
    const read = some.flatMap((oid) => texts.get(oid) ?? []);
    if (read.length < some.length || (await unlessTooSlow(judging.call('someRunUnseen', read), true))) return false;
  }
  return true;
}
