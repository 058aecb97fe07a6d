import type { App, Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { type Place, placeOfRepository, readRepository } from '../app/place.ts';
import { eachThenFail } from '../each-apart.ts';
import { itemsOf } from '../paginate.ts';
import { listUnansweredReviews, markAnswered } from '../store.ts';

/** The first line of our reply in a review thread. It prevents a second reply to the same review. */
const answerMarker = (reviewId: number) => `<!-- deckhand:answer ${reviewId} -->`;

/**
 * Replies in the threads of the reviews that a run has worked on, and requests another review from each reviewer, once.
 */
export async function answerReviews(app: App, taskId: string): Promise<void> {
  await eachThenFail(await listUnansweredReviews(app.db.manager, taskId), async ({ id, cause, headSha }) => {
    const [, repositoryId = '', number = '', reviewId = ''] = cause.split('/');
    const place = await placeOfRepository(app, repositoryId);
    if (place !== undefined)
      try {
        await answerThreads(app, place, Number(number), Number(reviewId), headSha);
        await askAgain(place.octokit, { ...place.name, pull_number: Number(number) }, Number(reviewId));
      } catch (error) {
        // The pull request or the review was deleted, or the reviewer can no longer be asked.
        if (!isRefusedWith(error, 403, 404, 422)) throw error;
        if ((await readRepository(place)) === undefined) return;
      }
    await markAnswered(app.db.manager, id);
  });
}

/** Replies once in each thread in which the review has a comment. GitHub takes replies to a thread's first comment only. */
export async function answerThreads(
  app: App,
  { octokit, name }: Place,
  number: number,
  reviewId: number,
  headSha: string,
) {
  const at = { ...name, pull_number: number };
  const bot = await app.github?.bot();
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments';
  const firstOf = new Map<number, number>();
  const [answered, asked] = [new Set<number>(), new Set<number>()];
  for await (const comment of itemsOf(octokit.paginate.iterator(path, { ...at, per_page: 100 }))) {
    const before = comment.in_reply_to_id;
    const first = before === undefined || before === null ? comment.id : (firstOf.get(before) ?? before);
    firstOf.set(comment.id, first);
    const isAnswer = comment.user?.id === bot?.id && comment.body.startsWith(answerMarker(reviewId));
    if (isAnswer) answered.add(first);
    else if (comment.pull_request_review_id === reviewId) asked.add(first);
  }
  const body = `${answerMarker(reviewId)}\nAddressed in ${headSha}.`;
  for (const comment_id of asked) {
    if (answered.has(comment_id)) continue;
    const reply = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies';
    await octokit.request(reply, { ...at, comment_id, body }).catch((error) => {
      // The comment was deleted or the conversation locked. The other threads still get their replies.
      if (!isRefusedWith(error, 403, 404, 422)) throw error;
    });
  }
}

/** Requests another review from the author of a review, under their current login. */
async function askAgain(octokit: Octokit, at: RepoName & { pull_number: number }, reviewId: number) {
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}';
  const { user: reviewer } = (await octokit.request(path, { ...at, review_id: reviewId })).data;
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at);
  if (reviewer === null || data.requested_reviewers?.some((user) => user.id === reviewer.id)) return;
  await octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers', {
    ...at,
    reviewers: [reviewer.login],
  });
}
