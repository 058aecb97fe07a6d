import { chmod, lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { CommandFailed } from './failures.ts';

/** What `deckhand login` keeps. */
export interface Login {
  url: string;
  token: string;
  /** The project of commands that name none. */
  project?: string;
  /** A file with the certificate of an own certificate authority. */
  ca?: string;
}

/** Returns where the login is kept. A relative XDG_CONFIG_HOME does not count (XDG Base Directory Specification). */
export function loginPath(env: NodeJS.ProcessEnv): string {
  const set = env.XDG_CONFIG_HOME;
  const folder = set !== undefined && isAbsolute(set) ? set : join(homedir(), '.config');
  return join(folder, 'deckhand', 'login.json');
}

/** Returns the stored login, or undefined if there is none. @throws CommandFailed when others may read the file */
export async function readLogin(env: NodeJS.ProcessEnv): Promise<Login | undefined> {
  const path = loginPath(env);
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw new CommandFailed(`${path} cannot be read (${error.code}). Check the folder.`);
  });
  if (found === undefined) return undefined;
  const isOurs = found.isFile() && (process.getuid === undefined || found.uid === process.getuid());
  if (!isOurs) throw new CommandFailed(`${path} is not a file of yours. Remove it, and run "deckhand login" again.`);
  // Windows has no such modes.
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    throw new CommandFailed(
      `Others may read ${path}, which contains your token. Revoke the token in the dashboard, and run "deckhand login" with a new one. If nobody else uses this machine, "chmod 600 ${path}" is enough.`,
    );
  const login = parsed(await readFile(path, 'utf8'));
  if (typeof login?.url !== 'string' || typeof login.token !== 'string')
    throw new CommandFailed(`${path} is damaged. Run "deckhand login" again.`);
  return login as Login;
}

function parsed(text: string): Partial<Login> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Stores the login in a new file that only its owner may read, and puts that in place of an earlier one. */
export async function writeLogin(env: NodeJS.ProcessEnv, login: Login): Promise<string> {
  const path = loginPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.${process.pid}`;
  await rm(made, { force: true });
  const file = await open(made, 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(login, null, 2)}\n`);
  } finally {
    await file.close();
  }
  // The umask can only take rights away, even those of the owner.
  await chmod(made, 0o600);
  await rename(made, path);
  return path;
}

/** Returns whether there was a login. */
export async function removeLogin(env: NodeJS.ProcessEnv): Promise<boolean> {
  const path = loginPath(env);
  const exists = await lstat(path).then(
    () => true,
    () => false,
  );
  await rm(path, { force: true });
  return exists;
}
