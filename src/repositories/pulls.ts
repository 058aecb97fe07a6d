import type { Answered, Octokit, PacedRequest } from '../app.ts';
import type { PullStatus } from '../db/tables/task.ts';
import { RunFailed } from '../domain/run.ts';
import type { RepoName } from '../git/remote-url.ts';
import { isRefusedWith } from '../outgoing/github-errors.ts';

export interface OpenedPull {
  number: number;
  url: string;
  status: PullStatus;
  headSha: string;
  /** The branch that it goes to. Hosts that only look like GitHub may leave it out. */
  base?: string | undefined;
}

/** A pull request as GitHub showed it at a time, by its own clock. */
interface EnsuredPull extends OpenedPull {
  seenAt: Date;
}

interface WantedPull {
  owner: string;
  repo: string;
  head: string;
  /** Numbers of pull requests of the branch that we know, the most likely first. */
  known: number[];
  base: string;
  title: string;
  body: string;
  draft: boolean;
  /** Turns an open pull request back into a draft. Otherwise a person's decision that it is ready stays. */
  turnsDraft?: boolean;
  /** Asked right before a draft is marked as ready, because that may wait for its slot. Gets the base that GitHub shows. */
  mayBeReady?: ((base: string | undefined) => Promise<boolean>) | undefined;
  /** Aborted when the calling worker loses the lease of its run. */
  signal?: AbortSignal;
}

/** Says that a repository has pull requests switched off, and what to do. Begins in the middle of a sentence. */
export function pullsOffText({ owner, repo }: RepoName): string {
  return `pull requests are switched off in ${owner}/${repo}. Switch them on in its settings on GitHub, under General > Features`;
}

interface Searching extends RepoName {
  request?: { signal?: AbortSignal };
}

/**
 * Checks that a repository has pull requests. If GitHub does not say it, as older versions of GitHub Enterprise Server, it
 * counts as so.
 * @throws RunFailed `repository` if they are switched off
 */
export async function assertTakesPulls(octokit: Octokit, { owner, repo, request = {} }: Searching): Promise<void> {
  const asked = octokit.request('GET /repos/{owner}/{repo}', { owner, repo, request });
  const known = await asked.then(
    ({ data }) => data,
    () => undefined,
  );
  if (known?.has_pull_requests === false) throw new RunFailed('repository', pullsOffText({ owner, repo }));
}

/** Explains the 404 with which GitHub answers everything about pull requests while they are switched off. */
async function unlessOff<T>(octokit: Octokit, at: Searching, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isRefusedWith(error, 404)) await assertTakesPulls(octokit, at);
    throw error;
  }
}

/**
 * Finds the open pull request of a branch, or creates one. Ignores pull requests from a fork's branch of the same name.
 * If GitHub's response to the creation is lost, calling this again finds the pull request.
 * @throws RunFailed `repository` when the repository has pull requests switched off
 */
export function ensurePull(octokit: Octokit, { signal, ...wanted }: WantedPull): Promise<EnsuredPull> {
  const request = signal === undefined ? {} : { signal };
  return unlessOff(octokit, { ...wanted, request }, () => findOrCreate(octokit, wanted, request));
}

async function findOrCreate(
  octokit: Octokit,
  asked: Omit<WantedPull, 'signal'>,
  request: { signal?: AbortSignal },
): Promise<EnsuredPull> {
  const { turnsDraft: _turns, mayBeReady: _may, known, ...wanted } = asked;
  const place = { ...wanted, known, request };
  const adopt = (pull: FoundPull) => adopted(octokit, pull, asked);
  const found = (await findByNumber(octokit, place)) ?? (await findByHead(octokit, place));
  if (found !== undefined) return adopt(found);
  try {
    const answer = await create(octokit, wanted, request);
    const { number, html_url: url, draft, head } = answer.data;
    const status = draft ? 'draft' : 'open';
    return { number, url, status, headSha: head.sha, base: wanted.base, seenAt: answeredAt(answer) };
  } catch (error) {
    const existing = /pull request already exists/i.test((error as Error).message)
      ? await findAmongAll(octokit, place)
      : undefined;
    if (existing === undefined) throw error;
    return adopt(existing);
  }
}

