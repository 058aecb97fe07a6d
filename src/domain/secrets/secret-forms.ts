/** Shorter secrets are not searched for, because they would match by chance. */
const minSecretLength = 8;

/** Returns the secrets in every encoding in which they are searched for. */
export function formsOf(secrets: string[]): string[] {
  return [...new Set(secrets.filter((secret) => secret.length >= minSecretLength).flatMap(formsOfOne))];
}

/** Returns a secret as it is, in hex, and in base64 and base64url at each of the three possible offsets. */
function formsOfOne(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and last characters are dropped, because they also depend on the bytes next to the secret.
    return encoded.slice(Math.ceil((offset * 8) / 6), -1);
  });
  const url = shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [secret, ...shifted, ...url, hex, hex.toUpperCase()];
}
