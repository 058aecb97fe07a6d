import { withScripts } from './deciding-files.ts';
import { ownScripts } from './reachable.ts';

/** The keys of JSON files that decide how tests run. Other parts of these files may change. */
const jsonKeys: Record<string, string[]> = {
  'package.json': [
    ...['scripts', 'workspaces', 'wireit', 'nx', 'babel', 'type', 'imports', 'exports', 'main', 'module'],
    ...['jest', 'mocha', 'ava', 'tap', 'nyc', 'c8', 'vitest', 'jasmine'],
  ],
  'composer.json': ['scripts', 'repositories', 'config', 'autoload', 'autoload-dev'],
  'deno.json': ['tasks', 'test'],
  'deno.jsonc': ['tasks', 'test'],
};

/** Keys that say which file is loaded for a name. A part that is new, or another name, takes nothing from older tests. */
const loading = new Set(['type', 'exports', 'main', 'module']);

/** A file in the style of INI or TOML: which sections decide how tests run, and which lines of all the others. */
const sections: Record<string, { section: RegExp; line: RegExp }> = {
  'pyproject.toml': {
    section: /^$|^tool$|pytest|tox|nox|coverage|\btest|\bpoe\b|scripts|\b(uv|poetry|pdm)\.?(sources?|index)/,
    line: /pytest11|\b(pytest|hypothesis|nose2?|unittest2)\b.*(@|\b(path|git|url|file|workspace)\b)/,
  },
  'setup.cfg': { section: /pytest|tox|coverage|aliases|\btest/, line: /pytest11/ },
  'setup.py': { section: /(?!)/, line: /pytest11|cmdclass|\btest_(suite|loader|runner)\b/ },
  'Cargo.toml': {
    section: /^$|\btest|^lib$|^bin$|bench|^patch\b|^replace$/,
    line: /\b(auto(tests|bins|benches|examples)|harness|(default-)?members|exclude)\b|\bbuild"?\s*=/,
  },
  'go.mod': {
    section: /(?!)/,
    line: /^\s*(replace|exclude|tool|toolchain|godebug)\b|=>|testify|ginkgo|gomega|gotest\.tools/,
  },
  Gemfile: { section: /(?!)/, line: /\b(path|git|github|gist|source|eval_gemfile|rspec|minitest|test-unit)\b/ },
};

/** Lists of packages for pip. */
const requirements = /^(.*[-_.])?(requirements|constraints)([-_.].*)?\.(txt|in)$/;
/** Lines of those that choose a test library, or where packages come from. */
const requiring = {
  section: /(?!)/,
  line: /^\s*(-|\.|\/|[\w+]+:)|[@/]|^\s*(pytest|pluggy|iniconfig|hypothesis|nose2?|unittest2|tox|nox|coverage)\b/i,
};

/** Settings of Django, which name the class that runs the tests. */
const djangoSettings = /(^|\/)[^/]*(settings|config)[^/]*(\/[^/]+)?\.py$/;
const djangoRunner = { section: /(?!)/, line: /\bTEST_RUNNER\b/ };

/** Test runners. Another version of one, or another package in its place, may treat tests differently. */
const runners =
  /^(@?jest(\/.*)?|mocha|@?vitest(\/.*)?|ava|tap|tape|uvu|jasmine|karma|cypress|@playwright\/test|tsx|ts-node|c8|nyc)$/;
/** Assertion libraries. With another version, the tests that used them before may mean something else. */
const asserting =
  /^(chai(-.*)?|expect(\.js)?|@std\/(assert|expect|testing)|should|power-assert|unexpected|sinon(-.*)?)$/;
/** Sources of a package other than the registry's package of that name. */
const otherSource = /^(file|link|portal|npm|patch|git.*|github|https?|\.{1,2}|~)[:/+]/;

/** Returns whether a file may decide how tests run, depending on what changed in it. */
export function mayDecide(path: string): boolean {
  return jsonKeys[nameOf(path)] !== undefined || sectionsOf(path) !== undefined;
}

/**
 * Returns whether a file for which `mayDecide` is true differs in a part that decides how tests run. With `commands`, the
 * checks are known to run no other scripts of package.json than those that these name.
 */
export function differsInDeciding(
  path: string,
  before: string | undefined,
  after: string | undefined,
  commands?: string[],
): boolean {
  const name = nameOf(path);
  const parts = sectionsOf(path);
  if (parts !== undefined) return decidingLines(before ?? '', parts) !== decidingLines(after ?? '', parts);
  const [old, now] = [jsonOf(before), jsonOf(after)];
  if (old === undefined || now === undefined) return true;
  const differs = (key: string) => {
    if (loading.has(key)) return before !== undefined && replaces(old[key], now[key]);
    if (key === 'scripts' && name === 'package.json' && commands !== undefined)
      return scriptsRunBy(commands, old[key]) !== scriptsRunBy(commands, now[key]);
    return JSON.stringify(old[key]) !== JSON.stringify(now[key]);
  };
  return (jsonKeys[name] ?? []).some(differs) || packages.some((key) => differsInRunners(old[key], now[key]));
}

