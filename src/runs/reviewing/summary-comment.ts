import type { App, Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { type Credential, octokitFor } from '../../repositories/credentials.ts';

/** The first line of the comment on a pull request that sums up our reviews. Every review edits the same comment. */
const summaryMarker = '<!-- deckhand:review-summary -->';

/** Where a comment of ours is. */
export interface CommentPlace {
  /** What `octokit` writes with. */
  credential: Credential;
  octokit: Octokit;
  name: RepoName;
  number: number;
  /** Aborts the requests. */
  signal?: AbortSignal | undefined;
}

/**
 * Returns whether the account that writes with a credential wrote a text. A marker alone does not tell: everybody can copy it.
 * Where GitHub does not say whose a git token is, as with the token of another app, the marker must do.
 */
export async function isOurs(
  app: App,
  credential: Credential,
): Promise<(text: { user?: { id: number | bigint } | null }) => boolean> {
  const writer = await writerWith(app, credential);
  return ({ user }) => writer === undefined || Number(user?.id) === writer;
}

async function writerWith(app: App, credential: Credential): Promise<number | undefined> {
  if (credential.kind !== 'git-token') return (await app.github?.bot())?.id;
  const octokit = await octokitFor(app, credential);
  try {
    return Number((await octokit.request('GET /user')).data.id);
  } catch (error) {
    if (isRefusedWith(error, 401, 403, 404)) return undefined;
    throw error;
  }
}

/** Writes the summary of our reviews: edits the comment if it is there. */
export async function writeSummary(app: App, place: CommentPlace, text: string): Promise<void> {
  const { octokit, name, number, signal } = place;
  const request = signal === undefined ? {} : { request: { signal } };
  const body = `${summaryMarker}\n${text}`;
  const found = await findSummary(app, place);
  if (found === undefined)
    await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...name,
      issue_number: number,
      body,
      ...request,
    });
  else if (found.body !== body)
    await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
      ...name,
      comment_id: found.id,
      body,
      ...request,
    });
}

async function findSummary(app: App, { credential, octokit, name, number }: CommentPlace) {
  const isOwn = await isOurs(app, credential);
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const pages = octokit.paginate.iterator(path, { ...name, issue_number: number, per_page: 100 });
  for await (const { data } of pages)
    for (const comment of data)
      if (comment.body?.startsWith(summaryMarker) && isOwn(comment))
        return { id: Number(comment.id), body: comment.body };
  return undefined;
}
