import type { App, Octokit } from '../../../app.ts';
import { harmless } from '../../../domain/text/sanitize.ts';
import type { RepoName } from '../../../git/remote-url.ts';
import { isRefusedWith } from '../../../outgoing/github-errors.ts';
import { addressedIn, findAnswers, nothingChanged } from '../../../runs/review/store.ts';
import { type Place, placeOfRepository, readRepository } from '../../app/place.ts';
import { type DiffComment, readThreads } from '../../diff/read-threads.ts';
import { answerMarker, reply } from '../../diff/reply.ts';
import { eachThenFail } from '../../each-apart.ts';
import { listUnansweredReviews, markAnswered, type UnansweredRequest } from '../../store.ts';

/**
 * Replies in the threads of the reviews that a run has worked on, and requests another review from each reviewer, once.
 */
export async function answerReviews(app: App, taskId: string): Promise<void> {
  await eachThenFail(await listUnansweredReviews(app.db.manager, taskId), async (asked) => {
    const place = await placeOfRepository(app, asked.cause.split('/')[1] ?? '');
    if (place !== undefined)
      try {
        await answerRequest(app, place, asked);
      } catch (error) {
        // The pull request or the review was deleted, or the reviewer can no longer be asked.
        if (!isRefusedWith(error, 403, 404, 422)) throw error;
        if ((await readRepository(place)) === undefined) return;
      }
    await markAnswered(app.db.manager, asked.id);
  });
}

async function answerRequest(app: App, place: Place, asked: UnansweredRequest): Promise<void> {
  const [kind, , number = '', reviewId = ''] = asked.cause.split('/');
  const answers = await findAnswers(app.db.manager, asked.id);
  const otherwise = asked.changedNothing ? nothingChanged : addressedIn(asked.headSha);
  const textFor = (firstId: number) => answers.get(firstId) ?? otherwise;
  await answerThreads(app, place, Number(number), requestOf(asked), textFor);
  if (kind === 'review')
    await askAgain(place.octokit, { ...place.name, pull_number: Number(number) }, Number(reviewId));
}

/** A request in a review: by what its answers are found again, and the comments that it is about. */
interface Request {
  about: string;
  isAsked(comment: DiffComment, firstId: number): boolean;
}

function requestOf({ cause, githubReviewId }: { cause: string; githubReviewId: number | null }): Request {
  const [kind, , , first = '', ...rest] = cause.split('/');
  if (kind === 'thread')
    return { about: `done ${rest.join('/')}`, isAsked: (_comment, firstId) => firstId === Number(first) };
  const reviewId = kind === 'review' ? Number(first) : githubReviewId;
  return { about: `${reviewId}`, isAsked: (comment) => comment.pull_request_review_id === reviewId };
}

/** Replies once in each thread that a request is about. GitHub takes replies to a thread's first comment only. */
export async function answerThreads(
  app: App,
  { octokit, name }: Place,
  number: number,
  { about, isAsked }: Request,
  textFor: (firstId: number) => string,
) {
  const bot = await app.github?.bot();
  const marker = answerMarker(about);
  const { threads } = await readThreads(octokit, name, number);
  for (const { firstId, comments } of threads) {
    if (comments.some(({ user, body }) => user?.id === bot?.id && body.startsWith(marker))) continue;
    if (!comments.some((comment) => isAsked(comment, firstId))) continue;
    const text = harmless(textFor(firstId), app.config.COMMAND_PREFIX);
    await reply({ octokit, name, number, firstId }, `${marker}\n${text}`);
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
