/** Nobody guesses a generated key of 20 letters and digits. Hex of this length has 80 bits. */
const leastLength = 20;
/** In generated keys, two of five characters are of another kind than the one before. */
const leastChanges = 0.3;
const [small, capital, digit] = [0, 1, 2];

/**
 * Returns whether a secret looks generated, so that nobody finds it by trying: it has many letters and digits, and capital
 * letters, small ones and digits alternate. In words, names and years they do not, whatever separates them.
 */
export function isHardToGuess(secret: string): boolean {
  const kinds: number[] = [];
  for (const char of secret) {
    if (char >= 'a' && char <= 'z') kinds.push(small);
    else if (char >= 'A' && char <= 'Z') kinds.push(capital);
    else if (char >= '0' && char <= '9') kinds.push(digit);
  }
  // Words may begin with a capital letter.
  const isChange = (kind: number, before: number) => kind !== before && !(before === capital && kind === small);
  const changes = kinds.filter((kind, i) => i > 0 && isChange(kind, kinds[i - 1] ?? kind)).length;
  return kinds.length >= leastLength && changes >= kinds.length * leastChanges;
}
