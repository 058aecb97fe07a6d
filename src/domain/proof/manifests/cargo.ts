import { type Decides, type Sides, textIn } from './manifest.ts';
import { isPlainVersion, isTestTool } from './packages.ts';
import { keysIn } from './pyproject.ts';

/** What a package says about itself. The header of its table has an empty name. */
const about =
  /^(|description|version|license|license-file|authors|repository|homepage|documentation|readme|keywords|categories|rust-version|publish|include)$/;
const nameOfList = /^(dev-|build-)?dependencies$/;

/** Returns whether a value of Cargo.toml decides how tests run, if it differs. */
export const rustDecides: Decides = (path, sides, isNewFolder, had) => {
  const [first = '', second = ''] = path[0] === 'workspace' && path.length > 2 ? path.slice(1) : path;
  if (first === 'lints' || first === 'badges') return false;
  if (first === 'package') return !about.test(second) && !(isNewFolder && /^(name|edition)$/.test(second));
  // A new feature switches nothing off, unless it is among the usual ones.
  if (first === 'features') return second === 'default' || (second !== '' && sides.old !== undefined);
  return dependencyDecides(path, sides, isNewFolder, had);
};

const dependencyDecides: Decides = (path, sides, isNewFolder, had) => {
  const depth = { workspace: 1, target: 2 }[path[0] ?? ''] ?? 0;
  const [list = '', name = '', key] = path.slice(depth);
  if (!nameOfList.test(list)) return true;
  if (name === '' || key === '') return false;
  if (!had(path.slice(0, depth + 2))) return !isOfRegistry(key, sides.now, isNewFolder);
  if (isTestTool(name)) return true;
  return key === undefined ? !differsInVersion(sides) : !/^(version|features)$/.test(key);
};

const keys = /^(version|features|optional|default-features|workspace)$/;

/**
 * Returns whether a dependency is one of the registry, or of the workspace. No older test sees the name of a new one, so a
 * package in a folder of its own may also name its neighbours.
 */
function isOfRegistry(key: string | undefined, value: string | undefined, mayHavePath: boolean): boolean {
  const isKnown = (each: string) => keys.test(each) || (mayHavePath && each === 'path');
  if (key !== undefined) return isKnown(key);
  return isPlainVersion(textIn(value)) || keysIn(value ?? '')?.every(isKnown) === true;
}

/** Returns whether nothing but the version of a dependency and its features differ, or whether it is gone. */
function differsInVersion({ old, now }: Sides): boolean {
  if (!isOfRegistry(undefined, old, false)) return false;
  if (now === undefined) return true;
  return isOfRegistry(undefined, now, false) && withoutVersion(old) === withoutVersion(now);
}

function withoutVersion(value = ''): string {
  if (!value.startsWith('{')) return '{}';
  return value
    .replace(/version="[^"\\]*",?/, '')
    .replace(/features=\[[^[\]]*\],?/, '')
    .replace(',}', '}');
}
