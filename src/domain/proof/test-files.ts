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

/** Returns the first folder in a path that is named like a folder of tests; undefined without one. */
export function testFolderOf(path: string): string | undefined {
  const found = usualFolder.exec(path);
  return found === null ? undefined : path.slice(0, found.index + found[0].length);
}

/**
 * How the common test runners mark a test that does not run, or the only ones that do. Which of them a repository uses
 * does not matter, because only added marks count.
 */
const skipMark =
  /\b(test|it|describe|suite|context|t)\.(skip|todo|only)\b|\bx(it|test|describe)\b|\bf(it|describe)\(|\bskip: *(true|['"`])|@(unittest\.)?[sS]kip\b|\bpytest\.(mark\.)?skip|\bt\.Skip(Now|f)?\(|@(Ignore|Disabled)\b|#\[ignore\b|\bmarkTestSkipped\(/g;

/** Returns how many tests the lines of a file switch off. */
export function countSkips(lines: string[]): number {
  return lines.reduce((sum, line) => sum + (line.slice(0, 2000).match(skipMark)?.length ?? 0), 0);
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
