import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';

export function blobOid(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Writes a blob in git's loose object format (man gitformat-loose), unless the repository already has it. */
export async function writeLoose(gitDir: string, oid: string, content: Buffer): Promise<void> {
  const file = join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2));
  if (
    await access(file).then(
      () => true,
      () => false,
    )
  )
    return;
  await mkdir(dirname(file), { recursive: true });
  const packed = await promisify(deflate)(Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]));
  // Written under a temporary name and renamed, because two files with the same content may be written at the same
  // time.
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, packed, { mode: 0o444 });
  await rename(unfinished, file);
}
