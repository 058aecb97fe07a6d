import { formsOf } from './secret-forms.ts';

/** A secret in one of its encodings, as it is searched for: without white space and NUL. */
export interface Needle {
  name: string;
  form: Buffer;
}

/** White space and NUL are left out, so that a value is also found across line breaks and in UTF-16. */
const isKept = Uint8Array.from({ length: 256 }, (_, byte) => (/[\s\0]/.test(String.fromCharCode(byte)) ? 0 : 1));

/** Shorter ones are in files by chance. Secrets have at least eight characters, but these may be white space. */
const minNeedle = 8;

/** Returns what to search for to find these secrets in every encoding of `formsOf`. */
export function needlesOf(secrets: { name: string; value: string }[]): Needle[] {
  return secrets
    .flatMap(({ name, value }) => formsOf([value]).map((form) => ({ name, form: flat(Buffer.from(form)) })))
    .filter(({ form }) => form.length >= minNeedle);
}

/** Returns bytes as they are searched: without white space and NUL. */
export function flat(bytes: Uint8Array): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const byte of bytes) {
    kept[length] = byte;
    length += isKept[byte] ?? 1;
  }
  return kept.subarray(0, length);
}

/** Returns the first needle that flat bytes contain. */
export function findNeedle(flatBytes: Buffer, needles: Needle[]): Needle | undefined {
  return needles.find(({ form }) => flatBytes.includes(form));
}
