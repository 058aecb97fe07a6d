const [named, versions] = [String.raw`(@[\w.-]+\/)?[\w.-]+`, String.raw`[\w.*+^~<>=|\s-]*`];
/** Ranges whose packages come from a registry or from the repository itself, so that nothing runs to resolve them. */
const rangesOfAll = `${versions}|npm:(${named}@)?${versions}|npm:${named}|workspace:[\\w.*^~/@-]*|catalog:[\\w-]*`;
export const rangesOfNpm = new RegExp(`^(${rangesOfAll}|link:.*|file:.*|\\$${named})$`);
export const rangesOfYarn = new RegExp(
  `^(${rangesOfAll}|(link|portal):[^:#%]*|patch:(@|%40)?[\\w./-]+@(npm(:|%3A))?([\\w.*+^~-]|%5E|%7E)*(#[^:%]*)?)$`,
);
