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
];

/** The names of test files in the common languages, without their folders. */
const names = [
  // JavaScript, TypeScript and others: a.test.ts, a-spec.js, a_test.dart, test.mjs, test-a.js
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
];

const usualFolder = new RegExp(`(^|/)(${folders.join('|')})/`);
/** Files in the test projects of C#, F#, Visual Basic and Swift, such as `App.Tests/Cart.cs`. */
const projectOfTests = /[^/]Tests\/[^/]+\.(cs|fs|vb|swift)$/;
const usualName = new RegExp(`^(${names.join('|')})$`);

/** Returns whether a path has the usual place or name of a test, or of a file that belongs to tests. */
export function isUsualTestFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return usualName.test(name) || usualFolder.test(path) || projectOfTests.test(path);
}

/**
 * How the common test runners mark a test that does not run, or the only ones that do. Which of them a repository uses
 * does not matter, because only added marks count.
 */
const skipMarks = [
  // JavaScript
  /\b(test|it|describe|suite|context|specify|t|this|ctx)(\.\w+){0,2}(\.|\[['"`])(skip|todo|only|fixme|fails|failing|skipIf|runIf)\b/,
  /\bx(it|test|describe|context|specify)\b|\bf(it|describe)\(|\bskip: *(true|['"`])/,
  /\b(test|it|describe|suite)\(.{0,300}[{,] *(skip|todo|only) *[:,}]/,
  // Python
  /@(unittest\.)?([sS]kip(If|Unless)?|expectedFailure)\b|\bpytest\.(mark\.)?(skip|xfail)|\bskipTest\(|\bSkipTest\b/,
  // Go, Java, C#, Rust, PHP, Swift, Ruby
  /\bt\.Skip(Now|f)?\(|@(Ignore|Disabled)\b|\[Ignore\b|\bSkip *= *"|#\[ignore\b|\bmarkTest(Skipped|Incomplete)\(|\bXCTSkip/,
  /^[ \t]*(skip|pending)\b *(\(?['"]|$)|^[ \t]*@(module)?tag :skip\b/,
];
const skipMark = new RegExp(skipMarks.map(({ source }) => source).join('|'), 'gm');

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
