/** Characters of which credentials consist. */
const inCredential = /[\x21-\x7e]/;

/**
 * Returns how much of a growing text can be searched for credentials already. The rest may be the beginning of one.
 * Keys and tokens have no spaces, so a text is cut at the last one; other secrets, such as passwords, may have some.
 */
export function safeLength(text: string, secrets: string[]): number {
  let length = boundaryBefore(text, text.length);
  for (const secret of secrets.filter((each) => !/^[\x21-\x7e]*$/.test(each)))
    for (let at = Math.max(0, length - secret.length + 1); at < length; at++)
      if (secret.startsWith(text.slice(at, at + secret.length))) length = boundaryBefore(text, at);
  return length;
}

/** Returns the end of the last character before `end` that cannot belong to a key or a token. */
function boundaryBefore(text: string, end: number): number {
  let at = end;
  while (inCredential.test(text.charAt(at - 1))) at--;
  return at;
}
