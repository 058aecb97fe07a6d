/** What may not stand before a name, and after it, for it to be a word of its own. */
const before = /[\p{L}\p{N}_./@-]$/u;
const after = /^(?:\/?[\p{L}\p{N}_@-]|\.[\p{L}\p{N}])/u;

/**
 * Returns whether a text speaks of submodules and names the one at this path, by its path or by its last part. The word is
 * required because many submodules have names like `docs`.
 */
export function namesSubmodule(text: string, path: string): boolean {
  if (!/(?<![\p{L}\p{N}])submodules?(?![\p{L}\p{N}])/iu.test(text)) return false;
  return [path, path.split('/').at(-1) ?? ''].some((name) => hasWord(text, name));
}

function hasWord(text: string, word: string): boolean {
  if (word === '') return false;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    if (!before.test(text.slice(Math.max(0, at - 2), at)) && !after.test(text.slice(end, end + 3))) return true;
  }
  return false;
}
