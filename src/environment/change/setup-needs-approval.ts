/** Set-up of a change needs the network of set-up, and code of the change would use it. A person has to allow that. */
export class SetupNeedsApproval extends Error {
  /** One line each: a file or a command, and why. */
  readonly reasons: string[];

  constructor(reasons: string[]) {
    super(`set-up of this change needs the approval of a person: ${reasons.join('; ')}`);
    this.name = 'SetupNeedsApproval';
    this.reasons = reasons;
  }
}
