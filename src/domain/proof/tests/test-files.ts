import { isSource } from '../ordinary-files.ts';

/** Folders that hold tests and what belongs to them. */
const folders = [
  'tests?',
  '__tests__',
  'specs?',
  'e2e',
  'testdata',
  'fixtures',
  '__fixtures__',
  '__mocks__',
  '__snapshots__',
  'cypress',
  'androidTest',
  // Expected and recorded outputs, which lie beside the code as well
  '__(image_snapshots|goldens|recordings|cassettes)__',
  '[^/]+-snapshots',
  'goldens?',
  'golden[-_](files|masters?|data)',
  'test[-_]?(fixtures|resources|data)',
  'cassettes',
];

/** The names of test files in the common languages, without their folders. */
const names = [
  // JavaScript, TypeScript and others: `a.test.ts`, `a-spec.js`, `a_test.dart`, `test.mjs`, `test-a.js`
  '[^/]*[._-](test|spec)s?\\.[a-z]+',
  '(test|spec)s?\\.[a-z]+',
  'test[._-][^/]*\\.[cm]?[jt]sx?',
  // Python
  'test_[^/]+\\.py',
  'conftest\\.py',
  // Java, Kotlin, C#, PHP, Swift, Scala, Groovy, Haskell
  '[^/]*(Tests?|Spec|IT)\\.(java|kt|kts|cs|fs|php|swift|scala|groovy|hs)',
  'Test[A-Z][^/]*\\.(java|kt|php|m|swift)',
  // Go, Ruby, Elixir, Dart, C and C++
  '[^/]+_test\\.(go|rb|exs?|dart|c|cc|cpp)',
  '[^/]+_spec\\.(rb|lua)',
  // Perl, Bats, Gherkin
  '[^/]+\\.(t|bats|feature)',
  // What a tool or a person recorded as the expected output
  '[^/]+\\.(snap|snapshots?|ambr|golden|expected|approved|received)',
  '[^/]+\\.(golden|expected|approved|verified|received?)\\.\\w+',
];

/** Folders that hold expected outputs unless they are about something else, such as a store of snapshots. */
const expectedFolder =
  /(^|\/)(snapshots?|expected|expectations|baselines?|approved|approvals|recordings|references?)\//i;
/** Words of names such as `cart_expected.json`. */
const expectedName = /(^|[._-])(expected|goldens?|baseline)[._-]/i;
/** Folders of documents for people, in which `reference` means something else. */
const forPeople = /(^|\/)(docs?|documentation|website|site|content)\//i;

const usualFolder = new RegExp(`(^|/)(${folders.join('|')})/`);
/** Files in the test projects of C#, F#, Visual Basic and Swift, such as `App.Tests/Cart.cs`. */
const projectOfTests = /[^/]Tests\/[^/]+\.(cs|fs|vb|swift)$/;
const usualName = new RegExp(`^(${names.join('|')})$`);

/** Returns whether a path has the usual place or name of a test, or of a file that belongs to tests. */
export function isUsualTestFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return usualName.test(name) || usualFolder.test(path) || projectOfTests.test(path) || isExpectedOutput(path, name);
}

/** Returns whether a file is data under a name that says that tests compare with it. */
function isExpectedOutput(path: string, name: string): boolean {
  return !isSource(name) && !forPeople.test(path) && (expectedFolder.test(path) || expectedName.test(name));
}

/**
 * How the common test runners mark a test that does not run, or the only ones that do. Which of them a repository uses
 * does not matter, because only added marks count.
 */
