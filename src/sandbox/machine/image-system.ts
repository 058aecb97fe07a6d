import { constants, existsSync } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RunFailed } from '../../domain/run.ts';
import { scriptPath } from '../layout.ts';
import type { ImageRoot } from '../sandbox.ts';
import { homePrograms, identityFiles, identityVariables, type Mount, type System, usualVariables } from './system.ts';

/** Folders whose entries are mounted one by one, because a sandbox has entries of its own in them. */
const divided = new Set(['', '/etc', '/etc/ssl', '/home', '/opt']);

/** Paths that a sandbox does not take from the image: it has its own, or has none. */
const replaced = ['/dev', '/proc', '/sys', '/tmp', '/work', '/home/agent', '/opt/git', scriptPath];

/** The name of the machine that built the image. */
const removed = ['/etc/hostname'];

/** Each entry is a mount that every command has to create: 100 take 0.03 s, 500 take 0.5 s, and 2,000 take 5 s. */
const maxEntries = 500;

/** Longer files of accounts are not read. */
const maxAccountBytes = 256_000;

/** The host's certificates, which replace those of an image: the host's registries may need ones that no image has. */
const certificates = '/etc/ssl/certs';

const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Runs a script in bash where the image has it. */
const launcher = `for s in /bin/bash /usr/bin/bash /usr/local/bin/bash; do
  if [ -x "$s" ]; then export SHELL="$s"; exec "$s" "$0"; fi
done
exec /bin/sh "$0"`;

/**
 * musl does not read nsswitch.conf. It asks a name server even where none is configured, and without this file waits 5 s
 * for an answer that cannot come.
 */
const resolverFile = { '/etc/resolv.conf': 'options timeout:1 attempts:1\n' };

/**
 * Shows the root of an image, read-only. Its entries are mounted one by one, because a mount of the whole root would
 * need mount points that an image may lack. Links are not followed here but created again inside: in an image they may
 * lead anywhere.
 * @throws RunFailed `setup` when there are too many entries
 */
export async function imageSystem({ root, env }: ImageRoot): Promise<System> {
  const files: Record<string, string> = { ...identityFiles('/bin/sh'), ...resolverFile };
  for (const path of ['/etc/passwd', '/etc/group']) files[path] += await furtherAccounts(root, path, files[path]);
  const shared = existsSync(join(certificates, 'ca-certificates.crt')) ? [certificates] : [];
  const mounts = await mountsOf(root, '', new Set([...replaced, ...removed, ...Object.keys(files), ...shared]));
  if (mounts.length > maxEntries)
    throw new RunFailed(
      'setup',
      `the image has more than ${maxEntries} files and folders in /, /etc, /etc/ssl, /home and /opt together`,
    );
  return {
    mounts: [...mounts, ...shared.map((path) => ({ at: path, args: ['--ro-bind', path, path] }))],
    files,
    env: {
      ...usualVariables,
      SHELL: '/bin/sh',
      ...env,
      PATH: `${homePrograms}:${env.PATH ?? usualPath}`,
      ...identityVariables,
    },
    shell: ['/bin/sh', '-c', launcher],
  };
}

async function mountsOf(root: string, path: string, skipped: Set<string>): Promise<Mount[]> {
  if (skipped.has(path)) return [];
  const source = join(root, path);
  const found = await lstat(source);
  if (divided.has(path)) {
    // A link is left out, because no mount below it may lead out of the folder.
    if (!found.isDirectory()) return [];
    // Names that are not UTF-8 cannot be given to bubblewrap.
    const names = (await readdir(source)).filter((name) => !name.includes('\ufffd'));
    const below = names.map((name) => mountsOf(root, `${path}/${name}`, skipped));
    return (await Promise.all(below)).flat();
  }
  if (found.isSymbolicLink()) return [{ at: path, args: ['--symlink', await readlink(source), path] }];
  // Others, such as sockets, are of no use without the program that made them.
  return found.isDirectory() || found.isFile() ? [{ at: path, args: ['--ro-bind', source, path] }] : [];
}

/** Returns the accounts of an image besides our own: programs such as PostgreSQL look theirs up. */
async function furtherAccounts(root: string, path: string, own = ''): Promise<string> {
  const ours = accountsIn(own);
  const [names, ids] = [new Set(ours.map(([name]) => name)), new Set(ours.map(([, , id]) => id))];
  const all = accountsIn(await readSmall(join(root, path)));
  const others = all.filter(([name, , id]) => !names.has(name) && !ids.has(id));
  return others.map((fields) => `${fields.join(':')}\n`).join('');
}

function accountsIn(text: string): string[][] {
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4);
}

/** Reads a small file. Returns '' for anything else, such as a link, or in a folder that is a link. */
async function readSmall(file: string): Promise<string> {
  try {
    if (!(await lstat(dirname(file))).isDirectory()) return '';
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = await handle.stat();
      return found.isFile() && found.size <= maxAccountBytes ? await handle.readFile('utf8') : '';
    } finally {
      await handle.close();
    }
  } catch {
    return '';
  }
}
