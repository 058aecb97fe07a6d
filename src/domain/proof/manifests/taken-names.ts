/** Keys of package.json and deno.json under which a project names other packages. */
const lists = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies', 'imports'];

/**
 * Returns a function that says of a new package.json whether the base may already have a package of its name. In a workspace
 * the new one would take its place. `manifests` are those of the base, and `locks` its lock files, unless they could not be
 * read.
 */
export function namesTaken(manifests: string[], locks: string[] | undefined): (manifest: string) => boolean {
  const named = new Set(
    manifests.flatMap((text) => lists.flatMap((list) => Object.keys(Object(objectIn(text)[list] ?? {})))),
  );
  // Of what the named packages bring along, only a lock file tells.
  const isKnown = named.size === 0 || (locks !== undefined && locks.length > 0);
  return (manifest) => {
    const { name } = objectIn(manifest);
    if (name === undefined) return false;
    if (typeof name !== 'string' || !isKnown || named.has(name)) return true;
    return (locks ?? []).some((lock) => mentions(lock, name));
  };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Returns whether a text has a name that is no part of a longer one. */
function mentions(text: string, name: string): boolean {
  if (name === '') return true;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    const [before = '', after = ''] = [text[at - 1], text[at + name.length]];
    if (!/[\w.-]/.test(before) && !/[\w.-]/.test(after)) return true;
  }
  return false;
}
