/** A shorter text would be found by chance. */
const minSecretLength = 8;

/** Every form in which one of some secrets may leave. */
export function formsOf(secrets: string[]): string[] {
  return [...new Set(secrets.filter((secret) => secret.length >= minSecretLength).flatMap(formsOfOne))];
}

/** A secret as it is, in base64 (at each of the three offsets it may have) and in hex. */
function formsOfOne(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and last characters mix with their neighbours.
    return encoded.slice(Math.ceil((offset * 8) / 6), -1);
  });
  const url = shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [secret, ...shifted, ...url, hex, hex.toUpperCase()];
}
