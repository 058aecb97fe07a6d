import { git } from './run-git.ts';

/**
 * Reads a .gitmodules file (gitmodules(5)) and returns the address of each submodule, by path. Nothing else in the file
 * counts: names, branches, `update` and `ignore` are left out.
 * @throws GitFailed when git cannot read it
 */
export async function modulesIn(file: Buffer, signal?: AbortSignal): Promise<Map<string, string>> {
  // With a file of its own, git follows no includes.
  const output = await git(['config', '--file', '-', '--no-includes', '-z', '--list'], { input: file, signal });
  const sections = new Map<string, { path?: string; url?: string }>();
  for (const record of output.toString('utf8').split('\0')) {
    const [, name = '', key, value = ''] = /^submodule\.(.*)\.(path|url)\n(.*)$/s.exec(record) ?? [];
    if (key !== undefined) sections.set(name, { ...sections.get(name), [key]: value });
  }
  const addresses = new Map<string, string>();
  for (const { path, url } of sections.values()) if (path !== undefined && url !== undefined) addresses.set(path, url);
  return addresses;
}

/** Returns the bytes of all files of a tree together. */
export async function bytesIn(gitDir: string, tree: string, signal?: AbortSignal): Promise<number> {
  const output = await git([`--git-dir=${gitDir}`, 'ls-tree', '-r', '-z', '--format=%(objectsize)', tree], { signal });
  return output
    .toString('latin1')
    .split('\0')
    .reduce((sum, size) => sum + (Number(size) || 0), 0);
}
