import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { findAgent } from '../../agents/store.ts';
import type { App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables.ts';
import { PullRequests } from '../../db/work-tables.ts';
import { taskPage } from '../../domain/task-page.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { credentialFor } from '../../repositories/credentials.ts';
import { findRepository } from '../../repositories/store.ts';
import { listEvents } from '../../runs/lease/journal-store.ts';
import { listRuns } from '../../runs/store.ts';
import { findTask, listSubtasks, type TaskView } from '../../tasks/store.ts';
import { listHandoffs, listPulls } from '../../tasks/work-store.ts';
import { writesLeft } from '../app/pace-store.ts';
import { findOwnComment } from '../commands/replies.ts';
import { answerReviews } from '../follow/reviews.ts';
import { makeIssue } from './make-issue.ts';
import { syncMilestone } from './milestones.ts';
import { wanted } from './mirror.ts';
import { listMirrored, type Mirrored, markShown } from './mirror-store.ts';
import { statusMarker } from './status-comment.ts';
import { syncCheck } from './sync-check.ts';
import { isTripped, noteWrite, syncLabels } from './sync-labels.ts';
import type { TaskPicture } from './task-picture.ts';

/**
 * Makes GitHub show what the database says of a task: observes, computes the difference, applies it; the handler of
 * the `mirror` job. Two at once for one task take turns.
 */
export async function syncTask(app: App, taskId: string): Promise<void> {
  if (app.github === undefined) return;
  const em = app.db.manager;
  await app.db.turn(`mirror ${taskId}`, async () => {
    const task = await findTask(em, taskId);
    if (task === undefined) return;
    await makeIssue(app, em, task);
    for (const place of await listMirrored(em, taskId)) await syncPlace(app, em, task, place);
  });
  await answerReviews(app, taskId);
}

async function syncPlace(app: App, em: EntityManager, task: TaskView, place: Mirrored): Promise<void> {
  const repository = await findRepository(em, place.repositoryId);
  if (repository === null) return;
  const credential = await credentialFor(app, repository);
  // Labels and comments are the App's; a project that has only a git token shows nothing.
  if (credential.kind !== 'installation' || app.github === undefined) return;
  const { installationId, owner, repo } = credential;
  const octokit = await app.github.asInstallation(installationId);
  const picture = await pictureOf(app, em, task, place);
  const { labels, comment, check, essence } = wanted(picture, repository);
  const milestone = () => syncMilestone(app, em, { octokit, name: { owner, repo }, repository }, task, place);
  const at = { owner, repo, issue_number: place.number };
  const pull = await em.findOneBy(PullRequests, { repositoryId: place.repositoryId, number: place.number });
  const sha = pull === null || pull.status === 'merged' || pull.status === 'closed' ? undefined : pull.headSha;
  const progress = createHash('sha256')
    .update(JSON.stringify([comment, check, sha]))
    .digest('base64url');
  try {
    await syncLabels(app, em, octokit, at, place, labels);
    // The milestone comes last, so that whatever is odd about milestones never holds up the rest.
    if (place.shown === essence && !(await progressMayShow(app, em, place, progress, installationId)))
      return milestone();
    const commentId = await syncComment(app, em, octokit, at, place, comment);
    if (sha !== undefined) {
      const on = { octokit, name: { owner, repo }, taskId: task.id, sha, detailsUrl: picture.taskUrl };
      await syncCheck(em, on, place, check);
    }
    await markShown(em, place, { commentId, shown: essence, progress });
    await milestone();
  } catch (error) {
    // The issue is deleted, transferred or locked: there is nothing to show it on.
    if (!isRefusedWith(error, 403, 404, 410)) throw error;
    app.log.info({ err: error, taskId: task.id }, 'a task cannot be shown');
  }
}

/** Writes per hour that are kept for changes of state; progress waits when fewer are left. */
const keptWrites = 100;
const scarceWaitSeconds = 600;

/**
 * Whether progress may be written now: at most once in `MIRROR_INTERVAL_MS`, and not while writes are scarce. When it
 * may not, and there is some, a job looks again later.
 */
async function progressMayShow(
  app: App,
  em: EntityManager,
  place: Mirrored,
  progress: string,
  installationId: number,
): Promise<boolean> {
  const isScarce = (await writesLeft(app.db, installationId)) < keptWrites;
  const waitMs = app.config.MIRROR_INTERVAL_MS - (Date.now() - (place.shownAt?.getTime() ?? 0));
  if (waitMs <= 0 && !isScarce) return true;
  if (place.shownProgress === progress) return false;
  const afterSeconds = isScarce ? scarceWaitSeconds : Math.ceil(waitMs / 1000);
  const { taskId } = place;
  await app.queue.send(em, 'mirror', { taskId }, { key: `${taskId} later`, afterSeconds });
  return false;
}

interface At {
  owner: string;
  repo: string;
  issue_number: number;
}

async function syncComment(
  app: App,
  em: EntityManager,
  octokit: Octokit,
  at: At,
  place: Mirrored,
  body: string,
): Promise<number | null> {
  const { owner, repo } = at;
  const path = '/repos/{owner}/{repo}/issues/comments/{comment_id}' as const;
  const stored =
    place.commentId === null
      ? undefined
      : await octokit.request(`GET ${path}`, { owner, repo, comment_id: place.commentId }).then(
          ({ data }) => data,
          (error) => {
            if (error.status === 404) return undefined;
            throw error;
          },
        );
  // A creation whose answer got lost left a comment that we have no number of.
  const found = stored ?? (await findOwnComment(app, octokit, at, statusMarker));
  if (found === undefined) {
    if (isTripped(place)) return null;
    await noteWrite(app, em, place);
    const made = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...at, body });
    return Number(made.data.id);
  }
  if (found.body !== body) await octokit.request(`PATCH ${path}`, { owner, repo, comment_id: Number(found.id), body });
  return Number(found.id);
}

