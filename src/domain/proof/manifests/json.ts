import { isKnownProgram, withScripts } from '../deciding-files.ts';
import { ownScripts } from '../reachable.ts';
import type { Surroundings } from './manifest.ts';
import { differsInPackages, isPlainVersion, isTestTool } from './packages.ts';

type Json = Record<string, unknown>;

/** Whether a key of a manifest decides, if its value differs. */
type Decides = (old: Json, now: Json, around: Surroundings, key: string) => boolean;

const never: Decides = () => false;
const unlessNew: Decides = (_old, _now, { isNewFolder }) => !isNewFolder;
const list: Decides = (old, now, _around, key) => differsInPackages(old[key], now[key]);

const all = (keys: string, decides: Decides) => Object.fromEntries(keys.split(/\s+/).map((key) => [key, decides]));

/** How a change of each known key is judged. All other keys decide how tests run, because any tool may read them. */
const known: Record<string, Record<string, Decides>> = {
  'package.json': {
    ...all('description keywords author contributors maintainers license licenses repository homepage bugs', never),
    ...all('version funding private files man readme readmeFilename $schema // types typings typesVersions', never),
    ...all('unpkg jsdelivr lint-staged husky simple-git-hooks commitlint release release-it', never),
    // Of extensions of Visual Studio Code
    ...all('displayName publisher icon categories contributes activationEvents badges galleryBanner preview', never),
    ...all('dependencies devDependencies optionalDependencies peerDependencies', list),
    ...all('type main module imports', unlessNew),
    name: takesName,
    exports: exportsOther,
    scripts: runsOther,
    bin: addsPrograms,
    engines: (_old, { engines }) => !Object.values(Object(engines ?? {})).every((value) => typeof value === 'string'),
    peerDependenciesMeta: ({ peerDependenciesMeta: old }, { peerDependenciesMeta: now }) =>
      replaces(old ?? {}, now) || Object.keys(Object(now ?? {})).some((name) => isTestTool(name) && !hasKey(old, name)),
  },
  'composer.json': {
    ...all('description keywords homepage readme time license authors support funding version suggest', never),
    ...all('require require-dev', (old, now, _around, key) => differsInPackages(old[key], now[key], isPlainForPhp)),
    name: takesName,
  },
  'deno.json': {
    ...all('version description license author publish $schema', never),
    name: takesName,
    exports: exportsOther,
    imports: ({ imports: old }, { imports: now }) => importsOther(old ?? {}, now ?? {}),
  },
};
known['deno.jsonc'] = known['deno.json'] ?? {};

/** Returns whether a manifest is one in JSON that is known, by its name. */
export function isJsonManifest(name: string): boolean {
  return Object.hasOwn(known, name);
}

/** Returns whether a manifest in JSON differs in a part that decides how tests run. */
export function jsonDiffers(
  name: string,
  before: string | undefined,
  after: string | undefined,
  around: Surroundings,
): boolean {
  // Even an empty package.json gives the files of its folder another type, other imports and another configuration.
  if (before === undefined && !around.isNewFolder) return true;
  const [old, now] = [jsonOf(before), jsonOf(after)];
  if (old === undefined || now === undefined) return true;
  const judges = known[name] ?? {};
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].some((key) => {
    if (JSON.stringify(old[key]) === JSON.stringify(now[key])) return false;
    return !Object.hasOwn(judges, key) || judges[key]?.(old, now, around, key) !== false;
  });
}

/** Returns the object in a file; undefined when it has none. */
function jsonOf(text: string | undefined): Json | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

const hasKey = (value: unknown, key: string) => Object.hasOwn(Object(value ?? {}), key);

/** A package can import itself by its name, and others of a workspace can, before the one that is installed. */
function takesName(_old: Json, { name }: Json, { isNewFolder }: Surroundings): boolean {
  return !isNewFolder || typeof name !== 'string' || isTestTool(name);
}

/** Returns whether a value does more than to add names to those that were there. */
function replaces(old: unknown, now: unknown): boolean {
  if (JSON.stringify(old) === JSON.stringify(now)) return false;
  if (typeof old !== 'object' || typeof now !== 'object' || old === null || now === null) return true;
  return Object.entries(old).some(([key, value]) => JSON.stringify(value) !== JSON.stringify((now as Json)[key]));
}

