import type { App } from '../../app.ts';
import { databaseTime } from '../../db/clock.ts';
import type { GitHubUser } from '../../projects/store.ts';
import { rightOf } from '../../repositories/permission.ts';
import { isUnedited } from '../../repositories/voices.ts';
import type { Place } from '../app/place.ts';
import { handleCommands } from '../commands/handle-commands.ts';
import { labelChanged, labellerOf, readTextAt } from '../commands/labels.ts';
import { heardUntil, listenFromNow } from '../delivery-store.ts';
import { threadOf } from '../diff/read-threads.ts';
import { labelKey, runLabel } from '../labels.ts';
import { itemsOf } from '../paginate.ts';
import { findPull } from '../store.ts';

/**
 * Reads the issues and comments created since the last call and executes their commands, because their events may
 * have been lost. Skips commands that were handled already, and everything older than the installation. Stops when `isOver`
 * says so; the next call reads the issues again, or continues at the comment that came next. Returns the numbers of the
 * issues and pull requests that changed.
 */
export async function catchUp(app: App, place: Place, isOver: () => boolean): Promise<Set<number>> {
  const since = await heardUntil(app.db.manager, place.repository.id);
  let readUntil = (await databaseTime(app.db.manager)).getTime();
  const touched = new Set<number>();
  if (since !== undefined) {
    const texts = { since, isOver, mayCommand: commanders(place) };
    if (!(await readIssues(app, place, texts, touched))) return touched;
    if (!(await readReviews(app, place, texts, touched))) return touched;
    for (const read of [readComments, readDiffComments]) {
      const stoppedAt = await read(app, place, texts);
      if (stoppedAt !== undefined) readUntil = Math.min(readUntil, Date.parse(stoppedAt));
    }
  }
  await listenFromNow(app.db.manager, place.repository.id, readUntil);
  return touched;
}

interface Missed {
  since: string;
  isOver: () => boolean;
  mayCommand(sender: GitHubUser): Promise<boolean>;
}

/**
 * Returns a function that says whether a person's commands would be handled. GitHub is asked once for each person, and
 * before anything about their texts, so that a stranger with many comments does not use up the requests of others.
 */
function commanders({ octokit, name, repository }: Place): Missed['mayCommand'] {
  const known = new Map<number, Promise<boolean>>();
  const ask = async (sender: GitHubUser) => {
    if (sender.type === 'Bot') return false;
    const { right } = await rightOf(octokit, name, sender);
    return right === 'write' || (right === 'read' && repository.isPrivate);
  };
  return (sender) => {
    const answer = known.get(Number(sender.id)) ?? ask(sender);
    known.set(Number(sender.id), answer);
    return answer;
  };
}

/** Returns whether it has read all issues. */
async function readIssues(
  app: App,
  place: Place,
  { since, isOver, mayCommand }: Missed,
  touched: Set<number>,
): Promise<boolean> {
  const mayAddressUs = await addressing(app);
  const path = 'GET /repos/{owner}/{repo}/issues';
  const query = { ...place.name, since, state: 'all', sort: 'created', direction: 'asc', per_page: 100 } as const;
  for await (const issue of itemsOf(place.octokit.paginate.iterator(path, query))) {
    if (isOver()) return false;
    touched.add(issue.number);
    if (issue.pull_request !== undefined || issue.user === null) continue;
    const sender = issue.user;
    const { number, title, html_url: url } = issue;
    const body = issue.body ?? '';
    const isNew = issue.created_at >= since;
    if (isNew && mayAddressUs(body) && (await mayCommand(sender)) && (await isAsOpened(place, issue)))
      await handleCommands(app, {
        ...spokenAt(place),
        issue: { number, title, body, url, isPull: false },
        sender,
        body,
        commentId: null,
        writtenAt: issue.created_at,
      });
    const names = issue.labels.map((label) => (typeof label === 'string' ? label : (label.name ?? '')));
    const hasRunLabel = names.some((name) => labelKey(name) === runLabel);
    const person = hasRunLabel ? await labellerOf(app, place, number, runLabel) : undefined;
    if (person !== undefined)
      await labelChanged(app, place, { number, label: runLabel, sender: person, isPull: false });
  }
  return true;
}

