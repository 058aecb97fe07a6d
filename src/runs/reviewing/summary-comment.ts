import type { App, Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';

/** The first line of the comment on a pull request that sums up our reviews. Every review edits the same comment. */
const summaryMarker = '<!-- deckhand:review-summary -->';

/** Where a comment of ours is. */
export interface CommentPlace {
  octokit: Octokit;
  name: RepoName;
  number: number;
  /** Aborts the requests. */
  signal?: AbortSignal | undefined;
}

/** Returns whether a text is ours. A project with its own git token has no bot, so there the marker must do. */
export async function isOurs(app: App): Promise<(text: { user?: { id: number | bigint } | null }) => boolean> {
  const bot = await app.github?.bot().catch(() => undefined);
  return ({ user }) => bot === undefined || Number(user?.id) === bot.id;
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

async function findSummary(app: App, { octokit, name, number }: CommentPlace) {
  const isOwn = await isOurs(app);
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const pages = octokit.paginate.iterator(path, { ...name, issue_number: number, per_page: 100 });
  for await (const { data } of pages)
    for (const comment of data)
      if (comment.body?.startsWith(summaryMarker) && isOwn(comment))
        return { id: Number(comment.id), body: comment.body };
  return undefined;
}
