import { z } from 'zod';
import type { Octokit } from '../app.ts';
import type { RepoName } from '../git/remote-url.ts';
import { lastPage } from '../outgoing/smaller-pages.ts';

/** GitHub lists at most 100 items on a page. Later pages are read up to this number. */
const maxPages = 10;
const pageSize = 100;

/** The items that were read, and whether there may be more of them. */
interface Listed<T> {
  items: T[];
  isCut: boolean;
}

/** Lists at most 1,000 items, page by page. For responses that Octokit does not paginate, and where it would read all. */
export async function listPages<T>(
  read: (page: { per_page: number; page: number }) => Promise<T[]>,
): Promise<Listed<T>> {
  const items: T[] = [];
  for (let page = 1; page <= maxPages; page++) {
    const found = await read({ per_page: pageSize, page });
    items.push(...found);
    if (found.length < pageSize) return { items, isCut: false };
  }
  return { items, isCut: true };
}

/** Lists the newest 1,000 items, oldest first. For what GitHub lists only with the oldest first. */
export async function listNewest<T>(
  read: (page: { per_page: number; page: number }) => Promise<{ data: T[]; headers: { link?: string | undefined } }>,
): Promise<Listed<T>> {
  const first = await read({ per_page: pageSize, page: 1 });
  const last = lastPage(first.headers);
  const isCut = last > maxPages;
  const items = isCut ? [] : [...first.data];
  for (let page = isCut ? last - maxPages + 1 : 2; page <= last; page++)
    items.push(...(await read({ per_page: pageSize, page })).data);
  return { items, isCut };
}

/** An open pull request as a list shows it. */
export interface ListedPull {
  number: number;
  headSha: string;
  /** The branch into which it is to be merged. */
  base: string;
  updatedAt: string;
  /** Whether it comes from a fork. */
  isFork: boolean;
}

const openPulls = `query ($owner: String!, $repo: String!, $base: String, $after: String) {
  repository(owner: $owner, name: $repo) {
    pullRequests(
      states: OPEN, baseRefName: $base, first: ${pageSize}, after: $after, orderBy: { field: CREATED_AT, direction: DESC }
    ) {
      nodes { number headRefOid baseRefName updatedAt isCrossRepository }
      pageInfo { hasNextPage endCursor }
    }
  }
}`;

const OpenPulls = z.object({
  repository: z.object({
    pullRequests: z.object({
      nodes: z.array(
        z
          .object({
            ...{ number: z.number(), headRefOid: z.string(), baseRefName: z.string(), updatedAt: z.string() },
            isCrossRepository: z.boolean(),
          })
          .nullable(),
      ),
      pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
    }),
  }),
});

/**
 * Lists the open pull requests of a repository or of one base branch, the newest first, at most 1,000. It uses GraphQL, whose pages
 * begin after the last item: those of the REST API are cut by position, so one can be missed when another is closed between two
 * pages. GraphQL also leaves out the texts, which strangers can make long.
 * @throws GraphqlResponseError, ZodError
 */
export async function listOpenPulls(octokit: Octokit, name: RepoName, base?: string): Promise<ListedPull[]> {
  const found: ListedPull[] = [];
  let after: string | null = null;
  for (let page = 1; page <= maxPages; page++) {
    const answer: unknown = await octokit.graphql(openPulls, { ...name, base: base ?? null, after });
    const { nodes, pageInfo } = OpenPulls.parse(answer).repository.pullRequests;
    for (const node of nodes)
      if (node !== null)
        found.push({
          ...{ number: node.number, headSha: node.headRefOid },
          ...{ base: node.baseRefName, updatedAt: node.updatedAt, isFork: node.isCrossRepository },
        });
    after = pageInfo.endCursor;
    if (!pageInfo.hasNextPage || after === null) break;
  }
  return found;
}

/** Lists the latest status of each context of a commit. */
export function listStatuses(octokit: Octokit, at: RepoName & { ref: string; request?: { signal: AbortSignal } }) {
  const path = 'GET /repos/{owner}/{repo}/commits/{ref}/status';
  return listPages(async (page) => (await octokit.request(path, { ...at, ...page })).data.statuses);
}

/** Lists the latest check run of each name on a commit. */
export function listCheckRuns(octokit: Octokit, at: RepoName & { ref: string; request?: { signal: AbortSignal } }) {
  const path = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
  const read = (page: object) => octokit.request(path, { ...at, filter: 'latest', ...page });
  return listPages(async (page) => (await read(page)).data.check_runs);
}

/**
 * Yields the items of a paged response from GitHub. Holds one page in memory at a time, because all pages together may
 * be hundreds of megabytes.
 */
export async function* itemsOf<T>(pages: AsyncIterable<{ data: T[] }>): AsyncIterable<T> {
  for await (const { data } of pages) yield* data;
}

/** Finds the first item that matches. Reads no page after the one that contains it. */
export async function findItem<T>(
  pages: AsyncIterable<{ data: T[] }>,
  fits: (item: T) => boolean | undefined,
): Promise<T | undefined> {
  for await (const item of itemsOf(pages)) if (fits(item)) return item;
  return undefined;
}
