import type { App } from '../../app.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { octokitFor } from '../../repositories/credentials.ts';
import type { PullAsk, ReviewNote } from '../../runs/reviewing/store.ts';
import { type CommentPlace, isOurs } from '../../runs/reviewing/summary-comment.ts';
import type { Work } from '../work.ts';
import { noteText, quotedNote, reviewMarker } from './review-texts.ts';

/** Returns where the comments about a pull request go. */
export async function placeOfPull(app: App, { credential, signal }: Work, number: number): Promise<CommentPlace> {
  const octokit = await octokitFor(app, credential);
  if (credential.kind === 'none') throw new Error('unreachable: octokitFor throws without a credential');
  return { credential, octokit, name: { owner: credential.owner, repo: credential.repo }, number, signal };
}

/**
 * Posts the comments of a run as one review, once. A worker that was stopped after GitHub took it finds it again. A review
 * only comments: it neither approves nor requests changes. Without comments on lines there is none, because it would say
 * nothing that the summary does not.
 */
export async function postReview(app: App, work: Work, ask: PullAsk, notes: ReviewNote[]): Promise<void> {
  if (notes.length === 0) return;
  const place = await placeOfPull(app, work, ask.number);
  if (await isPosted(app, place, work.run.id)) return;
  const prefix = app.config.COMMAND_PREFIX;
  const head = [reviewMarker(work.run.id), reviewHead(notes.length, ask.headSha)];
  const send = (inline: ReviewNote[], commit: string | undefined) =>
    place.octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
      ...place.name,
      pull_number: ask.number,
      event: 'COMMENT',
      body: [
        ...head,
        ...notes.filter((note) => !inline.includes(note)).flatMap((note) => quotedNote(note, prefix)),
      ].join('\n'),
      ...(commit === undefined ? {} : { commit_id: commit }),
      comments: inline.map((note) => ({
        path: note.path,
        line: note.line,
        side: note.side,
        body: noteText(note, prefix),
      })),
      request: { signal: work.signal },
    });
  await send(notes, ask.headSha).catch(async (error) => {
    // GitHub refuses the whole review if it does not show one of the lines, or if a push by force removed the commit.
    if (!isRefusedWith(error, 422)) throw error;
    await work.journal.note('review', 'GitHub does not show all of these lines, so the review quotes them');
    await send([], undefined);
  });
}

function reviewHead(comments: number, head: string): string {
  return `${comments} ${comments === 1 ? 'comment' : 'comments'} on ${head.slice(0, 7)}. The summary is in a comment on the pull request.`;
}

async function isPosted(
  app: App,
  { credential, octokit, name, number }: CommentPlace,
  runId: string,
): Promise<boolean> {
  const isOwn = await isOurs(app, credential);
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
  const pages = octokit.paginate.iterator(path, { ...name, pull_number: number, per_page: 100 });
  const marker = reviewMarker(runId);
  for await (const { data } of pages)
    if (data.some((review) => isOwn(review) && review.body.startsWith(marker))) return true;
  return false;
}
