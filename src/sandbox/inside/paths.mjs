import { lstat, realpath } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { ToolError } from './tool-error.mjs';

/**
 * Resolves a path in the workspace to its real path. Checks every link along the path, so that none leads out of the
 * workspace. The last component need not exist.
 */
export async function inside(root, path) {
  if (typeof path !== 'string' || path === '') throw new ToolError('path must be a string such as src/index.js');
  if (path.includes('\0')) throw new ToolError('path must not contain a NUL character');
  const parts = partsBelow(root, resolve(root, path), path, 'is outside the workspace');
  let real = await realpath(root);
  for (const [i, part] of parts.entries()) {
    const next = join(real, part);
    const found = await lstat(next).catch(() => undefined);
    if (found === undefined) return join(real, ...parts.slice(i));
    real = found.isSymbolicLink() ? await targetOf(next, path) : next;
    partsBelow(root, real, path, 'leads outside the workspace through a link');
  }
  return real;
}

/** What is wrong with a link that cannot be resolved, by the code of the error. */
const brokenLinks = {
  ELOOP: 'that leads back to itself',
  ENOENT: 'whose target does not exist',
};

/** Returns where a link leads in the end. @throws ToolError if it leads nowhere */
async function targetOf(link, path) {
  try {
    return await realpath(link);
  } catch ({ code }) {
    throw new ToolError(
      `${path} passes through a symbolic link ${brokenLinks[code] ?? `that cannot be followed (${code})`}`,
    );
  }
}

/** Splits a path into its components below the workspace. @throws ToolError if it is outside or in a git folder */
function partsBelow(root, absolute, path, isOutside) {
  const parts = relative(root, absolute).split(sep).filter(Boolean);
  if (parts[0] === '..')
    throw new ToolError(`${path} ${isOutside}; paths are relative to the repository's root, such as src/index.js`);
  if (parts.some((part) => part.toLowerCase() === '.git'))
    throw new ToolError(`${path} is inside git's own folder, which the tools do not open`);
  return parts;
}

/** Folders in which other tools keep a repository. Models that are used to them write such absolute paths. */
const foreignRoots = /^\/(?:work|workspace|repo|testbed)\//;

/** Returns the ways in which models misspell a path, undone one by one. */
function variants(path) {
  const bare = path
    .trim()
    .replace(/^(["'`])(.*)\1$/s, '$2')
    .replace(/^file:\/\//, '');
  const slashed = bare.replaceAll('\\', '/');
  return [
    bare,
    slashed,
    slashed.replace(foreignRoots, ''),
    slashed.replace(/^\/+/, ''),
    // The prefixes of git's diffs.
    slashed.replace(/^[ab]\//, ''),
    // `file.js:12`, as compilers and search results write it.
    slashed.replace(/:\d+(:\d+)?:?$/, ''),
  ];
}

/**
 * Returns the path of an existing file that a model meant. If nothing exists under the given path, undoes a usual
 * misspelling, provided that exactly one existing file fits. Otherwise returns the path unchanged.
 */
export async function meantPath(root, path) {
  if (typeof path !== 'string' || path === '' || (await exists(root, path))) return path;
  const found = new Map();
  for (const variant of new Set(variants(path)))
    if (variant !== '' && variant !== path && (await exists(root, variant)))
      found.set(await inside(root, variant), variant);
  return found.size === 1 ? [...found.values()][0] : path;
}

/**
 * Returns the path of a file to write, which may be new. A path that is probably misspelled is refused, because a file
 * under that name would be a surprise.
 */
export async function writablePath(root, path) {
  const meant = await meantPath(root, path);
  if (typeof path !== 'string' || (await exists(root, path))) return path;
  if (meant !== path && /^[ab]\//.test(path))
    throw new ToolError(`there is no folder ${path.slice(0, 2)}; do you mean ${meant}? Paths have no prefix of a diff`);
  if (meant !== path) return meant;
  if (/\\|^[\s"'`]|[\s"'`]$/.test(path))
    throw new ToolError(`${JSON.stringify(path)} is not a usual path; write it like src/index.js, without quotes`);
  return path;
}

/** Returns whether a path exists in the workspace, be it a file, a folder or a link. */
export async function exists(root, path) {
  try {
    await lstat(await inside(root, path));
    return true;
  } catch {
    return false;
  }
}
