import { z } from 'zod';
import type { App } from '../app.ts';
import type { TaskRow } from '../db/tables/task.ts';
import { Refused } from '../domain/machine.ts';
import { oneLine } from '../domain/text/sanitize.ts';
import type { RepoName } from '../git/remote-url.ts';
import { pauseAsked } from '../outgoing/github-errors.ts';
import { httpStatusOf, type Place, placeOfRepository } from './app/place.ts';
import type { GivenCommand } from './given-command.ts';
import { findPullsByGitHub } from './store.ts';

const Pull = z.object({
  number: z.int().positive(),
  url: z.url({ protocol: /^https?$/ }),
  state: z.string(),
  author: z.object({ __typename: z.string(), login: z.string() }).nullable(),
  repository: z.object({ databaseId: z.number(), nameWithOwner: z.string(), isPrivate: z.boolean() }),
});
/** A node that this App may not read is null. One that is no pull request is an empty object. */
const PullNode = Pull.nullable().catch(null);
const Answer = z.object({
  repository: z.object({
    issue: z.object({
      closedByPullRequestsReferences: z.object({ nodes: z.array(PullNode).max(50) }),
      timelineItems: z.object({
        nodes: z.array(z.object({ willCloseTarget: z.boolean(), source: PullNode }).nullable().catch(null)).max(100),
      }),
    }),
  }),
});

/** Pull requests that somebody linked by hand are in the first list only, and those that mention the issue in the second. */
const query = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    issue(number: $number) {
      closedByPullRequestsReferences(first: 50, includeClosedPrs: false) { nodes { ...pull } }
      timelineItems(itemTypes: [CROSS_REFERENCED_EVENT], last: 100) {
        nodes { ... on CrossReferencedEvent { willCloseTarget source { ...pull } } }
      }
    }
  }
}
fragment pull on PullRequest {
  number url state
  author { __typename login }
  repository { databaseId nameWithOwner isPrivate }
}`;

/** The fields of another pull request that may do the work of an issue. */
export const OtherWork = z
  .object({
    repositoryName: z.string().meta({ description: 'the full name of its repository', example: 'acme/shop' }),
    number: z.int(),
    url: z.string(),
    author: z.string().nullable().meta({ description: 'a login; null for a deleted account' }),
    closes: z.boolean().meta({ description: 'whether it would close the issue; otherwise it mentions it' }),
  })
  .meta({ id: 'OtherWork' });

/**
 * Lists the open pull requests that close or mention the issue of a task, except those of the task. A task without an issue
 * on GitHub has none.
 */
export async function listOtherWork(
  app: App,
  { id, issueRepositoryId, issueNumber }: Pick<TaskRow, 'id' | 'issueRepositoryId' | 'issueNumber'>,
) {
  if (issueRepositoryId === null || issueNumber === null) return [];
  const place = await placeOfRepository(app, issueRepositoryId);
  if (place === undefined) return [];
  const others = await otherPulls(app, place, issueNumber, id);
  return others.map(({ repository, author, number, url, closes }) => ({
    ...{ repositoryName: repository.nameWithOwner, number, url, closes },
    author: author === null ? null : oneLine(author.login, 40),
  }));
}

/** A refusal names at most this many pull requests. */
const maxNamed = 3;

/**
 * Checks that nobody else works on the issue of a command that starts its task: no open pull request closes or mentions
 * the issue, except those of the task.
 * @throws Refused
 */
export async function assertNoOtherWork(
  app: App,
  given: GivenCommand,
  taskId: string | undefined,
  open: OtherPull[],
): Promise<void> {
  const { source, at, repository } = given;
  const others = await withoutOwn(app, open, taskId);
  if (others.length === 0) return;
  const names = others.slice(0, maxNamed).map((pull) => {
    const reference = `${isAt(at.name, pull) ? '' : pull.repository.nameWithOwner}#${pull.number}`;
    const author = pull.author === null ? '' : ` by ${oneLine(pull.author.login, 40)}`;
    // A reference alone would be made harmless, like those in texts of people.
    return `[${reference}](${pull.url})${author} ${pull.closes ? 'would close' : 'mentions'} this issue`;
  });
  const more = others.length > maxNamed ? `, and ${others.length - maxNamed} more` : '';
  app.log.info({ repositoryId: repository.id, issue: source.issue.number }, 'an open pull request held up a start');
  throw new Refused(
    `Somebody may be working on this already. Open pull requests: ${names.join(', ')}${more}. To start all the same, write \`${app.config.COMMAND_PREFIX} start anyway\`.`,
  );
}

