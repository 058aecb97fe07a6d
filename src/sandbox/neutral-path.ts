import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, copyFile, link, lstat, mkdir, readdir, readFile, rename, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const closeOnExec = 0o2000000;

/**
 * Closes the descriptors that the service inherited from its parent process. Otherwise every child process, even in a
 * sandbox, would inherit them too. Call it before anything else; descriptors that Node opens are not inherited.
 */
export function closeInherited(): void {
  if (process.platform !== 'linux') return;
  const channel = (process as { channel?: { fd?: number } }).channel?.fd;
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd <= 2 || fd === channel) continue;
    try {
      const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '';
      if ((Number.parseInt(flags, 8) & closeOnExec) === 0) closeSync(fd);
    } catch {
      // The descriptor that was used to list the folder is already closed.
    }
  }
}

/**
 * Removes a folder that an agent may have filled with arbitrary files. `rm` walks by file descriptors: it follows no
 * links and handles paths longer than the system's limit, on which Node's own `rm` fails.
 */
export async function removeTree(folder: string): Promise<void> {
  // Most folders that the service removes when it ends are empty, and a process costs more than this call.
  const isGone = await rmdir(folder).then(
    () => true,
    (error) => error.code === 'ENOENT',
  );
  if (isGone) return;
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(program, [...args, '--', folder], { env: { PATH: '/usr/bin:/bin' } });
  // A command may have removed permissions, which stops every user but root. `chmod -R` does not follow links either.
  await run('rm', '-rf').catch(async () => {
    await run('chmod', '-R', 'u+rwx').catch(() => {});
    await run('rm', '-rf');
  });
}

/**
 * Returns a path of a file that every user of a sandbox can read and that reveals nothing about this machine, because
 * the list of mounts inside a sandbox shows source paths. The file is hard-linked (1 ms) or copied into `dir`. A file
 * below /usr is used in place, and so is any file when there is no space for a copy.
 */
export async function neutralPath(file: string, name: string, dir: string): Promise<string> {
  if (file.startsWith('/usr/')) return file;
  return linkedIn(dir, file, name).catch(async (error) => {
    if (await isReadable(file)) return file;
    throw error;
  });
}

/** Returns a path of the file that every user can read: the original, or a link or copy of it. */
export async function readablePath(file: string, name: string, dir: string): Promise<string> {
  return (await isReadable(file)) ? file : linkedIn(dir, file, name);
}

/** Like `neutralPath`, for a folder. */
export async function neutralFolder(folder: string, name: string, dir: string): Promise<string> {
  if (folder.startsWith('/usr/')) return folder;
  return folderIn(dir, folder, name).catch(async (error) => {
    if (await areReadable(folder)) return folder;
    throw error;
  });
}

/** Like `readablePath`, for a folder. */
export async function readableFolder(folder: string, name: string, dir: string): Promise<string> {
  return (await areReadable(folder)) ? folder : folderIn(dir, folder, name);
}

async function areReadable(folder: string): Promise<boolean> {
  const names = await filesIn(folder);
  const readable = await Promise.all(names.map((name) => isReadable(join(folder, name))));
  return !readable.includes(false);
}

/** Links or copies the files of a folder. The new folder is named after their content, so a new version gets its own. */
async function folderIn(dir: string, folder: string, name: string): Promise<string> {
  const names = await filesIn(folder);
  const contents = await Promise.all(names.map((each) => readFile(join(folder, each))));
  const hash = createHash('sha256');
  for (const [i, each] of names.entries()) hash.update(`${each}\0${contents[i]?.length}\0`).update(contents[i] ?? '');
  const copy = join(dir, `${name}-${hash.digest('hex').slice(0, 16)}`);
  for (const below of new Set(['.', ...names.map((each) => dirname(each))])) {
    await mkdir(join(copy, below), { recursive: true });
    await chmod(join(copy, below), 0o755);
  }
  for (const each of names) await linkedIn(copy, join(folder, each), each);
  return copy;
}

/** Returns the paths of the files in a folder and its subfolders, relative to it and sorted. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
}

async function linkedIn(dir: string, file: string, name: string): Promise<string> {
  const copy = join(dir, name);
  const found = await lstat(copy).catch(() => undefined);
  if (found?.isFile() && found.uid === process.getuid?.() && (found.mode & 0o004) !== 0) return copy;
  const making = `${copy}.${randomUUID()}`;
  const { mode } = await stat(file);
  const copied = () => copyFile(file, making).then(() => chmod(making, mode | 0o444));
  // A link has the mode of the original file, which other users may not be allowed to read.
  await ((mode & 0o004) === 0 ? copied() : link(file, making).catch(copied));
  await rename(making, copy);
  return copy;
}

/** Returns whether the tools can read a file. They run as other users only if the service runs as root. */
async function isReadable(file: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return true;
  if (((await stat(file)).mode & 0o004) === 0) return false;
  for (let at = dirname(file); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