/** So many of the last steps of a run stand in the comment. */
const stepsShown = 20;
const breakerText =
  'Paused for ten minutes: too many comments and label changes here in a short time. Somebody or something may be changing the labels back.';

async function pictureOf(app: App, em: EntityManager, task: TaskView, place: Mirrored): Promise<TaskPicture> {
  const runs = await listRuns(em, task.id, { limit: 100, offset: 0 });
  const [run, ...earlier] = runs;
  const agent = task.owner === null ? null : await findAgent(em, task.owner);
  const handoff = (await listHandoffs(em, task.id)).at(-1) ?? null;
  const costs = runs.flatMap((r) => (r.costUsd === null ? [] : [r.costUsd]));
  const events = run === undefined ? [] : await listEvents(em, run.id);
  return {
    ...task,
    agent: agent?.name ?? null,
    notice: isTripped(place) ? breakerText : place.notice,
    run: run ?? null,
    earlier,
    steps: events.slice(-stepsShown).map(({ at, text }) => ({ at, text })),
    subtasks: await pictureSubtasks(em, task.id),
    pulls: await picturePulls(em, task.id),
    handoff: handoff?.runId === run?.id ? handoff : null,
    costUsd: costs.length === 0 ? null : costs.reduce((sum, c) => sum + c, 0),
    taskUrl: taskPage(app.config.BASE_URL, task.id),
    commandPrefix: app.config.COMMAND_PREFIX,
  };
}

/** Who may not see a repository is not told of the subtasks in it either. */
async function pictureSubtasks(em: EntityManager, taskId: string): Promise<TaskPicture['subtasks']> {
  const subtasks = await listSubtasks(em, taskId);
  const isPrivate = new Map<string | null, boolean>();
  for (const { repositoryId } of subtasks)
    if (repositoryId !== null && !isPrivate.has(repositoryId))
      isPrivate.set(repositoryId, (await findRepository(em, repositoryId))?.isPrivate ?? true);
  return subtasks.map((s) => ({ ...s, isPrivate: isPrivate.get(s.repositoryId) ?? false }));
}

async function picturePulls(em: EntityManager, taskId: string): Promise<TaskPicture['pulls']> {
  const pulls = await listPulls(em, taskId);
  const repositories = new Map<string, RepositoryRow | null>();
  for (const { repositoryId } of pulls)
    if (!repositories.has(repositoryId)) repositories.set(repositoryId, await findRepository(em, repositoryId));
  return pulls.map((p) => ({
    url: p.prUrl,
    number: p.prNumber,
    repositoryName: p.repositoryName,
    status: p.status,
    isPrivate: repositories.get(p.repositoryId)?.isPrivate ?? true,
  }));
}
