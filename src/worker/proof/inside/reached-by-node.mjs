// Says which changed lines the coverage that V8 wrote has reached. Runs in the sandbox of a proof, with whatever version
// of Node the repository uses, and is read from standard input. Its arguments are the folder of the coverage, and a file
// that says what to look for. It prints one line of JSON; see `Sighting` in ../coverage.ts.
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Reading more would take too long, and then nothing is said. */
const most = { files: 500, bytes: 400_000_000, paths: 1500 };

/**
 * Returns whether V8's functions of a program reached one of its lines. `lines` are changed lines, counted from 1;
 * `cuts` are the lines before which others were removed. Where the program was compiled before it ran, the offsets mean
 * nothing, and that it was loaded is enough.
 */
export function reaches(functions, text, { lines, cuts }) {
  const [module] = functions;
  if (module?.ranges[0]?.endOffset !== text.length) return true;
  const ranges = functions.flatMap(({ ranges }) =>
    ranges.map((range) => ({ ...range, isModule: ranges === module.ranges })),
  );
  const innermost = (offset) =>
    ranges
      .filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)
      .reduce((least, range) => (sizeOf(range) <= sizeOf(least) ? range : least));
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const isReached = (line) => {
    const [from, to] = [starts[line - 1] ?? text.length, starts[line] ?? text.length];
    const found = [];
    for (let at = from; at < Math.min(to, from + 500); at++)
      if (/\S/.test(text[at]) && !/\w\w/.test(text.slice(at - 1, at + 1))) found.push(innermost(at));
    const inFunctions = found.filter(({ isModule }) => !isModule);
    return (inFunctions.length > 0 ? inFunctions : found).some(({ count }) => count > 0);
  };
  // Where lines were removed, it is enough to have entered the function around them.
  const isEntered = (line) => innermost(Math.max((starts[line - 1] ?? text.length) - 1, 0)).count > 0;
  return lines.some(isReached) || cuts.some(isEntered);
}

const sizeOf = ({ startOffset, endOffset }) => endOffset - startOffset;

/** Names of tests. Those that the change did not touch say nothing about its new tests. */
const testName = /[._-](test|spec)s?\.[cm]?[jt]sx?$|(^|\/)test[._-][^/]*\.[cm]?[jt]sx?$/;

/**
 * Returns the scripts of a process that its new tests may have run, of all that it loaded. `names` are the paths of its
 * scripts in the order in which they were loaded. A process that ran only older tests has none. Jest loads each file
 * again for each test file, so a file is one of the test before it; unless it is loaded for all, as set-up files do.
 */
export function ofNewTests(names, tests) {
  const isNew = (name) => tests.includes(name);
  const isTest = (name) => isNew(name) || testName.test(name);
  const all = names.filter(isTest);
  if (all.some(isNew) ? all.every(isNew) : all.length === 0) return names.map(() => true);
  if (!all.some(isNew)) return names.map(() => false);
  const isJest = names.some((name) => name.includes('node_modules/jest-runtime/'));
  const times = (name) => names.filter((each) => each === name).length;
  let current = true;
  return names.map((name) => {
    if (isTest(name)) current = isNew(name);
    return !isJest || current || times(name) >= all.length;
  });
}

function main(folder, wantedFile) {
  const wanted = JSON.parse(readFileSync(wantedFile, 'utf8'));
  const root = realpathSync('.');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  if (files.length > most.files || bytes > most.bytes) return;
  const seen = { loaded: new Set(), reached: new Set(), outside: false };
  for (const file of files) {
    const { result = [] } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const scripts = result
      .map(({ url, scriptId, functions }) => ({ path: pathOf(url), id: Number(scriptId), functions }))
      .filter(({ path }) => path !== undefined)
      .map((script) => ({ ...script, name: relative(root, script.path) }))
      .sort((one, other) => one.id - other.id);
    const counts = ofNewTests(
      scripts.map(({ name }) => name),
      wanted.tests,
    );
    for (const [i, script] of scripts.entries()) look(script, counts[i], wanted, seen);
  }
  if (seen.loaded.size > most.paths) return;
  console.log(JSON.stringify({ loaded: [...seen.loaded], reached: [...seen.reached], outside: seen.outside }));
}

/** Node names files by URL; some runners name them by path. */
function pathOf(url) {
  if (!url.startsWith('file:')) return url.startsWith('/') ? url.replace(/\?.*$/, '') : undefined;
  try {
    return fileURLToPath(url.replace(/[?#].*$/, ''));
  } catch {
    return undefined;
  }
}

function look({ path, name, functions }, isOfNewTests, { programs, watched }, seen) {
  if (name.startsWith('..') || name.includes('node_modules/')) {
    // A copy of a changed program may be what the tests run.
    if (path.startsWith('/tmp/') || watched.some((tail) => path.endsWith(tail))) seen.outside = true;
    return;
  }
  seen.loaded.add(name);
  if (programs[name] === undefined || seen.reached.has(name) || !isOfNewTests) return;
  if (reaches(functions, readFileSync(path, 'utf8'), programs[name])) seen.reached.add(name);
}

if (process.argv[1] === '-') main(process.argv[2], process.argv[3]);
