import type { App, Octokit } from '../../app.ts';
import type { PullRequestRow, PullStatus } from '../../db/tables/task.ts';
import { RunFailed } from '../../domain/run.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { unlessUnknown } from '../../repositories/permission.ts';
import { settingsOnGitHub } from '../../repositories/settings/settings-on-github.ts';
import { isCommitOfRun } from '../../runs/journal.ts';
import type { Merge } from './stack.ts';

/** At most this many commits of ours are read. If the one that is not ready is not among them, the head is not ready. */
const maxCommits = 20;

/**
 * Returns whether a new head of a pull request has only commits of ours after the one that is not ready: merges of the base
 * branch, which prove nothing, and commits of runs, which say for themselves that they are ready. The response to a merge
 * may be lost, and "Update branch" names no commit, so the head is looked at whenever it has changed.
 */
export async function isStillUnready(
  app: App,
  octokit: Octokit,
  name: RepoName,
  pull: PullRequestRow,
  headSha: string,
): Promise<boolean> {
  const { unreadySha } = pull;
  if (unreadySha === null || headSha === unreadySha || headSha === pull.headSha) return false;
  const bot = await app.github?.bot();
  const path = 'GET /repos/{owner}/{repo}/git/commits/{commit_sha}';
  const read = (commit_sha: string) => unlessUnknown(octokit.request(path, { ...name, commit_sha }));
  let sha: string | undefined = headSha;
  for (let count = 0; count < maxCommits; count++) {
    if (sha === unreadySha) return true;
    const commit: Awaited<ReturnType<typeof read>> = sha === undefined ? undefined : await read(sha);
    if (commit === undefined) return false;
    const isOfBot = bot !== undefined && commit.author.email.startsWith(`${bot.id}+${bot.login}@`);
    if (!isOfBot && !(await isCommitOfRun(app.db.manager, commit.sha))) return false;
    sha = commit.parents[0]?.sha;
  }
  return true;
}

/** Returns whether changes of a repository need checks or a proof to be ready. Settings that cannot be used require it. */
export async function needsEvidence(octokit: Octokit, name: RepoName): Promise<boolean> {
  try {
    const { checks, proof } = await settingsOnGitHub(octokit, name);
    return checks.length > 0 || proof === 'required';
  } catch (error) {
    if (error instanceof RunFailed) return true;
    throw error;
  }
}

interface Now {
  status: PullStatus;
  headSha: string;
  /** See `isStillUnready`. */
  isStill: boolean;
  /** It has moved to another base, and needs checks or a proof for it. */
  isUnproved: boolean;
  /** What merged its base into its branch since its head was read. */
  merge: Merge | undefined;
}

/** Returns the commit with which a pull request may not be merged from now on. */
export function unreadyAfter(
  before: Pick<PullRequestRow, 'status' | 'unreadySha'>,
  { status, headSha, isStill, isUnproved, merge }: Now,
): string | null {
  if (isUnproved) return merge?.to ?? headSha;
  const unready = isStill ? headSha : before.unreadySha;
  // A person may decide that a draft is ready although its commit was not checked.
  if (before.status === 'draft' && status === 'open' && unready === headSha) return null;
  // Our own merge of the base makes nothing ready.
  return merge !== undefined && unready !== null && unready === merge.from ? merge.to : unready;
}
