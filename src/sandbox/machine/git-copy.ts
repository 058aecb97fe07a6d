import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ShownTree } from '../layout.ts';
import { removeTree } from '../neutral-path.ts';
import type { SandboxParts } from './system.ts';

/** What git reads about a repository besides its objects. The service's configuration and hooks stay where they are. */
const copied = ['HEAD', 'index', 'packed-refs', 'shallow', 'info/attributes', 'info/exclude'];
const copiedFolders = ['refs/heads', 'refs/remotes'];

/**
 * Files may belong to another user than when the index was written, so git compares only their size and time. Commits
 * need a name and an email address.
 */
const config = `[core]
\trepositoryformatversion = 0
\tbare = false
\tcheckStat = minimal
\ttrustctime = false
[user]
\tname = agent
\temail = agent@localhost
[gc]
\tauto = 0
[advice]
\tdetachedHead = false
`;

/** Git folders for the commands of one machine. They may do anything there, because the service never reads them. */
export interface GitCopies {
  /** Creates a copy of a git folder, and returns the workspace with it as commands see it at `/<name>`. */
  show(name: string, workTree: string, gitDir: string): Promise<ShownTree>;
  remove(): Promise<void>;
}

export function gitCopies(
  who: SandboxParts['who'],
  counted: { add(folder: string): void; delete(folder: string): void },
): GitCopies {
  const made: string[] = [];
  return {
    show: async (name, workTree, gitDir) => {
      const git = await mkdtemp(`${workTree}.git-`);
      made.push(git);
      counted.add(git);
      // The objects are not copied. Git finds them where the service's own are mounted read-only.
      const objects = { at: `/opt/git/${name}`, folder: join(gitDir, 'objects') };
      await copyGit(gitDir, git, objects.at);
      if (who.uid !== undefined) await promisify(execFile)('chown', ['-hR', `${who.uid}:${who.gid}`, git]);
      return { at: `/${name}`, workTree, git, objects };
    },
    remove: async () => {
      for (const folder of made.splice(0)) {
        counted.delete(folder);
        // What cannot be removed now is deleted with the workspace's folder, and a failure is reported there.
        await removeTree(folder).catch(() => {});
      }
    },
  };
}

async function copyGit(gitDir: string, copy: string, objects: string): Promise<void> {
  for (const folder of ['info', 'objects/info', 'refs/heads', 'refs/tags'])
    await mkdir(join(copy, folder), { recursive: true });
  await writeFile(join(copy, 'HEAD'), 'ref: refs/heads/main\n');
  // A repository without a commit has only some of these.
  for (const name of copied) await unlessMissing(copyFile(join(gitDir, name), join(copy, name)));
  for (const name of copiedFolders) await unlessMissing(cp(join(gitDir, name), join(copy, name), { recursive: true }));
  await writeFile(join(copy, 'config'), config);
  await writeFile(join(copy, 'objects/info/alternates'), `${objects}\n`);
}

async function unlessMissing(copying: Promise<void>): Promise<void> {
  await copying.catch((error) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
