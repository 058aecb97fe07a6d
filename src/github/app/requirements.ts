import type { Octokit } from '../../app.ts';
import type { OwnedFiles } from '../../domain/text/code-owners.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { graphqlRefusal } from '../../errors.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { apart } from '../../threads/apart.ts';
import { OverLimit } from '../../threads/start-thread.ts';
import { listPages } from '../paginate.ts';

type At = RepoName & { request: { signal: AbortSignal } };

/** What the base branch of a pull request requires. Nothing is known where GitHub does not say. */
export interface Requirements {
  /** Names of checks and contexts of statuses that must pass. */
  checks: Set<string>;
  /** Those of them that rules name, whether they have reported or not. */
  named: string[];
  /** What the reviews amount to; null where none is required. */
  review: 'required' | 'approved' | 'changes_requested' | null;
  /** Whether a review by code owners is required. */
  needsOwners: boolean;
}

const query = `query ($owner: String!, $repo: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      reviewDecision
      commits(last: 1) { nodes { commit { statusCheckRollup { contexts(first: 100, after: $after) {
        nodes {
          ... on CheckRun { name isRequired(pullRequestNumber: $number) }
          ... on StatusContext { context isRequired(pullRequestNumber: $number) }
        }
        pageInfo { hasNextPage endCursor }
      } } } } }
    }
  }
}`;

interface Context {
  name?: string;
  context?: string;
  isRequired?: boolean;
}

interface Contexts {
  nodes: (Context | null)[] | null;
  pageInfo?: { hasNextPage: boolean; endCursor: string | null };
}

interface Answer {
  repository?: {
    pullRequest?: {
      reviewDecision: 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED' | null;
      commits: { nodes: ({ commit: { statusCheckRollup: { contexts: Contexts } | null } } | null)[] | null };
    } | null;
  } | null;
}

/** More pages of checks than this are not read. Each has 100. */
const maxPages = 10;

/** Reads what reviews amount to, and the checks with what GitHub says of each. Returns undefined where it says nothing. */
async function readPull(octokit: Octokit, variables: object) {
  const read = async (after: string | null) =>
    (await octokit.graphql<Answer | undefined>(query, { ...variables, after }))?.repository?.pullRequest;
  const found: (Context | null)[] = [];
  for (let page = 1, after: string | null = null; ; page++) {
    const pull = await read(after);
    if (!pull) return undefined;
    const contexts = pull.commits.nodes?.[0]?.commit.statusCheckRollup?.contexts;
    found.push(...(contexts?.nodes ?? []));
    after = contexts?.pageInfo?.hasNextPage ? contexts.pageInfo.endCursor : null;
    if (after === null || page === maxPages) return { reviewDecision: pull.reviewDecision, contexts: found };
  }
}

const decisions = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  REVIEW_REQUIRED: 'required',
} as const;

/** Reads what the base branch requires, usually with two requests. */
export async function readRequirements(
  octokit: Octokit,
  { request, ...name }: At,
  { number, base }: { number: number; base: string },
): Promise<Requirements> {
  const path = 'GET /repos/{owner}/{repo}/rules/branches/{branch}';
  const readRules = async (page: object): Promise<BranchRule[]> => {
    const { data } = await octokit.request(path, { ...name, branch: base, ...page, request });
    return Array.isArray(data) ? (data as BranchRule[]) : [];
  };
  const [pull, rules] = await Promise.all([
    readPull(octokit, { ...name, number, request }).catch(unlessRefused),
    listPages(readRules).then(({ items }) => items, unlessRefused),
  ]);
  const nameOf = (each: Context | null) => oneLine(each?.name ?? each?.context ?? '', 100);
  const required = (pull?.contexts ?? []).filter((each) => each?.isRequired === true).map(nameOf);
  const wanted = (rules ?? []).flatMap(({ parameters }) => parameters?.required_status_checks ?? []);
  const named = [...new Set(wanted.map(({ context }) => oneLine(context, 100)))];
  return {
    checks: new Set([...required, ...named]),
    named,
    review: pull?.reviewDecision ? decisions[pull.reviewDecision] : null,
    needsOwners: (rules ?? []).some(({ parameters }) => parameters?.require_code_owner_review === true),
  };
}