const skipMarks = [
  // JavaScript
  /\b(test|it|describe|suite|context|specify|t|this|ctx)(\.\w+){0,2}(\.|\[['"`])(skip|todo|only|fixme|fails|failing|skipIf|runIf)\b/,
  /\bx(it|test|describe|context|specify)\b|\bf(it|describe)\(|\bskip: *(true|['"`])/,
  /\b(test|it|describe|suite)\(.{0,300}[{,] {0,50}(skip|todo|only) {0,50}[:,}]/,
  /\b(test|it|describe|suite)\([^()\n]{0,300}\{\s{1,50}(\w{1,20}: *[\w'"]{1,50},\s{1,50}){0,3}(skip|todo|only) *[:,}]/,
  /\b(test|it|describe)\.ignore\(|^[ \t]*ignore: *true/,
  // Python
  /@(unittest\.)?([sS]kip(If|Unless)?|expectedFailure)\b|\bpytest\.(mark\.)?(skip|xfail)|\bskipTest\(|\bSkipTest\b/,
  /\b__test__ *= *False|\b__unittest_skip__ *=|^[ \t]*collect_ignore/,
  // Go, Java, C#, Rust, PHP, Swift, Ruby
  /\bt\.Skip(Now|f)?\(|@([\w.]{1,100}\.)?(Ignore|Disabled)\b|\[Ignore\b|\bSkip *= *"|#\[ignore\b|#!?\[cfg\((any\(\)|not\(|feature\b)|^\/\/(go:build| \+build)\b|\bassum(e|ing)(True|False|That|Not)?\(|\bAssumptions?\.|\bmarkTest(Skipped|Incomplete)\(|\bXCTSkip/,
  /^[ \t]*(skip|pending)\b *(\(?['"]|$)|^[ \t]*@(module)?tag :skip\b/,
];
const skipMark = new RegExp(skipMarks.map(({ source }) => source).join('|'), 'gm');

/** Functions by which one file of tests decides about all others of its package. */
const takeover = /^func TestMain\(|^(async )?def (load_tests|pytest_\w+)\(|^pytest_plugins *=/m;

/** Returns whether the new lines of a test decide how other tests run. */
export function takesOver(lines: string[]): boolean {
  return takeover.test(lines.join('\n'));
}

/** Returns how many tests a text switches off. */
export function countSkips(text: string): number {
  return text.match(skipMark)?.length ?? 0;
}

/** The part of its lines that a renamed test file has to keep to count as the same. */
const leastKept = 0.7;
/** Lines that name other files differ after a move, and are much alike in all tests. */
const reference = /\b(import|from|require|include|use|using|package|namespace|module)\b/;

/** Returns whether a renamed file keeps most of its lines. `changed` are the lines of its diff, each with its sign. */
export function keepsMost(old: string[], changed: string[]): boolean {
  const counts = (line: string) => /\w/.test(line) && !reference.test(line);
  const added = new Set(changed.filter((line) => line.startsWith('+')).map((line) => line.slice(1).trim()));
  const lost = changed.filter((line) => line.startsWith('-') && counts(line) && !added.has(line.slice(1).trim()));
  return lost.length <= (1 - leastKept) * old.filter(counts).length;
}

/** The part of a file's name by which test runners find it, such as `.test.js` or `test_*.py`. */
const collectedBy = /^(test[._-]|Test(?=[A-Z]))?.*?(([._-](test|spec)s?|Tests?|Spec|IT)?\.\w+)?$/;
/** Folders in which test runners usually find no tests. */
const heldBack =
  /(^|\/)(fixtures|__fixtures__|__mocks__|__snapshots__|testdata|node_modules|(\.|_(?!_tests__\/))[^/]*)\//;

/** Returns whether a test runner that finds a file also finds it under its new path, as far as names say. */
export function isFoundAs(old: string, path: string): boolean {
  const shape = (name: string) => {
    const [, beginning, ending] = collectedBy.exec(name.slice(name.lastIndexOf('/') + 1)) ?? [];
    return `${beginning}*${ending}`;
  };
  return shape(old) === shape(path) && (heldBack.test(old) || !heldBack.test(path));
}

/** Returns whether test runners usually find a test by this path, unlike one that others load. */
export function isCollected(path: string): boolean {
  return usualName.test(path.slice(path.lastIndexOf('/') + 1)) && !heldBack.test(path);
}

/** Where the commands of a repository look for tests. */
export interface Searched {
  /** The words of the commands that may name folders. */
  words: Set<string>;
  runsMochaInOneFolder: boolean;
  runsUnittest: boolean;
  isFile(path: string): boolean;
}

/** Returns where commands look for tests: those of the checks, with the scripts that they run. */
export function searchedBy(commands: string[], isFile: (path: string) => boolean): Searched {
  const all = commands.join('\n');
  const words = all.split(/[\s"'=]+/).map((word) => word.replace(/^\.\//, '').replace(/\/?(\*.*)?$/, ''));
  return {
    words: new Set(words),
    // Mocha looks into one folder only.
    runsMochaInOneFolder: /\bmocha\b/.test(all) && !/--recursive|\*\*/.test(all),
    runsUnittest: /\bunittest\b/.test(all),
    isFile,
  };
}

/** Returns whether the checks which ran a test also run it under its new path, as far as commands say where they look. */
export function isStillSearched(old: string, path: string, searched: Searched): boolean {
  const [from, to] = [folderOf(old), folderOf(path)];
  if (from === to) return true;
  // A folder that a command names, and that holds the old path only.
  const named = withParents(from).filter((folder) => searched.words.has(folder));
  if (named.length > 0 && !named.some((folder) => `${to}/`.startsWith(`${folder}/`))) return false;
  if (searched.runsMochaInOneFolder) return false;
  // unittest looks only into packages.
  if (!searched.runsUnittest || !path.endsWith('.py')) return true;
  const packages = withParents(to);
  return packages.length < maxDepth && packages.every((folder) => searched.isFile(`${folder}/__init__.py`));
}

/** Nobody keeps tests deeper. Looking up thousands of long paths for each file would take seconds. */
const maxDepth = 100;

/** Returns a folder and those above it, from the one in the root on, at most `maxDepth`. */
function withParents(folder: string): string[] {
  const found: string[] = [];
  const whole = `${folder}/`;
  for (let end = whole.indexOf('/'); end > 0 && found.length < maxDepth; end = whole.indexOf('/', end + 1))
    found.push(whole.slice(0, end));
  return found;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
