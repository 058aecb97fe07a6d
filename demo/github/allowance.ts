/**
 * Replaces tokens before the emulator's rate limit. The emulator allows each token 5,000 calls per hour and then
 * refuses it without a message. Under load a token would reach that, but a test should only meet the limits that it
 * sets.
 */
export class Allowance {
  private readonly uses = new Map<string, number>();
  private readonly successors = new Map<string, Promise<string>>();
  private readonly makeToken: (used: string, count: number) => Promise<string>;

  constructor(makeToken: (used: string, count: number) => Promise<string>) {
    this.makeToken = makeToken;
  }

  /** Counts a call and returns the `Authorization` header to send instead of `given`. */
  async spend(given: string): Promise<string> {
    const [, scheme, token] = /^(token|bearer) (person-.+|ghs_.+)$/i.exec(given) ?? [];
    if (scheme === undefined || token === undefined) return given;
    const uses = (this.uses.get(token) ?? 0) + 1;
    this.uses.set(token, uses);
    if (uses % callsPerToken === 0) this.successors.set(token, this.makeToken(token, uses / callsPerToken));
    return `${scheme} ${(await this.successors.get(token)) ?? token}`;
  }
}

const callsPerToken = 4500;

/** The number of spare tokens that the emulator is seeded with for each person. */
export const spareTokens = 40;
export const spareToken = (token: string, count: number) => `${token}~${Math.min(count, spareTokens)}`;
