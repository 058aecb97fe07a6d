import type { App, Octokit } from '../../../app.ts';
import type { RepoName } from '../../../git/remote-url.ts';
import { isRefusedWith } from '../../../outgoing/github-errors.ts';

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

const query = `query ($owner: String!, $repo: String!, $sha: GitObjectID!) {
  repository(owner: $owner, name: $repo) {
    object(oid: $sha) {
      ... on Commit {
        author { email }
        signature { isValid wasSignedByGitHub }
        parents(first: 3) { nodes { oid } }
      }
    }
  }
}`;

interface Answer {
  repository: {
    object: {
      author?: { email: string | null } | null;
      signature?: { isValid: boolean; wasSignedByGitHub: boolean } | null;
      parents?: { nodes: ({ oid: string } | null)[] | null };
    } | null;
  } | null;
}

/**
 * Returns whether a commit is what "Update branch" makes of another one when the App presses it: a merge with a commit of the
 * base branch, made and signed by GitHub for our bot. What such a merge contains nobody chose; a merge that somebody
 * pushed may contain anything.
 */
export async function isOwnUpdate(
  app: App,
  octokit: Octokit,
  name: RepoName,
  { from, to, base }: { from: string; to: string; base: string },
): Promise<boolean> {
  const bot = await app.github?.bot();
  if (bot === undefined) return false;
  const commit = (await octokit.graphql<Answer>(query, { ...name, sha: to })).repository?.object;
  const [first, second, third] = (commit?.parents?.nodes ?? []).map((parent) => parent?.oid);
  const { isValid, wasSignedByGitHub } = commit?.signature ?? {};
  const isMade = isValid === true && wasSignedByGitHub === true && first === from;
  const isOurs = commit?.author?.email?.startsWith(`${bot.id}+${bot.login}@`) === true;
  if (!isMade || !isOurs || second === undefined || third !== undefined) return false;
  const basehead = `${base}...${second}`;
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...name, basehead });
  return data.status === 'behind' || data.status === 'identical';
}
