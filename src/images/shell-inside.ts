import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The kernel also gives up after this many links. */
const maxLinks = 40;

/** Returns whether an unpacked image has a shell. */
export async function hasShell(root: string): Promise<boolean> {
  const found = await findInside(root, '/bin/sh');
  return found !== undefined && ((await lstat(found)).mode & 0o111) !== 0;
}

/**
 * Returns the path, on this machine, of a file in an image; undefined when it is missing. Links are followed as if the
 * image's root were the machine's, because those of a hostile image lead out of it.
 */
async function findInside(root: string, path: string): Promise<string | undefined> {
  const ahead = partsOf(path);
  let at: string[] = [];
  for (let links = 0; links <= maxLinks; ) {
    const part = ahead.shift();
    if (part === undefined) return join(root, ...at);
    if (part === '..') {
      at.pop();
      continue;
    }
    const found = await lstat(join(root, ...at, part)).catch(() => undefined);
    if (found?.isSymbolicLink()) {
      links += 1;
      const target = await readlink(join(root, ...at, part));
      if (target.startsWith('/')) at = [];
      ahead.unshift(...partsOf(target));
      continue;
    }
    if (found === undefined || found.isDirectory() === (ahead.length === 0)) return undefined;
    at.push(part);
  }
  return undefined;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
