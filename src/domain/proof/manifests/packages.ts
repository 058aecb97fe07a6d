/**
 * Words in the names of test runners, of assertion libraries, and of their parts and plugins, in all languages. Another
 * version of one, or another package in its place, may treat tests differently.
 */
const tools = new Set(
  `jest vitest mocha ava tap tape uvu jasmine karma cypress playwright wdio webdriverio testcafe nightwatch qunit cucumber
  japa zora tsx c8 nyc istanbul chai expect expectations assert asserts assertion assertions should sinon unexpected
  testdouble pluggy iniconfig hypothesis nose nose2 unittest2 tox nox coverage cov xdist testtools testfixtures hamcrest
  behave robotframework rspec minitest shoulda simplecov testify ginkgo gomega gotest gomock goconvey quicktest pestphp
  mockery codeception phpspec behat prophecy paratest atoum kahlan infection rstest proptest quickcheck insta mockall
  trybuild nextest googletest`.split(/\s+/),
);
/** Beginnings of such words, as in `pytest-xdist`, `assertpy` and `jest29`. */
const beginning = /^(jest|vitest|mocha|pytest|unittest|phpunit|rspec|minitest|assert)/;
const others =
  /^(ts-node|power-assert|test-unit|test-case|@hapi\/(lab|code)|@std\/(assert|expect|testing)|gopkg\.in\/check\..*|(.*\/)?go-cmp(\/.*)?|.*\/is)$/;
/** Declarations of types and rules of linters, which change nothing at run time. */
const besides = /^(@types\/|(@[\w-]+\/)?eslint-)/;

/** Returns whether a package runs tests or decides whether they pass, or is a part or plugin of one that does. */
export function isTestTool(name: string): boolean {
  const lower = name.toLowerCase();
  if (besides.test(lower)) return false;
  return others.test(lower) || lower.split(/[^a-z0-9]+/).some((word) => tools.has(word) || beginning.test(word));
}

/** Versions and tags of a registry. Anything with other characters may be an address, a path or another package. */
const range = /^[\w+*^~<>=|!,\s-][\w.+*^~<>=|!,\s-]*$/;
const archive = /\.(t(ar|gz|bz)|whl|zip|egg)/i;

/** Returns whether a version is one that the registry has of the package of this name. npm takes `a.tgz` for a file. */
export function isPlainVersion(version: unknown): version is string {
  return version === '' || (typeof version === 'string' && range.test(version) && !archive.test(version));
}

/** Versions that name what the base has for the package: a part of the workspace, or an entry of a catalog. */
const ofWorkspace = /^(workspace:([\^~*]|[\^~]?\d[\w.+-]*)|catalog:[\w-]*)$/;

const isOfWorkspace = (version: unknown) => typeof version === 'string' && ofWorkspace.test(version);

/**
 * Returns whether two lists of packages with their versions differ in what decides about tests: in a test tool, or in a
 * package that comes, or came, from another source than the registry.
 */
export function differsInPackages(
  before: unknown,
  after: unknown,
  isPlain: (version: unknown) => boolean = isPlainVersion,
): boolean {
  if (!isList(before) || !isList(after)) return true;
  const [old, now] = [before ?? {}, after ?? {}];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].some((name) => {
    const [was, is] = [old[name], now[name]];
    if (JSON.stringify(was) === JSON.stringify(is)) return false;
    if (isTestTool(name)) return true;
    if (was === undefined || is === undefined) {
      const only = was ?? is;
      return !isPlain(only) && !isOfWorkspace(only);
    }
    return !isPlain(was) || !isPlain(is);
  });
}

function isList(value: unknown): value is Record<string, unknown> | undefined {
  return value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

/** What a requirement of Python may consist of, without addresses, paths, options and variables. */
const requirement = /^[a-z0-9][\w.\s[\](),;<>=!~*+'"-]*$/i;

/** Returns whether a requirement is one of an ordinary package of the registry, in the syntax of pip. */
export function isPlainRequirement(text: string): boolean {
  const trimmed = text.trim();
  if (!requirement.test(trimmed) || trimmed.includes('--') || archive.test(trimmed)) return false;
  return !isTestTool(/^[\w.-]*/.exec(trimmed)?.[0] ?? '');
}
