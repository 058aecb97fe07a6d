import type { App } from '../../../app.ts';
import { taskPage } from '../../../domain/task.ts';
import { harmless } from '../../../domain/text/sanitize.ts';
import { isRefusedWith } from '../../../outgoing/github-errors.ts';
import { placeOf } from '../../../runs/review/request-changes.ts';
import { listCommentsOf, listUnpostedRequests, markPosted, type UnpostedRequest } from '../../../runs/review/store.ts';
import { findDiff } from '../../../tasks/work-store.ts';
import { type Place, placeOfRepository, readRepository } from '../../app/place.ts';
import { keepComments, quoteMarker } from '../../diff/keep-comments.ts';
import { eachThenFail } from '../../each-apart.ts';
import { findItem } from '../../paginate.ts';

/** The first line of the review that shows a request. We find the review again by this line and its author. */
const requestMarker = (id: string) => `<!-- deckhand:request ${id} -->`;

/**
 * Shows the requests of the dashboard as reviews on GitHub, once each. The App quotes the person, because the service keeps
 * no token of people, and because GitHub lets nobody request changes to their own pull request.
 */
export async function postRequests(app: App, taskId: string): Promise<void> {
  await eachThenFail(await listUnpostedRequests(app.db.manager, taskId), async (request) => {
    const [, repositoryId = '', number = ''] = request.cause.split('/');
    const place = await placeOfRepository(app, repositoryId);
    if (place === undefined) return;
    const pull = { taskId, repositoryId, number: Number(number) };
    let reviewId: number | null = null;
    try {
      reviewId = (await findReview(app, place, pull.number, request)) ?? (await post(app, place, pull, request));
      // Finds out which comments of the review are whose.
      await keepComments(app, place, pull);
    } catch (error) {
      // The pull request was deleted or its conversation locked.
      if (!isRefusedWith(error, 403, 404, 422)) throw error;
      if ((await readRepository(place)) === undefined) return;
    }
    await markPosted(app.db.manager, request.id, reviewId);
  });
}

/** Finds the review of an earlier attempt, whose answer was lost. */
async function findReview(app: App, { octokit, name }: Place, number: number, { id }: UnpostedRequest) {
  const bot = await app.github?.bot();
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
  const pages = octokit.paginate.iterator(path, { ...name, pull_number: number, per_page: 100 });
  const marker = requestMarker(id);
  const found = await findItem(pages, ({ user, body }) => user?.id === bot?.id && body.startsWith(marker));
  return found && Number(found.id);
}

interface PullOfTask {
  taskId: string;
  repositoryId: string;
  number: number;
}

/** Posts a request as a review. GitHub refuses comments on lines outside the diff, so the review's text quotes those. */
async function post(app: App, place: Place, pull: PullOfTask, request: UnpostedRequest): Promise<number> {
  const em = app.db.manager;
  const comments = await listCommentsOf(em, request.id);
  const prefix = app.config.COMMAND_PREFIX;
  const diff = await findDiff(em, pull.taskId);
  const quote = (text: string) =>
    harmless(text, prefix, 'attached')
      .split('\n')
      .map((line) => `> ${line}`)
      .join('\n');
  const who = `**${harmless(request.author ?? 'Somebody', prefix)}**`;
  const link = `[Deckhand](${taskPage(app.config.BASE_URL, pull.taskId)})`;
  const head = [requestMarker(request.id), `${who} requests changes in ${link}${request.said === '' ? '.' : ':'}`];
  const about = request.said === '' ? [] : ['', quote(request.said)];
  const send = async (inline: typeof comments, commit: string | undefined) => {
    const others = comments.filter((comment) => !inline.includes(comment));
    const rest = others.flatMap((each) => ['', `\`${placeOf(each).replaceAll('`', "'")}\``, '', quote(each.text)]);
    const { data } = await place.octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
      ...place.name,
      pull_number: pull.number,
      event: 'COMMENT',
      body: [...head, ...about, ...rest].join('\n'),
      ...(commit === undefined ? {} : { commit_id: commit }),
      comments: inline.map(({ id, path, line, side, text }) => ({
        path,
        line: line ?? 1,
        side: side === 'old' ? 'LEFT' : 'RIGHT',
        body: `${quoteMarker(id)}\n${who}:\n\n${quote(text)}`,
      })),
    });
    return Number(data.id);
  };
  const known = new Set((diff?.files ?? []).map(({ path }) => path));
  const inline = comments.filter(({ path }) => known.has(path));
  return send(inline, diff?.headSha).catch((error) => {
    // GitHub refuses the whole review if it does not show one of the lines, or if a push by force removed the commit.
    if (!isRefusedWith(error, 422) || (inline.length === 0 && diff === undefined)) throw error;
    return send([], undefined);
  });
}
