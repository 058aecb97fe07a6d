const extension = '\\.([cm]?[jt]sx?|json[c5]?|ya?ml|toml|ini|py|rb|exs)';

/**
 * Files that decide which tests run, how, or against which expectations, by name. They are matched in every folder,
 * because a repository may have several parts.
 */
const names = [
  // Configuration of test runners, and of what compiles the tests
  `(jest|vitest|karma|cypress|cucumber|playwright|ava|wdio|jasmine|nightwatch|web-test-runner)\\.[\\w.-]*(js|ts|mjs|cjs|mts|cts|json)`,
  `(vite|babel|tap|playwright-ct)\\.config${extension}|jest-(preset|environment)[\\w.-]*${extension}`,
  '\\.(mocharc|nycrc|c8rc|taprc|babelrc|swcrc|rspec|rspec-local|coveragerc)(\\.\\w+)?',
  'tsconfig(\\.[\\w.-]+)?\\.json',
  '\\.?(pytest|tox)\\.(ini|toml)|noxfile\\.py',
  'phpunit(\\.dist)?\\.xml(\\.dist)?|(codeception|behat)(\\.dist)?\\.ya?ml|testng\\.xml|junit-platform\\.properties|xunit\\.runner\\.json|[^/]*\\.runsettings',
  // What runs commands by name
  '(GNU)?[Mm]akefile(\\.(am|in))?|[^/]+\\.mk|[Jj]ustfile|\\.justfile|[Tt]askfile\\.ya?ml|Rakefile',
  'CMakeLists\\.txt|CMakePresets\\.json|[^/]+\\.cmake|meson\\.build',
  'pom\\.xml|[^/]+\\.gradle(\\.kts)?|gradle(-wrapper)?\\.properties|build\\.sbt|mix\\.exs',
  'Directory\\.(Build|Packages)\\.(props|targets)|[^/]*Tests?\\.(cs|fs|vb)proj|rust-toolchain(\\.toml)?',
  '(BUILD|WORKSPACE)(\\.bazel)?|MODULE\\.bazel|\\.bazelrc|[^/]+\\.bzl|(turbo|nx|lerna|angular|project)\\.json',
  'go\\.work|\\.pnp\\.(cjs|js|loader\\.mjs)|pip\\.conf|\\.user\\.ini|php\\.ini',
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
  // Of Python, also what a runner loads as a plugin.
  '(\\.?venv|site-packages|__pypackages__|[^/]+\\.(dist|egg)-info)/',
  'META-INF/services/',
  '(__snapshots__|node_modules|\\.mvn|\\.cargo|buildSrc|\\.yarn/(releases|plugins|patches))/',
  'patches/[^/]+\\.(patch|diff)$',
  'vendor/([^/]+/){0,3}[^/]*(testify|ginkgo|gomega|phpunit|rspec|minitest)',
];
const decidingFolder = new RegExp(`(^|/)(${folders.join('|')})`);
/** In a folder of tests, a file with one of these names prepares them. */
const setupName = new RegExp(`^(setup|teardown|globals|env)${extension}$`);
const inTestFolder = /(^|\/)(tests?|__tests__|specs?|e2e)\//;

/**
 * Modules of Python that a new file takes the place of, where Python looks before its own library: those of the standard
 * library, and those of test runners.
 */
const shadowed = new Set(
  `abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 calendar cmath cmd code codecs codeop
  collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg csv ctypes curses dataclasses
  datetime dbm decimal difflib dis doctest email encodings enum errno faulthandler fcntl filecmp fileinput fnmatch fractions
  ftplib functools gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib importlib inspect
  io ipaddress itertools json keyword linecache locale logging lzma mailbox marshal math mimetypes mmap multiprocessing
  netrc numbers operator optparse os pathlib pdb pickle pkgutil platform plistlib poplib posix posixpath pprint profile
  pstats pty pwd py_compile pydoc queue quopri random re readline reprlib resource runpy sched secrets select selectors
  shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat statistics string stringprep struct
  subprocess symtable sys sysconfig syslog tabnanny tarfile tempfile termios textwrap threading time timeit token tokenize
  tomllib trace traceback tracemalloc types typing unicodedata unittest urllib uuid venv warnings wave weakref webbrowser
  wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
  pytest _pytest pluggy iniconfig packaging exceptiongroup hypothesis nose nose2 coverage mock xdist pytest_asyncio
  pytest_mock attr attrs`.split(/\s+/),
);
const moduleName = /^(?:(?:tests?|src|lib)\/)?([\w]+)(?:\.py|\/__init__\.py)$/;

/** Returns whether a new file takes the place of a module that test runners may load. */
export function takesPlaceOfModule(path: string): boolean {
  const [, name = ''] = moduleName.exec(path) ?? [];
  return shadowed.has(name);
}

/** Returns whether a file decides by its name how tests run. */
export function decidesByName(path: string): boolean {
  const name = nameOf(path);
  return decidingName.test(name) || decidingFolder.test(path) || (setupName.test(name) && inTestFolder.test(path));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