/** The reason why a draft stays one. */
class NoLongerReady extends Error {}

/** Makes an open pull request a draft, or ready for review, where that is wanted. */
async function adopted(octokit: Octokit, found: FoundPull, wanted: Omit<WantedPull, 'signal'>): Promise<EnsuredPull> {
  const { draft, turnsDraft = false, mayBeReady, owner, repo } = wanted;
  if (found.status === 'draft' && !draft) {
    const rightBefore = async () => {
      const { data } = await octokit.request(onePull, { owner, repo, pull_number: found.number });
      if ((await mayBeReady?.(data.base?.ref)) === false) throw new NoLongerReady();
    };
    return setDraft(octokit, found, false, rightBefore).catch((error) => {
      if (error instanceof NoLongerReady) return found;
      throw error;
    });
  }
  if (found.status === 'open' && turnsDraft)
    try {
      return await setDraft(octokit, found, true);
    } catch (error) {
      if (!isDraftRefused(error)) throw error;
    }
  return found;
}

const noDraft =
  '> [!WARNING]\n> **Not ready to merge.** This pull request should be a draft, but this repository does not support drafts.\n\n';

/** Creates a pull request. Private repositories on GitHub's free plans have no drafts, so a warning takes their place. */
async function create(octokit: Octokit, wanted: Omit<WantedPull, 'known'>, request: { signal?: AbortSignal }) {
  const path = 'POST /repos/{owner}/{repo}/pulls';
  try {
    return await octokit.request(path, { ...wanted, request });
  } catch (error) {
    if (!wanted.draft || !isDraftRefused(error)) throw error;
    return octokit.request(path, { ...wanted, draft: false, body: noDraft + wanted.body, request });
  }
}

/**
 * Returns whether GitHub has no drafts in a repository. Its words are "Draft pull requests are not supported in this
 * repository", over REST with status 422.
 */
export function isDraftRefused(error: unknown): boolean {
  return /draft pull requests are not supported/i.test((error as Error).message);
}

/**
 * Marks a draft as ready for review, or the reverse, which only GitHub's GraphQL API can do.
 * @throws RunFailed `repository` when GitHub's answer does not confirm it
 */
export async function setDraft(
  octokit: Octokit,
  pull: FoundPull,
  isDraft: boolean,
  rightBefore?: () => Promise<void>,
): Promise<EnsuredPull> {
  const act = isDraft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview';
  const mutation = `mutation ($id: ID!) { ${act}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`;
  type Answer = { [act]?: { pullRequest?: { isDraft?: boolean } | null } | null } | undefined;
  // Nothing that waits may hold up that it is no longer ready.
  const request: PacedRequest = { isAhead: isDraft, rightBefore };
  const answer = await octokit.graphql<Answer>(mutation, { id: pull.nodeId, request });
  if (answer?.[act]?.pullRequest?.isDraft !== isDraft)
    throw new RunFailed('repository', `GitHub did not confirm that pull request #${pull.number} changed (${act})`);
  const { number, url, headSha, base, seenAt } = pull;
  return { number, url, headSha, base, seenAt, status: isDraft ? 'draft' : 'open' };
}

export interface FoundPull extends EnsuredPull {
  nodeId: string;
  body: string;
}

interface Searched extends Pick<WantedPull, 'owner' | 'repo' | 'head'> {
  request: { signal?: AbortSignal };
}

interface SearchedPull extends Searched, Pick<WantedPull, 'known'> {}

/**
 * Finds the open pull request of a branch. Ignores pull requests from a fork's branch of the same name. GitHub's filter
 * `head` finds nothing in private forks, or after the owner was renamed, so it is not the only way.
 * @throws RunFailed `repository` when the repository has pull requests switched off
 */
export function findPull(octokit: Octokit, searched: SearchedPull): Promise<FoundPull | undefined> {
  return unlessOff(
    octokit,
    searched,
    async () =>
      (await findByNumber(octokit, searched)) ??
      (await findByHead(octokit, searched)) ??
      (await findAmongAll(octokit, searched)),
  );
}

/** More pull requests of a branch than this are not looked up by their number. */
const maxKnown = 3;

