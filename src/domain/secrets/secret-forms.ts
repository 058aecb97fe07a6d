/** Shorter secrets are not searched for, because they would match by chance. */
const minSecretLength = 8;

/** Returns the secrets in every encoding in which they are searched for. */
export function formsOf(secrets: string[]): string[] {
  return [...new Set(secrets.filter((secret) => secret.length >= minSecretLength).flatMap(formsOfOne))];
}

/**
 * Returns a secret as it is, as part of a URL and of JSON, in hex, and in base64 and base64url at each of the three
 * possible offsets.
 */
function formsOfOne(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [
    { offset: 0, first: 0 },
    { offset: 1, first: 2 },
    { offset: 2, first: 3 },
  ].map(({ offset, first }) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and last characters are dropped, because they also depend on the bytes next to the secret.
    return encoded.slice(first, -1);
  });
  const url = shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [secret, ...escaped(secret), ...shifted, ...url, hex, hex.toUpperCase()];
}

/** Package managers store a password in the URL of a registry, and keys of several lines in JSON. */
function escaped(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  // encodeURIComponent refuses half of a surrogate pair. Some encoders escape more characters than others.
  const url = encodeURIComponent(secret.toWellFormed());
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const urls = [url, strict, url.replaceAll('%2F', '/')].flatMap((each) => [each, each.replaceAll('%20', '+')]);
  const lower = urls.map((each) => each.replace(/%../g, (code) => code.toLowerCase()));
  return [json, json.replaceAll('/', '\\/'), ...urls, ...lower];
}
