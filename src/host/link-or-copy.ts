import { constants, copyFile, link } from 'node:fs/promises';

/** Gives a file a second path. A link takes no time or space; between file systems it is a copy. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to, constants.COPYFILE_EXCL));
}