/**
 * Returns whether a name leads elsewhere than before. A new part takes nothing from older tests, unless it is a condition of
 * a part that was there, or lies within a pattern.
 */
function exportsOther({ exports: old }: Json, { exports: now }: Json, { isNewFolder }: Surroundings): boolean {
  if (isNewFolder) return false;
  if (old === undefined || replaces(old, now)) return true;
  const added = Object.keys(Object(now)).filter((key) => !hasKey(old, key));
  return added.some((key) => !key.startsWith('.') || isWithin(key, Object.keys(Object(old))));
}

/** Returns whether a pattern such as `./*`, or a folder such as `a/`, leads to a name. */
function isWithin(name: string, patterns: string[]): boolean {
  return patterns.some((pattern) => {
    const star = pattern.indexOf('*');
    if (star >= 0) return name.startsWith(pattern.slice(0, star));
    return pattern.endsWith('/') && name.startsWith(pattern);
  });
}

/** Returns whether the checks may run another script. */
function runsOther({ scripts: old }: Json, { scripts: now }: Json, { commands }: Surroundings): boolean {
  if (commands === undefined) return true;
  return scriptsRunBy(commands, old) !== scriptsRunBy(commands, now);
}

/** Returns the scripts of package.json that commands run, or all of them where they are no ordinary scripts. */
function scriptsRunBy(commands: string[], scripts: unknown): string {
  const all = Object.entries(Object(scripts ?? {}) as Json);
  const texts = all.filter((each): each is [string, string] => typeof each[1] === 'string');
  if (texts.length < all.length) return JSON.stringify(scripts);
  return JSON.stringify(withScripts([...commands, ownScripts], Object.fromEntries(texts)));
}

/**
 * Returns whether a package has other programs than new ones of its own name. Package managers put the programs of a
 * workspace before those of the machine and before those of test runners.
 */
function addsPrograms(old: Json, now: Json, { words }: Surroundings): boolean {
  const own = typeof now.name === 'string' ? now.name.slice(now.name.indexOf('/') + 1) : '';
  const programsOf = ({ bin }: Json) => (typeof bin === 'string' ? { [own]: bin } : (bin ?? {}));
  const [were, are] = [programsOf(old), programsOf(now)];
  if (own === '' || (old.name !== undefined && old.name !== now.name) || replaces(were, are)) return true;
  const added = Object.keys(are).filter((name) => !hasKey(were, name));
  return added.some(
    (name) =>
      (name !== own && !name.startsWith(`${own}-`)) || words.has(name) || isKnownProgram(name) || isTestTool(name),
  );
}

/** Versions of Composer may name a stability, and a version for which they count. */
const isPlainForPhp = (version: unknown) =>
  isPlainVersion(version) || (typeof version === 'string' && stable.test(version));
const stable = /^[\w.+*^~<>=|!,\s-]*@(dev|alpha|beta|RC|stable)$/;

/** A package of a registry of Deno, without its version. */
const ofRegistry = /^(npm|jsr):\/?(@[\w.-]+\/)?[\w.-]+(?=(@[\w.+*^~<>=|-]*)?(\/[\w./-]*)?$)/;

/**
 * Returns whether an import leads elsewhere than before. Names that are paths or addresses, or that lie in a folder which
 * was mapped before, lead somewhere without an entry.
 */
function importsOther(old: unknown, now: unknown): boolean {
  const [were, are] = [Object(old) as Json, Object(now) as Json];
  return [...new Set([...Object.keys(were), ...Object.keys(are)])].some((key) => {
    const [was, is] = [were[key], are[key]];
    if (was === is) return false;
    if (isTestTool(key) || typeof is !== 'string' || isTestTool(is)) return true;
    if (was === undefined) return !ofRegistry.test(is) || /^[./]|:/.test(key) || isWithin(key, Object.keys(were));
    const [from, to] = [ofRegistry.exec(String(was))?.[0], ofRegistry.exec(is)?.[0]];
    return from === undefined || from !== to;
  });
}
