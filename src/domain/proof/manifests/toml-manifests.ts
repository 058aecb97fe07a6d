import { rustDecides } from './cargo.ts';
import type { Decides } from './manifest.ts';
import { pythonDecides } from './pyproject.ts';
import { type Entry, entriesOf } from './toml.ts';

const judges: Record<string, Decides> = { 'pyproject.toml': pythonDecides, 'Cargo.toml': rustDecides };

/** Returns whether a manifest is one in TOML that is known, by its name. */
export function isTomlManifest(name: string): boolean {
  return Object.hasOwn(judges, name);
}

/** Returns whether a manifest in TOML differs in a part that decides how tests run. */
export function tomlDiffers(name: string, before: string, after: string, isNewFolder: boolean): boolean {
  const [old, now] = [entriesOf(before), entriesOf(after)];
  if (old === undefined || now === undefined) return true;
  const [were, are] = [byPath(old), byPath(now)];
  const there = new Set(old.flatMap(({ path }) => path.map((_, i) => JSON.stringify(path.slice(0, i + 1)))));
  const had = (path: string[]) => there.has(JSON.stringify(path));
  return [...new Set([...were.keys(), ...are.keys()])].some((key) => {
    const sides = { old: were.get(key), now: are.get(key) };
    return sides.old !== sides.now && judges[name]?.(JSON.parse(key) as string[], sides, isNewFolder, had) !== false;
  });
}

function byPath(entries: Entry[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { path, value } of entries) {
    const key = JSON.stringify(path);
    found.set(key, `${found.get(key) ?? ''}${value}`);
  }
  return found;
}
