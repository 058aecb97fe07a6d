import { posix } from 'node:path';
import { homePrograms, identityVariables } from '../../sandbox/machine/system.ts';
import { pinning } from '../detect.ts';

/**
 * The package managers that can fetch without running code of what they install. The flags are those of their own
 * documentation; docs/decisions/0061-set-up-of-a-change.md says what each could still run and why it cannot here.
 */
export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'pip' | 'uv' | 'go' | 'cargo' | 'composer';

/** How the packages of one command of set-up are fetched without code of the change. */
export interface Fetch {
  manager: PackageManager;
  /** The folder of the repository in which it runs; empty for the root. */
  folder: string;
  /** Fills the caches in the home folder. */
  command: string;
  /** For npm and pip: what a shell does before, so that the package manager starts no program. Nobody needs to see it. */
  guard?: string | undefined;
  /** For pip: the files of requirements and constraints, from the root of the repository. */
  requirements: string[];
  /** For pip: asks the index for the versions of the package whose name follows. */
  versions?: string | undefined;
}

/** The home folder of commands has the same path in every sandbox. */
const wheels = `${identityVariables.HOME}/.wheels`;

/** The variables with which a package manager takes from its caches what was fetched. */
export const fromCaches: Record<PackageManager, Record<string, string>> = {
  npm: { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' },
  pnpm: { npm_config_prefer_offline: 'true', pnpm_config_prefer_offline: 'true' },
  yarn: { YARN_ENABLE_GLOBAL_CACHE: 'true', YARN_ENABLE_TELEMETRY: 'false' },
  pip: { PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels, PIP_DISABLE_PIP_VERSION_CHECK: '1' },
  uv: {},
  go: { GOPROXY: 'off' },
  cargo: { CARGO_NET_OFFLINE: 'true' },
  composer: { COMPOSER_DISABLE_NETWORK: '1' },
};

/**
 * The variables of every fetch. No package comes from git: package managers prepare such packages by their scripts. npm
 * does that with a second npm, which has these variables, but not the flags of the first.
 */
export const whileFetching = {
  npm_config_ignore_scripts: 'true',
  npm_config_git: '/bin/false',
  npm_config_allow_git: 'none',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_TERMINAL_PROMPT: '0',
  UV_PYTHON_DOWNLOADS: 'never',
  // Compiling starts the Python of the virtual environment, which reads the .pth files of packages.
  UV_COMPILE_BYTECODE: '0',
  PYTHONSAFEPATH: '1',
  YARN_ENABLE_GLOBAL_CACHE: 'true',
  YARN_ENABLE_TELEMETRY: 'false',
  // Without scripts, Yarn 4 refuses `exec:` too, unless `dependenciesMeta` allows it.
  YARN_ENABLE_SCRIPTS: 'false',
  // Elsewhere, the programs of packages could take the place of others.
  COMPOSER_VENDOR_DIR: 'vendor',
  COMPOSER_BIN_DIR: 'vendor/bin',
  // Go fetches modules from repositories with git only, which is switched off.
  GOVCS: '*:git',
};

/**
 * Finds the package managers that a command of set-up calls, in exactly the forms that are known here. Anything else in
 * the command is left out: it has nothing fetched for it.
 */
export function fetchesOf(command: string): Fetch[] {
  const pinned = ['pnpm', 'yarn'].map(pinning).find((begin) => command.startsWith(begin));
  if (pinned !== undefined)
    return fetchesOf(command.slice(pinned.length)).map((fetch) => ({ ...fetch, command: `${pinned}${fetch.command}` }));
  const found: Fetch[] = [];
  let folder = '';
  for (const part of command.split('&&').map((each) => each.trim())) {
    if (/^cd\s/.test(part)) {
      const entered = folderAfter(part, folder);
      // Nothing is known about where the commands that follow run.
      if (entered === undefined) return found;
      folder = entered;
    } else {
      const fetch = isPlain(part) ? fetchOf(part.split(/\s+/), folder) : undefined;
      if (fetch !== undefined) found.push(fetch);
    }
  }
  return found;
}

/** Returns the folder after a `cd`; undefined if that is not known, or not below the root of the repository. */
function folderAfter(part: string, folder: string): string | undefined {
  const [, into, more] = part.split(/\s+/);
  if (into === undefined || more !== undefined || !isPlain(part) || /^[/-]/.test(into)) return undefined;
  const path = posix.join(folder, into).replace(/\/$/, '');
  return path.startsWith('..') ? undefined : path.replace(/^\.$/, '');
}

/** Returns whether a shell takes every word of a command as it is written. */
function isPlain(part: string): boolean {
  return /^[\w\s./:@,=+%-]+$/.test(part);
}

function fetchOf(words: string[], folder: string): Fetch | undefined {
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  if (first === -1) return undefined;
  const [program = '', ...given] = words.slice(first);
  const [, inVirtual] = /^[\w.-]+\/bin\/((?:pip|python)3?)$/.exec(program) ?? [];
  const known = inVirtual === undefined ? forms[program]?.(given) : forms.virtual?.([inVirtual, ...given]);
  if (known === undefined) return undefined;
  const own = words.slice(0, first).filter((word) => !isFixed(word.slice(0, word.indexOf('='))));
  const variables = own.length === 0 ? '' : `export ${own.join(' ')} && `;
  const requirements = (known.files ?? []).map((file) => posix.normalize(posix.join(folder, file)));
  // A guard changes variables, so it comes after those of the repository.
  const ways = known.guard === undefined ? { command: variables + known.command } : { guard: variables + known.guard };
  return { ...known, ...ways, folder, requirements };
}

/** Returns whether a variable keeps its value in every fetch, whatever the repository says. npm reads both cases. */
function isFixed(name: string): boolean {
  return Object.keys(whileFetching).some((fixed) => fixed.toLowerCase() === name.toLowerCase());
}

interface Known {
  manager: PackageManager;
  command: string;
  guard?: string;
  files?: string[];
  versions?: string;
}

/** Makes the command that fetches from the words after the program. Undefined when one of them is not known. */
type Form = (given: string[]) => Known | undefined;

const forms: Partial<Record<string, Form>> = {
  npm: ([action = '', ...flags]) => {
    if (!['ci', 'clean-install', 'install', 'i'].includes(action) || !flags.every(isOneOf(npmFlags))) return undefined;
    return {
      manager: 'npm',
      command: line('npm', action, flags, '--ignore-scripts --no-audit --no-fund --git=/bin/false'),
      guard: withGuardOfNode,
    };
  },
  pnpm: ([action = '', ...flags]) => {
    if (!['install', 'i'].includes(action) || !flags.every(isOneOf(pnpmFlags))) return undefined;
    const kept = flags.filter((flag) => !/frozen-lockfile|ignore-/.test(flag));
    return {
      manager: 'pnpm',
      command: line('pnpm install', kept, '--frozen-lockfile --ignore-scripts --ignore-pnpmfile'),
    };
  },
  yarn: (words) => {
    const flags = words[0] === 'install' ? words.slice(1) : words;
    return flags.every(isOneOf(yarnFlags)) ? { manager: 'yarn', command: yarnCommand } : undefined;
  },
  uv: ([action = '', ...flags]) => {
    if (action !== 'sync' || !areUvFlags(flags)) return undefined;
    const kept = flags.filter((flag) => flag !== '--frozen' && flag !== '--locked');
    return {
      manager: 'uv',
      command: line('uv sync', kept, '--frozen --no-build --no-editable --no-install-project --no-install-workspace'),
    };
  },
  go: (words) => (words.join(' ') === 'mod download' ? { manager: 'go', command: 'go mod download' } : undefined),
  cargo: ([action = '', ...flags]) =>
    action === 'fetch' && flags.every(isOneOf(/^(--locked|--quiet|-q)$/))
      ? { manager: 'cargo', command: line('cargo fetch', flags) }
      : undefined,
  composer: ([action = '', ...flags]) => {
    if (!['install', 'i'].includes(action) || !flags.every(isOneOf(composerFlags))) return undefined;
    const kept = flags.filter((flag) => !/^(-n|--no-(interaction|progress|scripts|plugins)|--prefer-dist)$/.test(flag));
    const safe = '--no-interaction --no-progress --no-scripts --no-plugins --prefer-dist';
    return { manager: 'composer', command: `${withoutHome} ${line('composer install', kept, safe)}` };
  },
  pip: (words) => pip('pip', words),
  pip3: (words) => pip('pip3', words),
  python: ([m, module, ...words]) => (`${m} ${module}` === '-m pip' ? pip('python -m pip', words) : undefined),
  python3: ([m, module, ...words]) => (`${m} ${module}` === '-m pip' ? pip('python3 -m pip', words) : undefined),
  // The virtual environment is missing where packages are fetched, and may be the only place that has pip.
  virtual: ([python = '', ...words]) => {
    const inside = 'python3 -m venv /tmp/fetch && /tmp/fetch/bin/python -m pip';
    if (python.startsWith('pip')) return pip(inside, words);
    return words.slice(0, 2).join(' ') === '-m pip' ? pip(inside, words.slice(2)) : undefined;
  },
};

/** Composer calls `unzip`, `rm` and others. A package must never be able to replace them. */
const withoutHome = `PATH="$(printf %s "$PATH" | sed 's#${homePrograms}:##')"`;

const npmFlags =
  /^(--(no-audit|no-fund|no-progress|audit=false|fund=false|silent|quiet|verbose|no-package-lock|force|legacy-peer-deps|prefer-offline|production|ignore-scripts|workspaces|include-workspace-root|no-optional|loglevel=\w+|(omit|include)=\w+)|-[sqfd])$/;
const pnpmFlags =
  /^(--(frozen-lockfile|prefer-offline|ignore-scripts|ignore-pnpmfile|silent|prod|dev|no-optional|recursive|strict-peer-dependencies|reporter=[\w-]+)|-[PDrs])$/;
const yarnFlags =
  /^--(frozen-lockfile|immutable|immutable-cache|check-cache|prefer-offline|ignore-scripts|ignore-engines|ignore-optional|non-interactive|no-progress|silent|inline-builds|mode=skip-build|network-timeout=\d+)$/;
const composerFlags =
  /^(--(no-interaction|no-progress|no-dev|prefer-dist|no-scripts|no-plugins|optimize-autoloader|classmap-authoritative|quiet|ignore-platform-reqs|ignore-platform-req=[\w-]+)|-[noqa])$/;

/**
 * Yarn 1 and later versions share a name, but not their options. Later versions resolve first without network, which
 * succeeds only if the lock file names every package: resolving a package that it does not name could run code (`exec:`).
 */
const yarnCommand = [
  'case "$(yarn --version)" in',
  '1.*) yarn install --frozen-lockfile --ignore-scripts --non-interactive ;;',
  '*) YARN_ENABLE_NETWORK=0 YARN_ENABLE_IMMUTABLE_INSTALLS=0 yarn install --mode=update-lockfile',
  '&& yarn install --immutable --mode=skip-build ;;',
  'esac',
].join(' ');

function areUvFlags(flags: string[]): boolean {
  const rest = flags.join(' ').replaceAll(/--(extra|group|no-group|only-group|package) [\w.-]+/g, '');
  const plain =
    /^--(frozen|locked|dev|no-dev|only-dev|all-extras|all-groups|all-packages|no-default-groups|quiet|no-progress)$/;
  return rest.split(' ').every((flag) => flag === '' || plain.test(flag));
}

/** pip downloads wheels, which run nothing. It would build any other package to learn its name. */
function pip(program: string, [action, ...words]: string[]): Known | undefined {
  if (action !== 'install') return undefined;
  const options = words.join(' ').replaceAll(/(?<=^| )(-r|-c|--requirement|--constraint) /g, '$1=');
  const kept: string[] = [];
  const files: string[] = [];
  for (const option of options.split(' ')) {
    const [, kind, file] = /^(-[rc]|--requirement|--constraint)=([\w.][\w./-]*)$/.exec(option) ?? [];
    if (kind !== undefined && file !== undefined) {
      files.push(file);
      kept.push(kind, file);
    } else if (/^--(no-deps|require-hashes|pre)$/.test(option) || isRequirement(option)) kept.push(option);
    else if (!pipFlags.test(option)) return undefined;
  }
  const safe = `--only-binary :all: --dest ${wheels} --disable-pip-version-check --no-input`;
  const versions = `${program} index versions --disable-pip-version-check`;
  const last = program.lastIndexOf('& ') + 1;
  const guarded = `${program.slice(0, last)} PYTHONPATH=${guard} ${program.slice(last).trim()}`;
  return { manager: 'pip', command: line(`${guarded} download`.trim(), kept, safe), guard: withGuard, files, versions };
}

/** What pip and npm say when they would start a program of a package. */
export const startsNothing = 'a package would run code of its own';
const guard = '/tmp/guard';
/**
 * A wheel can need another package by its address, for which --only-binary does not count. Python reads this module before
 * pip, and pip then starts no program, so it builds nothing.
 */
const withGuard = [
  `mkdir -p ${guard} && printf '%s\\n' 'import os, subprocess' 'class Popen(subprocess.Popen):' ' def __init__(self, args, *a, **k):'`,
  // pip asks the loader of its own Python which version of musl it has.
  `'  if not os.path.basename(str(args[0])).startswith("ld-musl-"): raise OSError("${startsNothing}")'`,
  `'  super().__init__(args, *a, **k)' 'subprocess.Popen = Popen' > ${guard}/sitecustomize.py &&`,
].join(' ');

/**
 * npm up to version 10 runs scripts of folders, of workspaces, and of what a published lock file names, although scripts are off.
 * Node reads this module first, and then starts no program.
 */
const withGuardOfNode = [
  `mkdir -p ${guard} && printf '%s\\n' 'const all = require("child_process");'`,
  // Some versions of npm hide the error.
  `'const refuse = () => { console.error("${startsNothing}"); throw new Error("${startsNothing}"); };'`,
  `'all.ChildProcess.prototype.spawn = refuse;'`,
  `'for (const name of Object.keys(all)) if (name !== "ChildProcess" && typeof all[name] === "function") all[name] = refuse;'`,
  `> ${guard}/starts-nothing.cjs && export NODE_OPTIONS="$NODE_OPTIONS --require ${guard}/starts-nothing.cjs" &&`,
].join(' ');

const pipFlags =
  /^(--(user|upgrade|no-cache-dir|quiet|no-input|disable-pip-version-check|break-system-packages|prefer-binary|no-warn-script-location|progress-bar=\w+)|-[Uqv])$/;

/** Returns whether a text names a package of an index with its versions, and no path or address. */
export function isRequirement(text: string): boolean {
  const [, versions] = /^[A-Za-z0-9][\w.-]*(?:\[[\w., -]*\])?(?![\w.-])(.*)$/s.exec(text) ?? [];
  if (versions === undefined) return false;
  const list = versions.trim().replace(/^\((.*)\)$/s, '$1');
  return list === '' || list.split(',').every((each) => /^\s*(===?|~=|!=|[<>]=?)\s*\w[\w.*+!-]*\s*$/.test(each));
}

function isOneOf(pattern: RegExp): (word: string) => boolean {
  return (word) => pattern.test(word);
}

function line(...parts: (string | string[])[]): string {
  return parts
    .flat()
    .filter((part) => part !== '')
    .join(' ');
}