/** Returns when the first comment that it did not read was written; undefined once all are read. */
async function readComments(
  app: App,
  place: Place,
  { since, isOver, mayCommand }: Missed,
): Promise<string | undefined> {
  const { octokit, name } = place;
  const mayAddressUs = await addressing(app);
  const path = 'GET /repos/{owner}/{repo}/issues/comments';
  const query = { ...name, since, sort: 'created', direction: 'asc', per_page: 100 } as const;
  for await (const comment of itemsOf(octokit.paginate.iterator(path, query))) {
    if (comment.user === null || comment.created_at < since) continue;
    if (isOver()) return comment.created_at;
    const body = comment.body ?? '';
    // Commands in edited comments are ignored, because everybody with write permission may have edited them.
    if (!mayAddressUs(body) || !(await mayCommand(comment.user)) || !(await isUnedited(octokit, comment))) continue;
    const number = Number(/\/(\d+)$/.exec(comment.issue_url)?.[1]);
    const { data: issue } = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', {
      ...name,
      issue_number: number,
    });
    const { title, html_url: url } = issue;
    const isPull = issue.pull_request !== undefined;
    // The command is about the text that its author saw. Since then the author of the issue may have edited it.
    const text = isPull ? {} : await readTextAt(place, number, { at: comment.created_at, order: 'command' });
    await handleCommands(app, {
      ...spokenAt(place),
      issue: { number, title, body: issue.body ?? '', url, isPull, ...text },
      sender: comment.user,
      body,
      commentId: comment.id,
      writtenAt: comment.created_at,
    });
  }
  return undefined;
}

/**
 * Reads the comments on lines of pull requests. Returns when the first one that it did not read was written; undefined
 * once all are read.
 */
async function readDiffComments(
  app: App,
  place: Place,
  { since, isOver, mayCommand }: Missed,
): Promise<string | undefined> {
  const { octokit, name } = place;
  const mayAddressUs = await addressing(app);
  const path = 'GET /repos/{owner}/{repo}/pulls/comments';
  const query = { ...name, since, sort: 'created', direction: 'asc', per_page: 100 } as const;
  for await (const comment of itemsOf(octokit.paginate.iterator(path, query))) {
    // GitHub's description does not say that the author may be null, as it is for a deleted account.
    const sender = comment.user as typeof comment.user | null;
    if (sender === null || comment.created_at < since) continue;
    if (isOver()) return comment.created_at;
    const { body, created_at: writtenAt } = comment;
    if (!mayAddressUs(body) || !(await mayCommand(sender)) || !(await isUnedited(octokit, comment))) continue;
    const number = Number(/\/(\d+)$/.exec(comment.pull_request_url)?.[1]);
    const issue = await readPull(place, number);
    const inReview = threadOf(comment);
    await handleCommands(app, { ...spokenAt(place), issue, sender, body, commentId: null, inReview, writtenAt });
  }
  return undefined;
}

/**
 * Reads the reviews of the pull requests of tasks that changed. GitHub lists reviews by pull request only. Returns whether
 * it has read all.
 */
async function readReviews(
  app: App,
  place: Place,
  { since, isOver, mayCommand }: Missed,
  touched: Set<number>,
): Promise<boolean> {
  const { octokit, name, repository } = place;
  const mayAddressUs = await addressing(app);
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
  for (const number of touched) {
    if ((await findPull(app.db.manager, repository.id, number)) === null) continue;
    if (isOver()) return false;
    const pages = octokit.paginate.iterator(path, { ...name, pull_number: number, per_page: 100 });
    for await (const review of itemsOf(pages)) {
      const { user: sender, body, submitted_at: writtenAt = '' } = review;
      if (sender === null || writtenAt < since || !mayAddressUs(body)) continue;
      if (!(await mayCommand(sender)) || !(await isUnedited(octokit, review))) continue;
      const issue = await readPull(place, number);
      const inReview = { kind: 'review', reviewId: review.id } as const;
      await handleCommands(app, { ...spokenAt(place), issue, sender, body, commentId: null, inReview, writtenAt });
    }
  }
  return true;
}

async function readPull({ octokit, name }: Place, number: number) {
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}';
  const { data } = await octokit.request(path, { ...name, issue_number: number });
  return { number, title: data.title, body: data.body ?? '', url: data.html_url, isPull: true };
}

/** Returns a function that says whether a text may contain a command to us. */
export async function addressing(app: App): Promise<(body: string) => boolean> {
  const slug = await app.github?.slug();
  const names = [app.config.COMMAND_PREFIX, `@${slug}`].map((name) => name.toLowerCase());
  return (body) => names.some((name) => body.toLowerCase().includes(name));
}

/** Returns whether an issue still says what its author wrote. Its `updated_at` also changes with comments and labels. */
async function isAsOpened(place: Place, issue: { number: number; created_at: string }): Promise<boolean> {
  return !('unknown' in (await readTextAt(place, issue.number, { at: issue.created_at, order: 'command' })));
}

function spokenAt({ installationId, repository }: Place) {
  return {
    isMissed: true,
    installationId,
    repository: { id: repository.githubId ?? 0, private: repository.isPrivate },
  };
}
