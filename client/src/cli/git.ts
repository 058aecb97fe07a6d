import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CommandFailed } from './failures.ts';

const run = promisify(execFile);

/** Runs git in a folder, and returns what it prints. @throws CommandFailed with what git says */
async function git(folder: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await run('git', ['-C', folder, ...args], { maxBuffer: 50_000_000 });
    return stdout.trim();
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw new CommandFailed('git is not installed, or not in PATH.');
    throw new CommandFailed(`git ${args[0]} failed: ${(stderr ?? '').trim() || 'it gave no reason'}`);
  }
}

const succeeds = (folder: string, ...args: string[]): Promise<boolean> =>
  git(folder, ...args).then(
    () => true,
    () => false,
  );

/**
 * Fetches a branch of a repository into the clone in this folder, and checks it out.
 * @throws CommandFailed before anything is changed, when the clone is not one of the repository or has uncommitted
 * changes, or the local branch and that of the remote have both gone on
 */
export async function checkOut(folder: string, url: string, branch: string): Promise<{ remote: string }> {
  if (!(await succeeds(folder, 'rev-parse', '--is-inside-work-tree')))
    throw new CommandFailed(`This folder is not inside a clone. Clone the repository first: git clone ${url}`);
  // The name comes from the service; git would take one that begins with a dash as an option.
  if (branch.startsWith('-') || !(await succeeds(folder, 'check-ref-format', `refs/heads/${branch}`)))
    throw new CommandFailed('The name of the branch is not one that git accepts.');
  const remote = await remoteOf(folder, url);
  if ((await git(folder, 'status', '--porcelain', '--untracked-files=no')) !== '')
    throw new CommandFailed(
      'There are changes that are not committed. Commit them, or put them aside with "git stash", and try again.',
    );
  const there = `refs/remotes/${remote}/${branch}`;
  await git(folder, 'fetch', '--no-tags', '--no-recurse-submodules', remote, `+refs/heads/${branch}:${there}`);
  if (!(await succeeds(folder, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`))) {
    await git(folder, 'checkout', '--quiet', '-b', branch, '--track', `${remote}/${branch}`);
    return { remote };
  }
  const isBehind = await succeeds(folder, 'merge-base', '--is-ancestor', `refs/heads/${branch}`, there);
  if (!isBehind && !(await succeeds(folder, 'merge-base', '--is-ancestor', there, `refs/heads/${branch}`)))
    throw new CommandFailed(
      `Your branch ${branch} and that of ${remote} both have new commits. Compare them with "git log ${branch}...${remote}/${branch}", and rename yours with "git branch -m ${branch} <name>" to keep it.`,
    );
  await git(folder, 'checkout', '--quiet', branch, '--');
  if (isBehind) await git(folder, 'merge', '--quiet', '--ff-only', there);
  return { remote };
}

/**
 * Asks the host of a pull request for its head, with the credentials that git has.
 * @throws CommandFailed when the host does not say it
 */
export async function headOfPull(url: string): Promise<string> {
  const [, repository, number] = /^(https?:\/\/[^/]+\/.+)\/pull\/(\d+)$/.exec(url) ?? [];
  if (repository === undefined)
    throw new CommandFailed(
      `${url} is not the address of a pull request, such as https://github.com/octocat/hello/pull/12.`,
    );
  const ref = `refs/pull/${number}/head`;
  const listed = await git('.', 'ls-remote', '--', `${repository}.git`, ref).catch((error: Error) => {
    throw new CommandFailed(`The head of ${url} is not known. Give it with --head. ${error.message}`);
  });
  const [head = ''] = listed.split(/\s/);
  if (!/^[0-9a-f]{40}$/.test(head))
    throw new CommandFailed(
      `${repository} has no ${ref}, so the head of the pull request is not known. Give it with --head.`,
    );
  return head;
}

/** Returns the tree of a commit; undefined if the clone in this folder does not have it, or is none. */
export function treeOfCommit(folder: string, commit: string): Promise<string | undefined> {
  return git(folder, 'rev-parse', '--verify', '--quiet', `${commit}^{tree}`).catch(() => undefined);
}

/** Returns the remote that is the repository. */
async function remoteOf(folder: string, url: string): Promise<string> {
  const names = (await git(folder, 'remote')).split('\n').filter((name) => name !== '');
  const wanted = placeOf(url);
  for (const name of names) {
    // Settings such as url.<base>.insteadOf may give the address its usual form, or take that away.
    const given = await git(folder, 'config', '--get-all', `remote.${name}.url`).catch(() => '');
    const used = await git(folder, 'remote', 'get-url', '--all', name);
    const urls = `${given}\n${used}`.split('\n').filter((each) => each !== '');
    if (urls.some((each) => placeOf(each) === wanted)) return name;
  }
  throw new CommandFailed(
    `No remote of this clone is ${url}. Change to a clone of it, or add it: git remote add deckhand ${url}`,
  );
}

/** Returns host and path of a remote, which has several forms: https://host/a/b.git, git@host:a/b, ssh://git@host:22/a/b. */
export function placeOf(remote: string): string {
  const short = /^(?:[^@/\s]+@)?([^:/\s]+):(?!\/\/)(.+)$/.exec(remote);
  const parsed = URL.canParse(remote) && remote.includes('://') ? new URL(remote) : undefined;
  // Ports of https belong to the host; that of ssh says nothing about the one of https.
  const [host, path] =
    parsed === undefined
      ? [short?.[1] ?? '', short?.[2] ?? remote]
      : [parsed.protocol === 'ssh:' ? parsed.hostname : parsed.host, parsed.pathname];
  return `${host}/${path
    .replace(/^\/+/, '')
    .replace(/\/$/, '')
    .replace(/\.git$/, '')}`.toLowerCase();
}
