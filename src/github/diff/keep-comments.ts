import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { unlessMissing } from '../../repositories/permission.ts';
import { mayStoreTexts } from '../../repositories/rights.ts';
import { forgetComment, keepOnly, placeOnGitHub, saveComment } from '../../runs/review/store.ts';
import { type Place, readRepository } from '../app/place.ts';
import type { PullFound } from '../store.ts';
import { type DiffComment, type DiffThread, readThreads, threadOf } from './read-threads.ts';

export type PullOfTask = Pick<PullFound, 'taskId' | 'repositoryId' | 'number'>;

/** The first line of a comment of ours that quotes a person. It names the comment that the person wrote in the dashboard. */
export const quoteMarker = (id: string) => `<!-- deckhand:comment ${id} -->`;

const quoted = /^<!-- deckhand:comment (comment_[0-9a-z]{26}) -->/;

/**
 * Reads the comments on lines of a pull request and stores what people wrote, and which lines GitHub no longer shows. A
 * lock covers reading and storing, so that an older reading cannot overwrite a newer one. Returns the threads, and our
 * ids of the stored comments by GitHub's numbers.
 */
export async function keepComments(
  app: App,
  { octokit, name }: Pick<Place, 'octokit' | 'name'>,
  pull: PullOfTask,
): Promise<{ threads: DiffThread[]; ids: Map<number, string> }> {
  return app.db.withLock(lockOf(pull), async () => {
    const { threads, isCut } = await readThreads(octokit, name, pull.number);
    const ids = new Map<number, string>();
    if (!(await mayStoreTexts(app, pull.repositoryId))) return { threads, ids };
    const bot = await app.github?.bot();
    // Not in a transaction: the audit record of an operation belongs to its first one. Repeating this does no harm.
    const em = app.db.manager;
    for (const { firstId, comments } of threads)
      for (const comment of comments) {
        const id = await keepComment(em, pull, firstId, comment, bot?.id);
        if (id !== undefined) ids.set(comment.id, id);
      }
    const found = [...ids.keys()];
    await keepOnly(em, pull, found, isCut ? oldestOf(threads) : 0);
    return { threads, ids };
  });
}

/**
 * Stores one comment as GitHub has it now, or forgets it if it was deleted: its event may arrive late. `keepComments` finds
 * out about the events that were lost, at the next push, review or comparison with GitHub.
 */
export async function keepOneComment(app: App, place: Place, pull: PullOfTask, commentId: number): Promise<void> {
  const { octokit, name } = place;
  const path = 'GET /repos/{owner}/{repo}/pulls/comments/{comment_id}';
  await app.db.withLock(lockOf(pull), async () => {
    const comment = await unlessMissing(octokit.request(path, { ...name, comment_id: commentId }));
    const em = app.db.manager;
    if (comment === undefined) {
      if ((await readRepository(place)) !== undefined) await forgetComment(em, pull, commentId);
      return;
    }
    if (!(await mayStoreTexts(app, pull.repositoryId))) return;
    const bot = await app.github?.bot();
    const shown = comment as DiffComment;
    await keepComment(em, pull, threadOf(shown).firstId, shown, bot?.id);
  });
}

const lockOf = ({ repositoryId, number }: PullOfTask) => `comments ${repositoryId}#${number}`;

/** Returns GitHub's number of the oldest comment that was read. GitHub lists them in this order. */
function oldestOf(threads: DiffThread[]): number {
  return threads.flatMap(({ comments }) => comments).reduce((least, { id }) => Math.min(least, id), Infinity);
}

/** Stores a comment of a person, or where ours with the words of a person is. Returns its id; undefined for other comments. */
async function keepComment(
  em: EntityManager,
  pull: PullOfTask,
  threadId: number,
  comment: DiffComment,
  botId: number | undefined,
): Promise<string | undefined> {
  const { id, user, body } = comment;
  const onGitHub = { number: pull.number, id, threadId, isOutdated: isWithoutLine(comment) };
  const isOwn = user?.id === botId;
  const [, ownId] = isOwn ? (quoted.exec(body) ?? []) : [];
  if (ownId !== undefined) {
    return (await placeOnGitHub(em, { ...pull, id: ownId }, onGitHub)) ? ownId : undefined;
  }
  if (isOwn || user?.type === 'Bot') return undefined;
  return saveComment(em, { ...pull, ...shownOf(comment), onGitHub });
}

/** Returns whether GitHub no longer shows the line of a comment in the diff. */
function isWithoutLine({ line, original_line, subject_type }: DiffComment): boolean {
  return (line ?? null) === null && (original_line ?? null) !== null && subject_type !== 'file';
}

function shownOf({ path, line, original_line, side, body, user, created_at }: DiffComment) {
  return {
    path,
    line: line ?? original_line ?? null,
    side: side === 'LEFT' ? ('old' as const) : ('new' as const),
    text: body,
    author: user?.login ?? 'ghost',
    at: new Date(created_at),
  };
}
