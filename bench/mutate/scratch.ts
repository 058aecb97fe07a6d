import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A copy of the working tree that mutants may change. */
export interface Scratch {
  folder: string;
  write(file: string, content: Buffer): Promise<void>;
  remove(): Promise<void>;
}

/** Copies what git knows or would add, also uncommitted changes. The packages are shared by a link. */
export async function openScratch(root: string): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-mutate-'));
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', listed, { cwd: root, maxBuffer: 2 ** 26 });
  for (const file of stdout.split('\0').filter((name) => name !== '')) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    // A file that git knows may have been deleted.
    await cp(join(root, file), join(folder, file)).catch((error) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    write: (file, content) => writeFile(join(folder, file), content),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
