import type { App, Octokit } from '../../../app.ts';
import type { RepoName } from '../../../git/remote-url.ts';
import { isRefusedWith } from '../../../outgoing/github-errors.ts';
import { isAddressOf } from '../../../repositories/pulls.ts';

interface Head {
  number: number;
  headSha: string;
}

/**
 * Merges the base branch into a pull request whose head is still this commit, as "Update branch" on GitHub does. GitHub
 * does it a moment later. Returns false when GitHub refuses, because the two conflict, the head is another one now, or
 * nothing is missing.
 */
export async function updateBranch(octokit: Octokit, name: RepoName, { number, headSha }: Head): Promise<boolean> {
  const path = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/update-branch';
  try {
    await octokit.request(path, { ...name, pull_number: number, expected_head_sha: headSha });
    return true;
  } catch (error) {
    if (isRefusedWith(error, 403, 409, 422)) return false;
    throw error;
  }
}

const query = `query ($owner: String!, $repo: String!, $sha: GitObjectID!, $base: String!) {
  repository(owner: $owner, name: $repo) {
    ref(qualifiedName: $base) { target { oid } }
    object(oid: $sha) {
      ... on Commit {
        message
        author { email }
        committer { name email }
        signature { isValid wasSignedByGitHub }
        parents(first: 3) { nodes { oid } }
      }
    }
  }
}`;

interface Answer {
  repository: {
    ref: { target: { oid: string } | null } | null;
    object: {
      message?: string;
      author?: { email: string | null } | null;
      committer?: { name: string | null; email: string | null } | null;
      signature?: { isValid: boolean; wasSignedByGitHub: boolean } | null;
      parents?: { nodes: ({ oid: string } | null)[] | null };
    } | null;
  } | null;
}

/** The commits of an update: the agreed one and the new one. `base` and `head` are the names of the branches. */
interface Update {
  from: string;
  to: string;
  base: string;
  head: string;
}

/**
 * Returns whether a commit is what "Update branch" makes of another one when the App presses it: a merge with a commit of the
 * base branch, made and signed by GitHub for our bot, with GitHub's message. What such a merge contains nobody chose; a merge
 * that somebody pushed may contain anything. The App makes commits for agents the same way, but their messages have our
 * trailer `Task:`.
 */
export async function isOwnUpdate(
  app: App,
  octokit: Octokit,
  name: RepoName,
  { from, to, base, head }: Update,
): Promise<boolean> {
  const bot = await app.github?.bot();
  if (bot === undefined) return false;
  // A tag may have the same name as the base branch.
  const asked = { ...name, sha: to, base: `refs/heads/${base}` };
  const { object: commit, ref } = (await octokit.graphql<Answer>(query, asked)).repository ?? {};
  const tip = ref?.target?.oid;
  const [first, second, third] = (commit?.parents?.nodes ?? []).map((parent) => parent?.oid);
  if (tip === undefined || first !== from || second === undefined || third !== undefined) return false;
  const { isValid, wasSignedByGitHub } = commit?.signature ?? {};
  const isSigned = isValid === true && wasSignedByGitHub === true && isOfGitHub(commit?.committer);
  const isOurs = isAddressOf(bot, commit?.author?.email);
  if (!isSigned || !isOurs || commit?.message?.trimEnd() !== `Merge branch '${base}' into ${head}`) return false;
  const basehead = `${tip}...${second}`;
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...name, basehead });
  return data.status === 'behind' || data.status === 'identical';
}

/** GitHub Enterprise Server has another name and another address. */
function isOfGitHub(person: { name: string | null; email: string | null } | null | undefined): boolean {
  return /^GitHub( Enterprise)?$/.test(person?.name ?? '') && person?.email?.startsWith('noreply@') === true;
}
