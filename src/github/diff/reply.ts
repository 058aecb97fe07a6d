import type { App, Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { readThreads } from './read-threads.ts';

/** The first line of our reply in a thread. It prevents a second reply about the same thing. */
export const answerMarker = (about: string) => `<!-- deckhand:answer ${about} -->`;

/** Where a reply goes: a pull request, and the first comment of a thread in its diff. */
export interface ThreadPlace {
  octokit: Octokit;
  name: RepoName;
  number: number;
  firstId: number;
}

/** Replies in a thread, unless we have replied there about the same thing. */
export async function replyOnce(app: App, at: ThreadPlace, about: string, text: string): Promise<void> {
  const { octokit, name, number, firstId } = at;
  const { threads } = await readThreads(octokit, name, number);
  const bot = await app.github?.bot();
  const comments = threads.find((thread) => thread.firstId === firstId)?.comments ?? [];
  const marker = answerMarker(about);
  if (comments.some(({ user, body }) => user?.id === bot?.id && body.startsWith(marker))) return;
  await reply(at, `${marker}\n${text}`);
}

/**
 * Replies to the first comment of a thread. GitHub refuses a reply to a reply. Does nothing if the comment was deleted or
 * the conversation is locked.
 */
export async function reply({ octokit, name, number, firstId }: ThreadPlace, body: string): Promise<void> {
  const path = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies';
  await octokit.request(path, { ...name, pull_number: number, comment_id: firstId, body }).catch((error) => {
    if (!isRefusedWith(error, 403, 404, 422)) throw error;
  });
}
