import { constants } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { setImmediate as breathe } from 'node:timers/promises';
import { formsOf } from '../../domain/secrets/secret-forms.ts';

/** A secret, and a file that contains it. */
export interface FoundSecret {
  name: string;
  path: string;
}

/** Bytes searched before yielding to the event loop, which takes a few milliseconds for a few secrets. */
const portion = 262_144;

const [slash, newline] = [Buffer.from('/'), Buffer.from('\n')] as const;

/**
 * Searches these entries of a folder for the values of secrets, in every encoding of `formsOf` and across lines: names,
 * link targets and contents of files. Returns the first file that contains one. Call this only while no other process
 * changes the files.
 */
export async function findSecret(
  folder: string,
  names: string[],
  secrets: { name: string; value: string }[],
): Promise<FoundSecret | undefined> {
  const needles = secrets.flatMap(({ name, value }) =>
    formsOf([value]).map((form) => ({ name, form: flat(Buffer.from(form)) })),
  );
  if (needles.length === 0) return undefined;
  // Set-up may have made names that are not UTF-8, so paths are bytes.
  const root = Buffer.from(`${folder}/`);
  const waiting = names.map((name) => Buffer.from(name)).reverse();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const full = Buffer.concat([root, path]);
    const stats = await lstat(full);
    const target = stats.isSymbolicLink() ? await readlink(full, 'buffer') : Buffer.alloc(0);
    const name =
      searched(flat(Buffer.concat([path, newline, target])), needles) ??
      (stats.isFile() ? await searchFile(full, needles) : undefined);
    if (name !== undefined) return { name, path: path.toString() };
    if (stats.isDirectory())
      for (const inside of await readdir(full, 'buffer')) waiting.push(Buffer.concat([path, slash, inside]));
  }
  return undefined;
}

/** A form of a secret to search for, without white space. */
interface Needle {
  name: string;
  form: Buffer;
}

function searched(bytes: Buffer, needles: Needle[]): string | undefined {
  return needles.find(({ form }) => bytes.includes(form))?.name;
}

async function searchFile(path: Buffer, needles: Needle[]): Promise<string | undefined> {
  const longest = Math.max(...needles.map(({ form }) => form.length));
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(portion);
    let rest = Buffer.alloc(0);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, portion);
      if (bytesRead === 0) return undefined;
      const bytes = Buffer.concat([rest, flat(buffer.subarray(0, bytesRead))]);
      const found = searched(bytes, needles);
      if (found !== undefined) return found;
      // A secret may begin at the end of this portion and continue in the next one.
      rest = bytes.subarray(Math.max(0, bytes.length - longest + 1));
      await breathe();
    }
  } finally {
    await file.close();
  }
}

/** White space and NUL are left out, so that a value is also found across line breaks and in UTF-16. */
const isKept = Uint8Array.from({ length: 256 }, (_, byte) => (/[\s\0]/.test(String.fromCharCode(byte)) ? 0 : 1));

function flat(bytes: Buffer): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const byte of bytes) {
    kept[length] = byte;
    length += isKept[byte] ?? 1;
  }
  return kept.subarray(0, length);
}
