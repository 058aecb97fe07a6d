import { gitIn } from './git/git-objects.ts';

interface Around {
  /** When the body and the title of issues and pull requests were edited, by their path. */
  edits: Map<string, { body?: string; title?: string }>;
  folderOf(name: string): string | undefined;
  call(method: string, path: string, authorization: string): Promise<Response>;
}

interface Issue {
  number: number;
  title: string;
  body: string | null;
  created_at: string;
  pull_request?: object;
}

interface Pull extends Issue {
  merged_at: string | null;
}

/** What a GraphQL query of the service asks about a commit of the past, or about an issue that its message names. */
interface Variables {
  owner: string;
  repo: string;
  sha?: string;
  number?: number;
}

const closing = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?) #(\d+)/gi;

/** Answers which pull requests a commit was merged with, or what an issue or pull request says, and how that was edited. */
export async function readHistory(
  around: Around,
  { authorization, body }: { authorization: string; body: string },
): Promise<{ status: number; json: unknown }> {
  const { owner, repo, sha, number } = JSON.parse(body).variables as Variables;
  const name = `${owner}/${repo}`;
  const read = async <T>(path: string) => {
    const answer = await around.call('GET', `/repos/${name}/${path}`, authorization);
    return answer.ok ? ((await answer.json()) as T) : undefined;
  };
  const said = ({ number: n, title, body: text, created_at: createdAt }: Issue) => {
    const edited = {
      ...around.edits.get(`/repos/${name}/pulls/${n}`),
      ...around.edits.get(`/repos/${name}/issues/${n}`),
    };
    const renamed = edited.title === undefined ? [] : [{ createdAt: edited.title, previousTitle: title }];
    const nodes = { timelineItems: { nodes: renamed } };
    return { number: n, title, body: text ?? '', createdAt, lastEditedAt: edited.body ?? null, ...nodes };
  };
  const pullOf = async (n: number, oid?: string) => {
    const pull = await read<Pull>(`pulls/${n}`);
    if (pull === undefined) return null;
    const closed = [...(pull.body ?? '').matchAll(closing)].map(([, issue]) => read<Issue>(`issues/${issue}`));
    const nodes = (await Promise.all(closed)).flatMap((issue) =>
      issue === undefined ? [] : [{ ...said(issue), repository: { nameWithOwner: name } }],
    );
    const mergeCommit = oid === undefined || pull.merged_at === null ? null : { oid };
    return { ...said(pull), mergedAt: pull.merged_at, mergeCommit, closingIssuesReferences: { nodes } };
  };
  const answer = (repository: object) => ({ status: 200, json: { data: { repository } } });
  if (sha === undefined) {
    const issue = await read<Issue>(`issues/${number}`);
    if (issue === undefined) return answer({ issueOrPullRequest: null });
    if (issue.pull_request === undefined)
      return answer({ issueOrPullRequest: { __typename: 'Issue', ...said(issue) } });
    return answer({ issueOrPullRequest: { __typename: 'PullRequest', ...(await pullOf(issue.number)) } });
  }
  const message = await gitIn(around.folderOf(name) ?? '', ['show', '-s', '--format=%s', sha]).catch(() => undefined);
  if (message === undefined) return answer({ object: null });
  // The emulator's merges name their pull request in the title of the commit.
  const [, merged] = /\(#(\d+)\)\s*$/.exec(message.toString('utf8')) ?? [];
  const pull = merged === undefined ? null : await pullOf(Number(merged), sha);
  return answer({ object: { associatedPullRequests: { nodes: pull?.mergedAt ? [pull] : [] } } });
}

const pageSize = 100;

interface Asking {
  ask(method: string, path: string, authorization: string): Promise<{ status: number; text: string }>;
  rare: { forks: Set<number> };
}

interface ListedPull {
  number: number;
  state: string;
  merged?: boolean;
  head: { sha: string };
  base: { ref: string };
  updated_at: string;
}

/**
 * Handles a GraphQL query of the service: a page of the open pull requests, the newest first. A cursor names the last one of the
 * page before, as GitHub's do, so that nothing is left out when others are closed in between.
 */
export async function listOpenPulls(
  { ask, rare }: Asking,
  { authorization, body }: { authorization: string; body: string },
): Promise<{ status: number; json: unknown }> {
  const { owner, repo, base, after } = JSON.parse(body).variables as Record<string, string | null>;
  const open: ListedPull[] = [];
  for (let page = 1; ; page++) {
    const path = `/repos/${owner}/${repo}/pulls?state=open&per_page=${pageSize}&page=${page}`;
    const { status, text } = await ask('GET', path, authorization);
    if (status === 404) {
      const message = `Could not resolve to a Repository with the name '${owner}/${repo}'.`;
      const error = { type: 'NOT_FOUND', path: ['repository'], locations: [{ line: 2, column: 3 }], message };
      return { status: 200, json: { data: { repository: null }, errors: [error] } };
    }
    if (status !== 200) return { status, json: JSON.parse(text) };
    const found = JSON.parse(text) as ListedPull[];
    open.push(...found);
    if (found.length < pageSize) break;
  }
  const last = after == null ? Number.POSITIVE_INFINITY : Number(Buffer.from(after, 'base64').toString('utf8'));
  const left = open
    .filter((pull) => pull.number < last && (base == null || pull.base.ref === base))
    .sort((a, b) => b.number - a.number);
  const nodes = left.slice(0, pageSize).map((pull) => ({
    ...{ number: pull.number, headRefOid: pull.head.sha },
    ...{ baseRefName: pull.base.ref, updatedAt: pull.updated_at },
    // The emulator knows no forks but those that are played.
    isCrossRepository: rare.forks.has(pull.number),
  }));
  const end = nodes.at(-1);
  const endCursor = end === undefined ? null : Buffer.from(String(end.number)).toString('base64');
  const pageInfo = { hasNextPage: left.length > pageSize, endCursor };
  return { status: 200, json: { data: { repository: { pullRequests: { nodes, pageInfo } } } } };
}

/** Handles a GraphQL query of the service: some pull requests by their numbers. Those that are missing are errors beside the others. */
export async function readPulls(
  { ask }: Asking,
  { authorization, body }: { authorization: string; body: string },
): Promise<{ status: number; json: unknown }> {
  const { query, variables } = JSON.parse(body) as { query: string; variables: { owner: string; repo: string } };
  const repository: Record<string, object | null> = {};
  const errors: object[] = [];
  for (const [, key = '', number] of query.matchAll(/\b(p\d+): pullRequest\(number: (\d+)\)/g)) {
    const path = `/repos/${variables.owner}/${variables.repo}/pulls/${number}`;
    const { status, text } = await ask('GET', path, authorization);
    if (status === 200) {
      const pull = JSON.parse(text) as ListedPull;
      const state = pull.merged ? 'MERGED' : pull.state.toUpperCase();
      const refs = { headRefOid: pull.head.sha, baseRefName: pull.base.ref };
      repository[key] = { number: pull.number, state, ...refs };
    } else if (status === 404) {
      repository[key] = null;
      const message = `Could not resolve to a PullRequest with the number of ${number}.`;
      errors.push({ type: 'NOT_FOUND', path: ['repository', key], locations: [{ line: 1, column: 1 }], message });
    } else return { status, json: JSON.parse(text) };
  }
  return { status: 200, json: { data: { repository }, ...(errors.length === 0 ? {} : { errors }) } };
}