/**
 * Lists the open pull requests that close or mention the issue of a command. A pull request has none.
 * @throws GitHub's error, if it may answer next time
 */
export async function openPullsOf({ source, at }: GivenCommand): Promise<OtherPull[]> {
  return source.issue.isPull ? [] : openPullsFor(at, source.issue.number);
}

/** Finds the pull request of this App among them that closes the issue and that no task knows. Returns its number. */
export async function findUnknownPull(app: App, { at }: GivenCommand, open: OtherPull[]): Promise<number | undefined> {
  for (const pull of open) {
    // GraphQL names a bot without the `[bot]` that it has in REST.
    const slug = pull.author?.__typename === 'Bot' ? pull.author.login.replace(/\[bot\]$/, '') : undefined;
    if (!pull.closes || !isAt(at.name, pull) || slug === undefined || slug !== (await app.github?.slug())) continue;
    const known = await findPullsByGitHub(app.db.manager, pull.repository.databaseId, pull.number);
    if (known.length === 0) return pull.number;
  }
  return undefined;
}

export interface OtherPull extends z.infer<typeof Pull> {
  closes: boolean;
}

type At = Pick<Place, 'octokit' | 'name'>;

const isAt = ({ owner, repo }: RepoName, { repository }: z.infer<typeof Pull>) =>
  repository.nameWithOwner.toLowerCase() === `${owner}/${repo}`.toLowerCase();

/** Lists open pull requests for an issue, except those of a task. If GitHub refuses to say, there are none. */
async function otherPulls(app: App, at: At, number: number, taskId: string): Promise<OtherPull[]> {
  return withoutOwn(app, await openPullsFor(at, number), taskId);
}

async function withoutOwn(app: App, open: OtherPull[], taskId: string | undefined): Promise<OtherPull[]> {
  const others: OtherPull[] = [];
  for (const pull of open) {
    const known = await findPullsByGitHub(app.db.manager, pull.repository.databaseId, pull.number);
    if (taskId === undefined || known.every((each) => each.taskId !== taskId)) others.push(pull);
  }
  return others;
}

/**
 * Lists open pull requests for an issue. Those of other private repositories are left out, because everybody who sees the
 * issue would see their names. Mentions by bots don't count, because release and dependency bots list many issues.
 */
async function openPullsFor({ octokit, name }: At, number: number): Promise<OtherPull[]> {
  const asked = octokit.graphql(query, { ...name, number });
  const answer = await asked.catch((error: { data?: unknown }) => {
    // An answer of GraphQL that contains errors has no status, and may contain what GitHub could read.
    if (httpStatusOf(error) >= 500 || pauseAsked(error) !== undefined) throw error;
    return error.data;
  });
  const read = Answer.safeParse(answer);
  if (!read.success) return [];
  const { closedByPullRequestsReferences: linked, timelineItems } = read.data.repository.issue;
  const pulls = new Map<string, OtherPull>();
  const add = (pull: z.infer<typeof Pull> | null, closes: boolean) => {
    if (pull === null || pull.state !== 'OPEN') return;
    if (pull.repository.isPrivate && !isAt(name, pull)) return;
    if (!closes && pull.author?.__typename === 'Bot') return;
    const key = `${pull.repository.databaseId}#${pull.number}`;
    pulls.set(key, { ...pull, closes: closes || pulls.get(key)?.closes === true });
  };
  for (const pull of linked.nodes) add(pull, true);
  for (const event of timelineItems.nodes) if (event !== null) add(event.source, event.willCloseTarget);
  return [...pulls.values()];
}
