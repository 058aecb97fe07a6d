import type { App } from '../../app.ts';
import { harmless } from '../../domain/text/sanitize.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { refusalsIn } from '../../repositories/rights.ts';
import { httpStatusOf, type Place } from '../app/place.ts';
import { isCommandTable } from '../comments.ts';
import { replyOnce } from '../diff/reply.ts';
import type { CommandSource } from '../given-command.ts';
import { findTaskNames, withTaskNames } from '../mirror/task-names.ts';

type Source = Pick<CommandSource, 'issue' | 'commentId' | 'inReview'>;

/** Returns whether the comment or review still exists. The commands of a deleted one are not executed. */
export async function isStillThere({ octokit, name }: Place, { issue, commentId, inReview }: Source): Promise<boolean> {
  const read = () => {
    if (inReview?.kind === 'thread')
      return octokit.request('GET /repos/{owner}/{repo}/pulls/comments/{comment_id}', {
        ...name,
        comment_id: inReview.commentId,
      });
    if (inReview?.kind === 'review')
      return octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}', {
        ...name,
        pull_number: issue.number,
        review_id: inReview.reviewId,
      });
    return octokit.request('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', {
      ...name,
      comment_id: commentId ?? 0,
    });
  };
  if (commentId === null && inReview === undefined) return true;
  return read().then(
    () => true,
    (error: unknown) => {
      if (isRefusedWith(error, 404, 410)) return false;
      throw error;
    },
  );
}

/**
 * Adds a reaction to the comment or issue. GitHub keeps one reaction of each kind, so a failed attempt can be retried.
 * What a review says of the whole takes no reactions in GitHub's REST API.
 */
export async function react(
  { octokit, name }: Place,
  { commentId, issue, inReview }: Source,
  content: 'eyes' | 'rocket' | 'confused',
): Promise<void> {
  const give = () => {
    if (inReview?.kind === 'thread')
      return octokit.request('POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions', {
        ...name,
        comment_id: inReview.commentId,
        content,
      });
    return commentId === null
      ? octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/reactions', {
          ...name,
          issue_number: issue.number,
          content,
        })
      : octokit.request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', {
          ...name,
          comment_id: commentId,
          content,
        });
  };
  if (inReview?.kind === 'review') return;
  // A failed reaction must not stop the command: the comment may be deleted, or the issue locked.
  await give().catch((error) => (httpStatusOf(error) >= 500 ? give().catch(() => {}) : undefined));
}

/** Answers a command in the thread in which it was given, once. `about` tells the command from others in the thread. */
export async function sayInThread(
  app: App,
  { octokit, name, repository }: Place,
  { issue: { number }, inReview }: Source,
  about: string,
  text: string,
): Promise<void> {
  if (inReview?.kind !== 'thread') return;
  const told = (await refusalsIn(app.db.manager, repository))(text);
  const names = await findTaskNames(app, repository.projectId, repository, told);
  const shown = isCommandTable(told) ? told : withTaskNames(harmless(told, app.config.COMMAND_PREFIX), names);
  await replyOnce(app, { octokit, name, number, firstId: inReview.firstId }, about, shown);
}