interface BranchRule {
  parameters?: { required_status_checks?: { context: string }[]; require_code_owner_review?: boolean };
}

/** Older servers and narrower tokens do not answer these questions. */
function unlessRefused(error: Error): undefined {
  if (graphqlRefusal(error) !== undefined || isRefusedWith(error, 403, 404)) return undefined;
  throw error;
}

/** More changed files than this are not matched. */
const maxFiles = 1000;
/** Teams and reviewers that are asked about. */
const maxQuestions = 10;

interface About {
  number: number;
  base: string;
  /** Logins of those who approved. */
  approvers: string[];
}

/**
 * Returns the code owners whose review of a pull request is missing, with their files; null where that is not known. Any
 * owner of a file is enough.
 */
export async function missingOwners(octokit: Octokit, at: At, about: About): Promise<OwnedFiles[] | null> {
  const text = await readCodeOwners(octokit, { ...at, ref: about.base });
  if (text === undefined) return [];
  if (text === 'too large') return null;
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/files';
  const read = (page: object) => octokit.request(path, { ...at, pull_number: about.number, ...page });
  const { items, isCut } = await listPages(async (page) => (await read(page)).data);
  if (isCut || items.length > maxFiles) return null;
  const groups = await matchOwners(text, [...new Set(items.map(({ filename }) => filename))]);
  if (groups === undefined) return null;
  const missing: OwnedFiles[] = [];
  let questions = 0;
  for (const group of groups) {
    const isReviewed = await someAsync(group.owners, (owner) =>
      someAsync(about.approvers, async (login) => {
        if (owner.toLowerCase() === `@${login.toLowerCase()}`) return true;
        return /^@[^/]+\/./.test(owner) && questions++ < maxQuestions && isMember(octokit, at, owner, login);
      }),
    );
    if (!isReviewed) missing.push(group);
  }
  return missing;
}

async function isMember(octokit: Octokit, { request }: At, owner: string, username: string): Promise<boolean> {
  const [org = '', team_slug = ''] = owner.slice(1).split('/');
  const path = 'GET /orgs/{org}/teams/{team_slug}/memberships/{username}';
  return octokit.request(path, { org, team_slug, username, request }).then(
    ({ data }) => data.state === 'active',
    (error) => {
      if (isRefusedWith(error, 403, 404)) return false;
      throw error;
    },
  );
}

async function someAsync<T>(all: T[], test: (each: T) => Promise<boolean>): Promise<boolean> {
  for (const each of all) if (await test(each)) return true;
  return false;
}

/** Where GitHub looks for the file, in this order. It uses the first one. */
const places = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'];
/** Larger files are not read. GitHub reads up to 3 MB. */
const maxBytes = 256 * 1024;

/** Ordinary files take milliseconds. A pattern can be written so that matching takes forever. */
const matcher = apart<typeof import('../../domain/text/code-owners.ts')>(
  new URL('../../domain/text/code-owners.ts', import.meta.url),
  { seconds: 2, heapMb: 128 },
);

/** Reads the CODEOWNERS file of a branch. Returns undefined when there is none, and `too large` beyond 256 kB. */
async function readCodeOwners(octokit: Octokit, at: At & { ref: string }): Promise<string | 'too large' | undefined> {
  for (const path of places) {
    const file = await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at, path }).then(
      ({ data }) => data,
      (error) => {
        if (isRefusedWith(error, 403, 404)) return undefined;
        throw error;
      },
    );
    if (file === undefined || !('content' in file)) continue;
    if (file.encoding !== 'base64' || file.size > maxBytes) return 'too large';
    return Buffer.from(file.content, 'base64').toString('utf8');
  }
  return undefined;
}

/** Returns the owners of files, in groups; undefined when there are too many patterns, or matching takes too long. */
async function matchOwners(text: string, paths: string[]): Promise<OwnedFiles[] | undefined> {
  return matcher.call('ownersOf', text, paths).catch((error) => {
    if (error instanceof OverLimit) return undefined;
    throw error;
  });
}
