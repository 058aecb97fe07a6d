const extension = '\\.([cm]?[jt]sx?|json[c5]?|ya?ml|toml|ini|py|rb|exs)';

/**
 * Files that decide which tests run, how, or against which expectations, by name. They are matched in every folder,
 * because a repository may have several parts.
 */
const names = [
  // Configuration of test runners, and of what compiles the tests
  `(jest|vitest|karma|cypress|playwright|ava|wdio|jasmine|nightwatch|web-test-runner)\\.[\\w.-]*(js|ts|mjs|cjs|mts|cts|json)`,
  `(vite|babel|tap)\\.config${extension}`,
  '\\.(mocharc|nycrc|c8rc|taprc|babelrc|swcrc|rspec|coveragerc)(\\.\\w+)?',
  'tsconfig(\\.[\\w.-]+)?\\.json',
  '(pytest|tox)\\.ini|\\.pytest\\.ini|noxfile\\.py',
  'phpunit\\.xml(\\.dist)?|testng\\.xml|junit-platform\\.properties|xunit\\.runner\\.json|[^/]*\\.runsettings',
  // What runs commands by name
  '(GNU)?[Mm]akefile|[^/]+\\.mk|[Jj]ustfile|\\.justfile|[Tt]askfile\\.ya?ml|Rakefile|CMakeLists\\.txt|meson\\.build',
  'pom\\.xml|(build|settings)\\.gradle(\\.kts)?|build\\.sbt|mix\\.exs|turbo\\.json|nx\\.json|lerna\\.json',
  '\\.npmrc|\\.yarnrc(\\.yml)?|\\.pnpmfile\\.cjs|bunfig\\.toml',
  // Set-up of tests
  'conftest\\.py|(spec|rails|test)_helper\\.(rb|exs)',
  `((jest|vitest|test|tests|global)[-_.]?(setup|teardown)|setup[-_.]?([tT]ests?|[jJ]est|[vV]itest|[gG]lobals?))${extension}`,
  // Expectations that a tool writes
  '[^/]+\\.(snap|snapshot|snapshots)|[^/]+\\.(approved|verified)\\.\\w+',
];

const decidingName = new RegExp(`^(${names.join('|')})$`);
const inSnapshots = /(^|\/)__snapshots__\//;
/** In a folder of tests, a file with one of these names prepares them. */
const setupName = new RegExp(`^(setup|teardown|globals|env)${extension}$`);
const inTestFolder = /(^|\/)(tests?|__tests__|specs?|e2e)\//;

/** Returns whether a file decides by its name how tests run. */
export function decidesByName(path: string): boolean {
  const name = nameOf(path);
  return decidingName.test(name) || inSnapshots.test(path) || (setupName.test(name) && inTestFolder.test(path));
}

/** The keys of JSON files that decide how tests run. Other parts of these files may change. */
const jsonKeys: Record<string, string[]> = {
  'package.json': ['scripts', 'jest', 'mocha', 'ava', 'tap', 'nyc', 'c8', 'vitest', 'jasmine', 'wireit', 'nx', 'babel'],
  'composer.json': ['scripts'],
  'deno.json': ['tasks', 'test'],
  'deno.jsonc': ['tasks', 'test'],
};

/** The sections of files in the style of INI or TOML that decide how tests run. */
const sections: Record<string, RegExp> = {
  'pyproject.toml': /pytest|tox|nox|coverage|\btest|\bpoe\b|scripts/,
  'setup.cfg': /pytest|aliases|\btest/,
  'Cargo.toml': /\btest|^lib$|^bin$|bench/,
};

/** Test runners. Another version of one, or another package in its place, may treat tests differently. */
const runners =
  /^(@?jest(\/.*)?|mocha|vitest|ava|tap|tape|uvu|jasmine|karma|cypress|@playwright\/test|tsx|ts-node|c8|nyc)$/;

/** Returns whether a file may decide how tests run, depending on what changed in it. */
export function mayDecide(path: string): boolean {
  return jsonKeys[nameOf(path)] !== undefined || sections[nameOf(path)] !== undefined;
}

/** Returns whether a file for which `mayDecide` is true differs in a part that decides how tests run. */
export function differsInDeciding(path: string, before: string | undefined, after: string | undefined): boolean {
  const name = nameOf(path);
  const pattern = sections[name];
  if (pattern !== undefined) return sectionsIn(before ?? '', pattern) !== sectionsIn(after ?? '', pattern);
  const keys = jsonKeys[name] ?? [];
  const [old, now] = [decidingJson(before, keys), decidingJson(after, keys)];
  return old === undefined || now === undefined || old !== now;
}

/** Returns the deciding parts of a JSON file as text; undefined when it cannot be read. */
function decidingJson(text: string | undefined, keys: string[]): string | undefined {
  try {
    const json = JSON.parse(text ?? '{}') as Record<string, unknown>;
    const used = (key: string) => Object.entries((json[key] ?? {}) as object).filter(([name]) => runners.test(name));
    return JSON.stringify([keys.map((key) => json[key] ?? null), used('dependencies'), used('devDependencies')]);
  } catch {
    return undefined;
  }
}

function sectionsIn(text: string, pattern: RegExp): string {
  let isIn = false;
  return text
    .split('\n')
    .filter((line) => {
      // Brackets inside are excluded, because a line of many would take minutes.
      const name = /^\s*\[{1,2}([^[\]]*)\]/.exec(line)?.[1];
      if (name !== undefined) isIn = pattern.test(name.trim());
      return isIn && line.trim() !== '';
    })
    .join('\n');
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