const onePull = 'GET /repos/{owner}/{repo}/pulls/{pull_number}' as const;

async function findByNumber(octokit: Octokit, { owner, repo, head, known, request }: SearchedPull) {
  for (const pull_number of known.slice(0, maxKnown)) {
    const answer = await octokit.request(onePull, { owner, repo, pull_number, request }).catch((error) => {
      if ((error as { status?: number }).status !== 404) throw error;
    });
    if (answer?.data.state === 'open' && isOf(answer.data, head)) return foundIn(answer, answer.data);
  }
  return undefined;
}

async function findByHead(octokit: Octokit, searched: Searched): Promise<FoundPull | undefined> {
  return firstOf(byHead(octokit, searched));
}

async function findAmongAll(octokit: Octokit, searched: Searched): Promise<FoundPull | undefined> {
  return firstOf(openPulls(octokit, searched, { per_page: 100 }));
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}

/**
 * Lists all open pull requests of a branch: GitHub allows one for each base. Ignores those from a fork's branch of the same name.
 * @throws RunFailed `repository` when the repository has pull requests switched off
 */
export function listPullsOfBranch(octokit: Octokit, searched: Searched): Promise<FoundPull[]> {
  return unlessOff(octokit, searched, async () => {
    const found = await allOf(byHead(octokit, searched));
    // See `findPull`.
    return found.length > 0 ? found : allOf(openPulls(octokit, searched, { per_page: 100 }));
  });
}

/** GitHub lists at most 100 pull requests on a page. The newest ones are on the first pages. */
const maxPages = 10;

const byHead = (octokit: Octokit, searched: Searched) =>
  openPulls(octokit, searched, { head: `${searched.owner}:${searched.head}`, per_page: 100 });

/** Finds the open pull requests of a branch among those that GitHub lists, newest first. */
async function* openPulls(
  octokit: Octokit,
  { owner, repo, head, request }: Searched,
  query: { head?: string; per_page: number },
): AsyncGenerator<FoundPull> {
  const path = 'GET /repos/{owner}/{repo}/pulls';
  for (let page = 1; page <= maxPages; page++) {
    const answer = await octokit.request(path, { owner, repo, request, state: 'open', ...query, page });
    for (const pull of answer.data) if (isOf(pull, head)) yield foundIn(answer, pull);
    if (answer.data.length < query.per_page) return;
  }
}

type ListedPull = Answered<'GET /repos/{owner}/{repo}/pulls'>[number];

function isOf({ head, base }: Pick<ListedPull, 'head' | 'base'>, branch: string): boolean {
  return head.ref === branch && head.repo?.id === base.repo.id;
}

type Seen = Pick<
  ListedPull,
  'number' | 'html_url' | 'state' | 'draft' | 'head' | 'base' | 'node_id' | 'body' | 'merged_at'
>;

function foundIn(answer: Parameters<typeof answeredAt>[0], pull: Seen): FoundPull {
  return {
    number: pull.number,
    url: pull.html_url,
    status: pullStatus(pull),
    headSha: pull.head.sha,
    base: pull.base?.ref,
    seenAt: answeredAt(answer),
    nodeId: pull.node_id,
    body: pull.body ?? '',
  };
}

/**
 * Returns when GitHub gave an answer, by the clock that also dates comments. Our clock may differ from it, and the dates of
 * commits are chosen by their authors.
 */
export function answeredAt({ headers }: { headers: { date?: string | undefined } }): Date {
  const at = new Date(headers.date ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? new Date() : at;
}

/** Converts the state of a pull request in GitHub's API to our status. */
export function pullStatus(pull: {
  state: string;
  draft?: boolean | undefined;
  merged?: boolean;
  merged_at?: string | null;
}): PullStatus {
  if (pull.merged || pull.merged_at) return 'merged';
  if (pull.state === 'closed') return 'closed';
  return pull.draft ? 'draft' : 'open';
}

/** Returns whether the address of a commit's author is the one that GitHub gives a bot. Anybody can write it. */
export function isAddressOf(bot: { id: number; login: string }, email: string | null | undefined): boolean {
  return email?.startsWith(`${bot.id}+${bot.login}@`) === true;
}
