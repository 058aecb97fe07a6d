const extension = '\\.([cm]?[jt]sx?|json[c5]?|ya?ml|toml|ini|py|rb|exs)';

/**
 * Files that decide which tests run, how, or against which expectations, by name. They are matched in every folder,
 * because a repository may have several parts.
 */
const names = [
  // Configuration of test runners, and of what compiles the tests
  `(jest|vitest|karma|cypress|playwright|ava|wdio|jasmine|nightwatch|web-test-runner)\\.[\\w.-]*(js|ts|mjs|cjs|mts|cts|json)`,
  `(vite|babel|tap|playwright-ct)\\.config${extension}|jest-(preset|environment)[\\w.-]*${extension}`,
  '\\.(mocharc|nycrc|c8rc|taprc|babelrc|swcrc|rspec|rspec-local|coveragerc)(\\.\\w+)?',
  'tsconfig(\\.[\\w.-]+)?\\.json',
  '\\.?(pytest|tox)\\.(ini|toml)|noxfile\\.py',
  'phpunit(\\.dist)?\\.xml(\\.dist)?|testng\\.xml|junit-platform\\.properties|xunit\\.runner\\.json|[^/]*\\.runsettings',
  // What runs commands by name
  '(GNU)?[Mm]akefile(\\.(am|in))?|[^/]+\\.mk|[Jj]ustfile|\\.justfile|[Tt]askfile\\.ya?ml|Rakefile',
  'CMakeLists\\.txt|CMakePresets\\.json|[^/]+\\.cmake|meson\\.build',
  'pom\\.xml|[^/]+\\.gradle(\\.kts)?|gradle(-wrapper)?\\.properties|build\\.sbt|mix\\.exs',
  'Directory\\.(Build|Packages)\\.(props|targets)|[^/]*Tests?\\.(cs|fs|vb)proj|rust-toolchain(\\.toml)?',
  '(BUILD|WORKSPACE)(\\.bazel)?|MODULE\\.bazel|\\.bazelrc|[^/]+\\.bzl|(turbo|nx|lerna|angular|project)\\.json',
  '\\.npmrc|\\.yarnrc(\\.yml)?|\\.pnpmfile\\.cjs|bunfig\\.toml|pnpm-workspace\\.yaml|package\\.(ya?ml|json5)',
  // Variables such as NODE_OPTIONS, and code that a language loads before any program
  '\\.env(\\.(?!(example|sample|template|dist)$)[\\w.-]+)?|node\\.config\\.json|(site|user)customize\\.py|[^/]+\\.pth',
  // Set-up of tests
  'conftest\\.py|(spec|rails|test)_helper\\.(rb|exs)',
  `((jest|vitest|test|tests|global)[-_.]?(setup|teardown)|setup[-_.]?([tT]ests?|[jJ]est|[vV]itest|[gG]lobals?))${extension}`,
  // Expectations that a tool writes
  '[^/]+\\.(snap|snapshot|snapshots)|[^/]+\\.(approved|verified)\\.\\w+',
];

const decidingName = new RegExp(`^(${names.join('|')})$`);
/** Folders with expectations, with settings of build tools, and with the programs and libraries of tests. */
const folders = [
  '(__snapshots__|node_modules|\\.mvn|\\.cargo|buildSrc|\\.yarn/(releases|plugins|patches))/',
  'patches/[^/]+\\.(patch|diff)$',
  'vendor/([^/]+/){0,3}[^/]*(testify|ginkgo|gomega|phpunit|rspec|minitest)',
];
const decidingFolder = new RegExp(`(^|/)(${folders.join('|')})`);
/** In a folder of tests, a file with one of these names prepares them. */
const setupName = new RegExp(`^(setup|teardown|globals|env)${extension}$`);
const inTestFolder = /(^|\/)(tests?|__tests__|specs?|e2e)\//;

/** Returns whether a file decides by its name how tests run. */
export function decidesByName(path: string): boolean {
  const name = nameOf(path);
  return decidingName.test(name) || decidingFolder.test(path) || (setupName.test(name) && inTestFolder.test(path));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
