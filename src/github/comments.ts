import type { App, Octokit } from '../app.ts';
import { harmless } from '../domain/text/sanitize.ts';
import { cutText } from '../outgoing/fit-texts.ts';
import type { IssueRef } from './app/place.ts';
import { findItem } from './paginate.ts';

/** Longer comments are cut. This is less than GitHub accepts; see outgoing/fit-texts.ts. */
const maxComment = 60_000;

/** Puts lines of a comment into a section that readers unfold. */
export function folded(title: string, lines: string[]): string[] {
  return [`<details><summary>${title}</summary>`, '', ...lines, '', '</details>'];
}

const tableHead = '| Command | |\n| --- | --- |\n';

/** Renders commands and what they do as a table. */
export function commandTable(rows: { command: string; does: string }[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  return tableHead + rows.map(({ command, does }) => `| \`${cell(command)}\` | ${cell(does)} |`).join('\n');
}

/** Returns whether a notice is the table of commands. Every other notice may contain text of people. */
export function isCommandTable(notice: string): boolean {
  return notice.startsWith(tableHead);
}

/** Cuts a comment before it is sent, because later it is compared with what GitHub shows. */
export function clipped(text: string): string {
  return cutText(text, maxComment);
}

/** Finds our comment on an issue or pull request that begins with this marker. */
export async function findOwnComment(app: App, octokit: Octokit, issue: IssueRef, marker: string) {
  const bot = await app.github?.bot();
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const pages = octokit.paginate.iterator(path, { ...issue, per_page: 100 });
  return findItem(pages, (comment) => comment.body?.startsWith(marker) && comment.user?.id === bot?.id);
}

const replyMarker = '<!-- deckhand:reply -->';

/** Replies on an issue that has no status comment. All replies on an issue share one comment, which is edited. */
export async function reply(app: App, octokit: Octokit, issue: IssueRef, text: string): Promise<void> {
  const shown = isCommandTable(text) ? text : harmless(text, app.config.COMMAND_PREFIX);
  await sayOnce(app, octokit, issue, replyMarker, `${replyMarker}\n${shown}`);
}

/** Deletes our reply on an issue, because what it says is no longer true. */
export async function deleteReply(app: App, octokit: Octokit, issue: IssueRef): Promise<void> {
  const found = await findOwnComment(app, octokit, issue, replyMarker);
  if (found === undefined) return;
  const { owner, repo } = issue;
  const path = 'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}';
  await octokit.request(path, { owner, repo, comment_id: Number(found.id) }).catch((error) => {
    // Somebody has already deleted it.
    if (error.status !== 404) throw error;
  });
}

/** Creates our comment with this marker, or edits it if its text differs. `body` must begin with the marker. */
export async function sayOnce(
  app: App,
  octokit: Octokit,
  issue: IssueRef,
  marker: string,
  body: string,
): Promise<void> {
  const found = await findOwnComment(app, octokit, issue, marker);
  const { owner, repo } = issue;
  if (found === undefined)
    await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...issue, body });
  else if (found.body !== body)
    await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
      owner,
      repo,
      comment_id: Number(found.id),
      body,
    });
}
