import { isTestTool } from './manifests/packages.ts';

/** Programs that run the file in their arguments. */
const interpreters =
  /^(node|nodejs|bun|deno|tsx|ts-node|(ba|da|z|k)?sh|\.|source|python[\d.]*|pypy\d*|ruby|perl|php|lua|pwsh|Rscript|g?make|just|task|rake)$/;
/** Programs that run the command in their arguments. */
const wrappers = /^(env|time|nice|nohup|exec|command|sudo|xargs|npx|timeout|stdbuf|xvfb-run|then|else|do|!|\d+[smh]?)$/;
/** Options whose value is a file that decides how a program works. */
const fileOptions = /^--(require|import|loader|experimental-loader|config\w*|rcfile|file|makefile|reporter|setup\w*)$/;
/** The same options as single letters, which mean something else to other programs. */
const shortOptions = /^-(r|c|f|p)$/;
const testRunners = /^(jest|vitest|mocha|ava|tap|tape|c8|nyc|karma|cypress|playwright|pytest|phpunit|rspec|prove)$/;

const tools =
  /^(git|npm|pnpm|yarn|bunx|corepack|pip3?|uv|go|cargo|java|which|ps|uname|tput|stty|cat|rm|cp|mv|ls|test|\[)$/;

/** Returns whether a program has a name by which test runners, or the scripts around them, start programs. */
export function isKnownProgram(name: string): boolean {
  return interpreters.test(name) || wrappers.test(name) || testRunners.test(name) || tools.test(name);
}

/** Characters of all paths that a text may name. A long folder with many words would otherwise make millions of them. */
export const maxPathChars = 5_000_000;

/**
 * Returns the paths of files that shell commands may run, or be configured with. Most of them do not exist. Undefined if
 * they are too many. A file that a command only reads, such as one that a linter checks, does not count.
 */
export function pathsRunBy(text: string): string[] | undefined {
  const found = new Set<string>();
  let folder = '';
  let chars = 0;
  for (const command of text.split(/[\n;&|(){}`]+/)) {
    const [program = '', ...args] = wordsOf(command);
    if (program === 'cd') folder = plain(`${args[0] ?? ''}/`);
    // The program may itself be a file of the repository.
    const words = [program, ...filesAmong(program, args)];
    for (const path of [...words.flatMap((word) => pathsOf(word, folder)), ...modulesOf(program, args, folder)]) {
      chars += path.length;
      if (chars > maxPathChars) return undefined;
      found.add(plain(path));
    }
  }
  return [...found];
}

/** Returns the simple commands of a script, each as its program and its arguments. */
export function argumentsOf(text: string): string[][] {
  return text.split(/[\n;&|(){}`]+/).map(wordsOf);
}

/** Returns the arguments of a program that it runs, or that configure it. */
function filesAmong(program: string, args: string[]): string[] {
  const runsAll = interpreters.test(program) && !args.includes('--check');
  const isForFile = (option: string) =>
    fileOptions.test(option) || (testRunners.test(program) && shortOptions.test(option));
  return args.flatMap((word, i) => {
    const [option = '', value = ''] = word.startsWith('-') ? word.split('=') : [args[i - 1] ?? '', word];
    return runsAll || isForFile(option) ? value : [];
  });
}

/** Returns the paths that a word may stand for: Node finds a file without its ending, and one in a folder. */
function pathsOf(word: string, folder: string): string[] {
  return ['', '.js', '/index.js', '/__main__.py'].flatMap((end) => [word + end, folder + word + end]);
}

/**
 * Returns the files that Python may run for `-m`. It looks into the current folder first, so a file there may also take
 * the place of a test runner.
 */
function modulesOf(program: string, args: string[], folder: string): string[] {
  const name = /^(python|pypy)/.test(program) ? args[args.indexOf('-m') + 1] : undefined;
  if (name === undefined || !args.includes('-m')) return [];
  const path = name.replaceAll('.', '/');
  return ['.py', '/__main__.py', '/__init__.py'].flatMap((end) => [path + end, folder + path + end]);
}

/** Splits a simple command into words, without the variables and the wrappers before its program. */
function wordsOf(command: string): string[] {
  const words = command
    .replace(/["'@]/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
  const first = words.findIndex((word) => !/^\w+=/.test(word) && !wrappers.test(word));
  return first < 0 ? [] : words.slice(first);
}

/** Returns a path without `.` and `..`. */
function plain(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/'))
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  return parts.join('/') + (path.endsWith('/') && parts.length > 0 ? '/' : '');
}

/** Package managers, which run scripts of package.json by name. */
const managers = /\b(npm|pnpm|yarn|bun|node --run|run-s|run-p|npm-run-all|turbo|nx|lerna)\b/;
/** At most this many commands are followed, because scripts may name each other. */
const maxFollowed = 200;

/** Returns the commands together with the scripts of package.json that they run. */
export function withScripts(commands: string[], scripts: Record<string, string>): string[] {
  const all = [...commands];
  const names = Object.keys(scripts);
  const left = new Set(names.keys());
  // The scripts before and after another run with it.
  const byWord = new Map<string, number[]>();
  for (const [i, name] of names.entries())
    for (const word of new Set([name, name.replace(/^(pre|post)/, '')]))
      byWord
        .set(word, byWord.get(word) ?? [])
        .get(word)
        ?.push(i);
  for (let at = 0; at < all.length && at < maxFollowed; at++) {
    const named = [...scriptWordsOf(all[at] ?? '')].flatMap((word) => byWord.get(word) ?? []);
    for (const i of [...new Set(named)].sort((a, b) => a - b))
      if (left.delete(i)) all.push(scripts[names[i] ?? ''] ?? '');
  }
  return all;
}

/** Returns the words of a command that may name scripts. */
function scriptWordsOf(command: string): Set<string> {
  if (!managers.test(command)) return new Set();
  const words = new Set(command.split(/[\s;&|"']+/));
  if (words.has('t') || words.has('tst')) words.add('test');
  return words;
}

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
  'pom\\.xml|[^/]+\\.gradle(\\.kts)?|gradle(-wrapper)?\\.properties|[^/]+\\.sbt|mix\\.exs',
  'Directory\\.[\\w.]+|[^/]*Tests?\\.(cs|fs|vb)proj|rust-toolchain(\\.toml)?',
  '(BUILD|WORKSPACE)(\\.bazel)?|MODULE\\.bazel|\\.bazelrc|[^/]+\\.bzl|(turbo|nx|lerna|angular|project)\\.json',
  'Package(@swift-[\\d.]+)?\\.swift|pubspec(_overrides)?\\.yaml|rebar\\.config|project\\.clj|deps\\.edn|[nN]u[gG]et\\.[cC]onfig',
  'go\\.work|\\.pnp\\.(cjs|js|loader\\.mjs)|pip\\.conf|\\.user\\.ini|php\\.ini',
  '\\.npmrc|\\.yarnrc(\\.yml)?|\\.pnpmfile\\.cjs|bunfig\\.toml|pnpm-workspace\\.yaml|package\\.(ya?ml|json5)|gems\\.rb|conanfile\\.py',
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
  // What sbt and Mix load, and where Rails configures tests
  'project/[^/]+\\.scala$|config/[^/]+\\.exs$|config/environments/test\\.rb$',
  // Where Ruby and Perl find plugins of test runners, or a library in the place of a runner
  'minitest/[^/]*_plugin\\.rb$|lib/(minitest|rspec|test/unit)(/|\\.rb$)|lib/(Test|TAP|App/Prove)(/|\\.pm$)',
];
const decidingFolder = new RegExp(`(^|/)(${folders.join('|')})`);
/** In a folder of tests, a file with one of these names prepares them. */
const setupName = new RegExp(`^(setup|teardown|globals|env)${extension}$`);
const inTestFolder = /(^|\/)(tests?|__tests__|specs?|e2e)\//;

/** Copies of libraries in the repository. */
const vendored = /(^|\/)vendor\/(.*)/s;

/** Returns whether a file decides by its name how tests run. */
export function decidesByName(path: string): boolean {
  const name = nameOf(path);
  return (
    decidingName.test(name) ||
    decidingFolder.test(path) ||
    (setupName.test(name) && inTestFolder.test(path)) ||
    isTestTool(vendored.exec(path)?.[2] ?? '')
  );
}

/** Returns whether a new file tells Go to take its libraries from the repository. */
export function startsVendoring(path: string): boolean {
  return /(^|\/)vendor\/modules\.txt$/.test(path);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
