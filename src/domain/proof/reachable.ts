import { argumentsOf } from './deciding-files.ts';

/**
 * Files that only a build tool or a program that runs commands by name reads. They decide how tests run if the checks can
 * reach such a tool.
 */
const forTools =
  /(^|\/)((GNU)?[Mm]akefile(\.(am|in))?|[^/]+\.mk|\.?[Jj]ustfile|[Tt]askfile\.ya?ml|Rakefile|noxfile\.py|CMakeLists\.txt|CMakePresets\.json|[^/]+\.cmake|meson\.build|pom\.xml|[^/]+\.gradle(\.kts)?|gradle(-wrapper)?\.properties|[^/]+\.sbt|(BUILD|WORKSPACE)(\.bazel)?|MODULE\.bazel|\.bazelrc|[^/]+\.bzl)$/;

/** Returns whether a file only matters to build tools such as CMake, Meson and make, by its name. */
export function isForTools(path: string): boolean {
  return forTools.test(path);
}

/** Programs that read none of these files, and start no program of the repository that could. */
const harmless = new Set(
  `jest vitest mocha ava tap tape c8 nyc pytest py.test phpunit rspec eslint tsc prettier biome ruff mypy flake8 black isort
  pyright xo standard stylelint husky cd set echo true false test [ printf mkdir rm cp mv ls cat grep pwd exit export`.split(
    /\s+/,
  ),
);
/** Returns whether all of these commands are known to reach no build tool. Anything unknown may. */
export function reachNoTool(commands: string[]): boolean {
  return commands.every((text) => argumentsOf(text).every(isHarmless));
}

type IsHarmless = (args: string[], named: string[]) => boolean;

/** Scripts of package.json are among the commands. Where a pattern names them, it is not known which. */
const manager: IsHarmless = (args, named) =>
  (/^(test|t|tst|run|run-script)$/.test(named[0] ?? '') && !/[*?$]/.test(args.join(''))) ||
  (/^(ci|install|i)$/.test(named[0] ?? '') && named.length === 1);
const python: IsHarmless = ([option, name = '']) =>
  option === '-m' && /^(pytest|unittest|mypy|ruff|flake8|black|isort)$/.test(name);

/** Programs that are harmless with some arguments. `named` are those that are no options. */
const sometimes: Record<string, IsHarmless> = {
  npm: manager,
  pnpm: manager,
  yarn: manager,
  bun: manager,
  node: (args) => args.includes('--test') && !args.some((word) => /^--?(r|require|import|loader)/.test(word)),
  python,
  python3: python,
  go: (args, [verb = '']) => /^(test|vet|mod)$/.test(verb) && !args.some((word) => /^--?(exec|toolexec)/.test(word)),
  pip: (args, named) =>
    named[0] === 'install' && args.includes('-r') && named.length === 2 && named[1]?.endsWith('.txt') === true,
};

function isHarmless([program = '', ...args]: string[]): boolean {
  if (program === '' || program.startsWith('#') || harmless.has(program)) return true;
  const named = args.filter((word) => !word.startsWith('-'));
  return Object.hasOwn(sometimes, program) && sometimes[program]?.(args, named) === true;
}

/** The scripts of package.json that package managers run by themselves. */
export const ownScripts =
  'npm run preinstall install postinstall prepare preprepare postprepare prepublish dependencies';
