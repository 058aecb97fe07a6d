import { isJsonManifest, jsonDiffers } from './manifests/json.ts';
import { isComparedByLines, linesDiffer } from './manifests/lines.ts';
import type { Surroundings } from './manifests/manifest.ts';
import { isTomlManifest, tomlDiffers } from './manifests/toml-manifests.ts';

/** Returns whether a file may decide how tests run, depending on what changed in it. */
export function mayDecide(path: string): boolean {
  return isJsonManifest(nameOf(path)) || isTomlManifest(nameOf(path)) || isComparedByLines(path);
}

/** Characters of a line. A manifest with a longer one that is new or gone counts as deciding. */
const maxLine = 1000;

/**
 * Returns whether a file for which `mayDecide` is true differs in a part that decides how tests run. Every part decides that
 * is not known to be harmless.
 */
export function differsInDeciding(
  path: string,
  before: string | undefined,
  after: string | undefined,
  around: Surroundings,
): boolean {
  const name = nameOf(path);
  if (isJsonManifest(name)) return jsonDiffers(name, before, after, around);
  const [old, now] = [before ?? '', after ?? ''];
  if (!isTomlManifest(name)) return linesDiffer(path, old, now, around.isNewFolder);
  return longLines(old) !== longLines(now) || tomlDiffers(name, old, now, around.isNewFolder);
}

function longLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.length > maxLine)
    .join('\n');
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
