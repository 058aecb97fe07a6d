/** A work tree that cannot become a pull request. The message says what to change. */
export class UnfitWorkTree extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'UnfitWorkTree';
  }
}

export function tooLarge(what: string): UnfitWorkTree {
  return new UnfitWorkTree(`the change is too large: over ${what}; remove build output, or name it in .gitignore`);
}