/** Returns the scripts of package.json that commands run, or all of them where they are no ordinary scripts. */
function scriptsRunBy(commands: string[], scripts: unknown): string {
  const all = Object.entries(Object(scripts ?? {}) as Json);
  const texts = all.filter((each): each is [string, string] => typeof each[1] === 'string');
  if (texts.length < all.length) return JSON.stringify(scripts);
  return JSON.stringify(withScripts([...commands, ownScripts], Object.fromEntries(texts)));
}

/** The keys of package.json and deno.json under which packages are chosen. */
const packages = ['dependencies', 'devDependencies', 'overrides', 'resolutions', 'pnpm', 'imports'];

type Json = Record<string, unknown>;

function sectionsOf(path: string): { section: RegExp; line: RegExp } | undefined {
  const inFolder = /(^|\/)requirements\/[^/]+\.(txt|in)$/.test(path);
  if (inFolder || requirements.test(nameOf(path))) return requiring;
  return sections[nameOf(path)] ?? (djangoSettings.test(path) ? djangoRunner : undefined);
}

/** Returns whether a value does more than to add names to those that were there. */
function replaces(old: unknown, now: unknown): boolean {
  if (JSON.stringify(old) === JSON.stringify(now)) return false;
  if (typeof old !== 'object' || typeof now !== 'object' || old === null || now === null) return true;
  return Object.entries(old).some(([key, value]) => replaces(value, (now as Json)[key]));
}

/** Returns a JSON file's object; undefined when it cannot be read. */
function jsonOf(text: string | undefined): Json | undefined {
  try {
    return Object(JSON.parse(text ?? '{}')) as Json;
  } catch {
    return undefined;
  }
}

/** Returns whether two lists of packages differ in what runs tests, or in where a package comes from. */
function differsInRunners(before: unknown, after: unknown): boolean {
  const [old, now] = [Object(before ?? {}) as Json, Object(after ?? {}) as Json];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].some((key) => {
    const [was, is] = [JSON.stringify(old[key]), JSON.stringify(now[key])];
    if (was === is) return false;
    const name = nameOfPackage(key);
    if (runners.test(name)) return true;
    if (was === undefined || is === undefined) return false;
    // Nested lists, such as those of `overrides` and `pnpm`, are not looked through.
    return asserting.test(name) || typeof now[key] !== 'string' || otherSource.test(now[key]);
  });
}

/** Returns the package that a key of `overrides` or `resolutions` names, such as `**\/jest` or `jest@29`. */
function nameOfPackage(key: string): string {
  const name = key.replace(/^\*\*\//, '');
  // The first character of a name may be the @ of a scope.
  const at = name.indexOf('@', 1);
  return at < 0 ? name : name.slice(0, at);
}

/** Line ends as Python's parsers see them. Other parsers know fewer. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these control characters end lines in Python.
const lineEnds = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;
/** The beginning of a section. Its name has no brackets, because a line of many brackets would otherwise take minutes. */
const header = /^\s*\[{1,2}([^[\]]*)\]/;
/** A header that cannot be part of a list or of a continued value, so that it certainly ends the section before. */
const certainHeader = /^\[{1,2}\s*(?!(true|false)\b)[a-z]/i;

/** Characters of a line. The patterns take quadratic time, so a longer line counts as deciding without them. */
const maxLine = 1000;

function decidingLines(text: string, { section, line: anywhere }: { section: RegExp; line: RegExp }): string {
  let isIn = section.test('');
  return unescaped(text)
    .split(lineEnds)
    .filter((line) => {
      if (line.length > maxLine) {
        // It may begin a section of any name.
        isIn ||= /^\s*\[/.test(line);
        return line.trim() !== '';
      }
      const name = header.exec(line)?.[1]?.replace(/["'\s]/g, '');
      if (name !== undefined) isIn = section.test(name) || (isIn && !certainHeader.test(line));
      return (isIn || anywhere.test(line)) && line.trim() !== '';
    })
    .join('\n');
}

/** Resolves TOML's escapes, with which a name could be written in a way that no pattern matches. */
function unescaped(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})|\\U0{0,2}0{2}([0-9a-f]{4})/gi, (_all, short?: string, long?: string) =>
    String.fromCharCode(Number.parseInt(short ?? long ?? '0', 16)),
  );
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
