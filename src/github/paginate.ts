import type { Octokit } from '../app.ts';
import type { RepoName } from '../git/remote-url.ts';

/** GitHub keeps up to 1,000 statuses for each commit and context. */
const maxStatusPages = 10;
const pageSize = 100;

/** Lists the latest status of each context of a commit, at most 1,000. Octokit does not paginate this response. */
export async function listStatuses(
  octokit: Octokit,
  at: RepoName & { ref: string; request?: { signal: AbortSignal } },
) {
  const path = 'GET /repos/{owner}/{repo}/commits/{ref}/status';
  const statuses = [];
  for (let page = 1; page <= maxStatusPages; page++) {
    const { data } = await octokit.request(path, { ...at, per_page: pageSize, page });
    statuses.push(...data.statuses);
    if (data.statuses.length < pageSize) break;
  }
  return statuses;
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
