/** Documents and pictures for people, by their names. Files that code or tests may read, such as data, are none of them. */
const document = /\.(md|markdown|rst|rdoc|adoc|png|jpe?g|gif|webp|ico|pdf)$/i;
const documentName =
  /(^|\/)(README|LICEN[CS]E|COPYING|NOTICE|AUTHORS|CONTRIBUTORS|CODEOWNERS|CHANGELOG|HISTORY|NEWS)(\.(md|txt|rst))?$/i;

/**
 * Returns whether a file is a document for people, so that a change of it alone is not worth a proof. Programs, links, and
 * files that one of the commands names are none, whatever their names.
 */
export function isDocument(path: string, mode: string | undefined, commands: string[]): boolean {
  if (mode !== '100644' || !(document.test(path) || documentName.test(path))) return false;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return !commands.some((command) => command.includes(name));
}
