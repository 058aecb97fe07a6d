import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import { visible } from '../../domain/text/sanitize.ts';
import { queueMirror } from '../../tasks/move.ts';
import type { TaskView } from '../../tasks/store.ts';
import { listPullsIn, type Revision } from '../../tasks/work-store.ts';
import type { ReviseTask } from '../schemas.ts';
import { findStarter } from '../store.ts';
import { giveComments, saveComment } from './store.ts';

type Asked = z.output<typeof ReviseTask>;
type AskedComment = Asked['comments'][number];

/** A request with comments on lines, and what has to be stored together with it. */
export interface RequestedChanges {
  revision: Revision;
  also(em: EntityManager): Promise<void>;
}

/**
 * Writes the request of a person who looked at the change of a task: what they say about the whole, then each comment with
 * its line. An open pull request will show it as a review.
 */
export async function requestedChanges(
  app: App,
  task: TaskView,
  userId: string,
  { text, comments }: Asked,
): Promise<RequestedChanges> {
  const em = app.db.manager;
  const { repositoryId } = task;
  const pulls = repositoryId === null ? [] : await listPullsIn(em, task.id, repositoryId);
  const open = pulls.find(({ status }) => status === 'open' || status === 'draft');
  // Nothing that waits for approval is on GitHub.
  const isShown = app.github !== undefined && open !== undefined && task.attention?.reason !== 'push';
  const request = newId('comment');
  const cause = isShown ? `dashboard/${repositoryId}/${open.number}/${request}` : `request/${request}`;
  const sorted = [...comments].sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
  const written = sorted.map((comment) => ({ ...comment, id: newId('comment') }));
  const author = (await findStarter(em, userId))?.login ?? 'somebody';
  const revision = {
    taskId: task.id,
    source: 'person',
    text: requestText(text, written),
    cause: isShown || written.length > 0 ? cause : null,
    askedBy: userId,
    said: text,
    words: wordsOf(
      text,
      written.map((comment) => ({ place: placeOf(comment), text: comment.text })),
    ),
  } as const;
  const also = async (tx: EntityManager) => {
    if (repositoryId !== null)
      for (const { id, path, line, side, text: said } of written)
        await saveComment(
          tx,
          { taskId: task.id, repositoryId, path, line, side, text: said, author, at: new Date(), onGitHub: null },
          id,
        );
    await giveComments(
      tx,
      written.map(({ id }) => id),
      cause,
    );
    await queueMirror(app, tx, task.id);
  };
  return { revision, also };
}

/** Names the place of a comment: `src/a.ts:12`. */
export function placeOf({ path, side, line }: Pick<AskedComment, 'path' | 'side'> & { line: number | null }): string {
  return `${visible(path)}${line === null ? '' : `:${line}`}${side === 'old' ? ' (removed line)' : ''}`;
}

function requestText(about: string, comments: (AskedComment & { id: string })[]): string {
  const parts = comments.map(({ quote, text, ...at }) => {
    // The line may hold characters that nobody sees.
    const quoted = quote === '' ? '' : `> ${visible(quote).replace(/[\r\n]+/g, ' ')}\n\n`;
    return `### ${placeOf(at)}\n${quoted}${text}`;
  });
  return [about, ...parts, answerList(comments.map((each) => ({ id: each.id, place: placeOf(each) })))]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Writes what a person said for people: about the whole, then each comment below its line. */
export function wordsOf(about: string, comments: { place: string; text: string }[]): string {
  return [about, ...comments.map(({ place, text }) => `${place}:\n${text}`)].filter((part) => part !== '').join('\n\n');
}

/** Lists comments for the agent, with the ids by which it answers them. Empty without comments. */
export function answerList(comments: { id: string; place: string }[]): string {
  if (comments.length === 0) return '';
  const lines = comments.map(({ id, place }) => `- ${id}: ${place}`);
  return `Answer each of these comments with answer_comment before you finish:\n${lines.join('\n')}`;
}
