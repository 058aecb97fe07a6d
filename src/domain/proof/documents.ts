/** Documents and pictures for people, by their names. Files that code or tests may read, such as data, are none of them. */
const document = /\.(mdx?|markdown|rst|rdoc|adoc|png|jpe?g|gif|webp|ico|pdf)$/i;
const documentName =
  /(^|\/)(README|LICEN[CS]E|COPYING|NOTICE|AUTHORS|CONTRIBUTORS|CODEOWNERS|CHANGELOG|HISTORY|NEWS)(\.(md|txt|rst))?$/i;

/** Returns whether a file is a document for people, so that a change of it alone is not worth a proof. */
export function isDocument(path: string): boolean {
  return document.test(path) || documentName.test(path);
}
