import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { findAgent } from '../../agents/store.ts';
import type { App, Octokit } from '../../app.ts';
import { wasNoted } from '../../audit/records.ts';
import { databaseTime } from '../../db/clock.ts';
import type { MirroredRow } from '../../db/tables/github.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import type { PullRequestRow } from '../../db/tables/task.ts';
import { mayName } from '../../domain/settings.ts';
import { runPage, taskPage } from '../../domain/task.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import type { Attention } from '../../domain/waiting.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import type { Jobs } from '../../queue/names.ts';
import { credentialFor } from '../../repositories/credentials.ts';
import { listDropped } from '../../repositories/merging/store.ts';
import { refusalsIn } from '../../repositories/rights.ts';
import { findRepository } from '../../repositories/store.ts';
import { listShownEvents } from '../../runs/journal.ts';
import { findProof } from '../../runs/proof/proof-store.ts';
import { listRuns } from '../../runs/store.ts';
import { findPlan } from '../../runs/waiting/store.ts';
import { queueMirror } from '../../tasks/move.ts';
import { findTask, listShownSubtasks, type TaskView } from '../../tasks/store.ts';
import { listHandoffs, listPulls } from '../../tasks/work-store.ts';
import { writesLeft } from '../app/pacing.ts';
import { httpStatusOf, type IssueRef, type Place, placeOfRepository } from '../app/place.ts';
import { findOwnComment } from '../comments.ts';
import { eachThenFail } from '../each-apart.ts';
import { wordsForIssue } from '../issue-task.ts';
import { isTripped, noteWrite } from '../issues/limit-writes.ts';
import { listOwnersOfLinks } from '../links/link-store.ts';
import { syncLinks } from '../links/sync-links.ts';
import { findItem } from '../paginate.ts';
import { findPull, isUnreadyIn, listMirrored } from '../store.ts';
import { syncMilestone } from './milestones.ts';
import { wanted } from './mirror.ts';
import { linkIssue, markShown } from './mirror-store.ts';
import { visibleApproval, visibleEvent, visibleIn, visiblePicture } from './private-parts.ts';
import { showProofs } from './proofs/show-proofs.ts';
import { answerReviews } from './reviews/answer-reviews.ts';
import { postRequests } from './reviews/post-requests.ts';
import { showPullFailure } from './reviews/show-pull-failure.ts';
import { statusMarker, type TaskPicture } from './status-comment.ts';
import { isCheckHidden, syncCheck } from './sync-check.ts';
import { syncLabels } from './sync-labels.ts';
import { findTaskNames } from './task-names.ts';

/**
 * Handles the `mirror` job: reads what GitHub shows of a task, and changes what differs from the database. A lock lets
 * one job about a task run at a time. What fails for one issue or pull request does not hold up the others. What we showed last is read from GitHub only if the job says `recheck`.
 */
export async function syncTask(app: App, { taskId, recheck }: Jobs['mirror']): Promise<void> {
  if (app.github === undefined) return;
  const em = app.db.manager;
  const show = () =>
    app.db.withLock(`mirror ${taskId}`, async () => {
      const task = await findTask(em, taskId);
      if (task === undefined) return;
      const showAll = async () =>
        eachThenFail(await listMirrored(em, taskId), (each) => syncMirrored(app, em, each, recheck));
      // Its issue may just have been created.
      const link = async () => {
        const now = await findTask(em, taskId);
        if (now !== undefined) await syncLinks(app, now, { recheck: false });
      };
      await eachThenFail([() => makeIssue(app, em, task, recheck), showAll, link], (part) => part());
    });
  const parts = [
    show,
    () => postRequests(app, taskId),
    () => answerReviews(app, taskId),
    () => showPullFailure(app, taskId),
    () => showProofs(app, taskId),
  ];
  await eachThenFail(parts, (part) => part());
}

/**
 * Reads a task and what is shown of it at one moment. Otherwise a check run could show the end of a run without its failure, or on a
 * commit that was pushed later. Returns undefined when the task was deleted.
 */
function readShown(app: App, before: MirroredRow, shownIn: RepositoryRow) {
  return app.db.snapshot(async () => {
    const em = app.db.manager;
    const task = await findTask(em, before.taskId);
    if (task === undefined) return undefined;
    const pull = await findPull(em, before.repositoryId, before.number);
    const sha = pull === null ? undefined : checkedCommit(pull, task, before);
    const isUnready = sha !== undefined && (await isUnreadyIn(em, before, sha));
    const isOpen = pull?.status === 'open' || pull?.status === 'draft';
    return { task, sha, isUnready, isOpen, picture: await pictureOf(app, em, task, before, shownIn) };
  });
}

async function syncMirrored(app: App, em: EntityManager, before: MirroredRow, recheck: boolean): Promise<void> {
  const repository = await findRepository(em, before.repositoryId);
  if (repository === null) return;
  const credential = await credentialFor(app, repository);
  // Only the App writes labels and comments. A project that has just a git token shows nothing on GitHub.
  if (credential.kind !== 'installation' || app.github === undefined) return;
  const { installationId, owner, repo } = credential;
  const octokit = await app.github.asInstallation(installationId);
  const shown = await readShown(app, before, repository);
  if (shown === undefined) return;
  const { task, sha, isUnready, isOpen, picture } = shown;
  const { labels, comment, check, essence } = wanted(picture, { isPrivate: repository.isPrivate, isUnready });
  const isHidden = isOpen && sha !== undefined && (await isCheckHidden(em, before, { sha, isUnready, wanted: check }));
  const milestone = () =>
    syncMilestone(app, em, { octokit, name: { owner, repo }, repository }, task, before).catch((error) => {
      // Somebody gave the title of the milestone to another one at the same moment. The next update tries again.
      if (!isRefusedWith(error, 422)) throw error;
      app.log.info({ err: error, taskId: task.id }, 'a milestone cannot be created');
    });
  const issue = { owner, repo, issue_number: before.number };
  const progress = createHash('sha256')
    .update(JSON.stringify([comment, check, sha]))
    .digest('base64url');
  try {
    const isShown = before.shown === essence && before.shownProgress === progress;
    if (isShown && !isHidden && !recheck) return await milestone();
    const mirrored = await syncLabels(app, em, octokit, issue, before, labels);
    // The milestone comes last, so that a problem with milestones does not hold up the rest.
    const isProgress = mirrored.shown === essence && !isHidden;
    if (isProgress && !(await mayShowProgress(app, em, mirrored, progress, installationId))) return await milestone();
    // Progress alone creates no comment: one that is missing although the status was shown has been refused.
    const mayCreate = recheck || mirrored.commentId !== null || mirrored.shown !== essence;
    const commentId = await syncComment(app, em, octokit, issue, mirrored, { body: comment, mayCreate }).catch(
      async (error) => {
        // Apps cannot comment while the conversation is locked. The check run still shows the task.
        if (!isRefusedWith(error, 403)) throw error;
        await noteRefusal(app, em, task, 'comment_refused', error);
        return mirrored.commentId;
      },
    );
    const target = { octokit, name: { owner, repo }, taskId: task.id, sha, detailsUrl: picture.taskUrl };
    await syncCheck(app, target, { mirrored, isHidden }, check);
    await markShown(em, mirrored, { commentId, shown: essence, progress });
    await milestone();
  } catch (error) {
    // The issue was deleted or transferred, or GitHub lets us change nothing there, so the task cannot be shown on it.
    if (!isRefusedWith(error, 403, 404, 410)) throw error;
    app.log.info({ err: error, taskId: task.id }, 'a task cannot be shown');
  }
}

/**
 * Returns the commit whose check run shows the task: the head of an open pull request. The check run of a merged one is
 * updated when the task is done, because otherwise it would say for ever that the task waits for a merge.
 */
function checkedCommit(
  { status, headSha }: PullRequestRow,
  task: TaskView,
  { checkSha }: MirroredRow,
): string | undefined {
  if (status === 'merged') return task.status === 'done' && checkSha === headSha ? checkSha : undefined;
  return status === 'closed' ? undefined : headSha;
}

/**
 * Writes per hour that are reserved for changes of status. When fewer are left, progress waits for `scarceWaitSeconds`.
 */
const reservedWrites = 100;
const scarceWaitSeconds = 600;

/**
 * Returns whether progress may be shown now: at most once per `MIRROR_INTERVAL_MS`, and not while writes are scarce. If
 * progress has to wait, queues a job that shows it later.
 */
async function mayShowProgress(
  app: App,
  em: EntityManager,
  mirrored: MirroredRow,
  progress: string,
  installationId: number,
): Promise<boolean> {
  const isScarce = (await writesLeft(app.db, installationId)) < reservedWrites;
  const now = (await databaseTime(em)).getTime();
  const waitMs = app.config.MIRROR_INTERVAL_MS - (now - (mirrored.shownAt?.getTime() ?? 0));
  if (waitMs <= 0 && !isScarce) return true;
  if (mirrored.shownProgress === progress) return false;
  const afterSeconds = isScarce ? scarceWaitSeconds : Math.ceil(waitMs / 1000);
  const { taskId } = mirrored;
  await app.queue.send(em, 'mirror', { taskId, recheck: false }, { key: `${taskId} later`, afterSeconds });
  return false;
}

async function syncComment(
  app: App,
  em: EntityManager,
  octokit: Octokit,
  issue: IssueRef,
  mirrored: MirroredRow,
  { body, mayCreate }: { body: string; mayCreate: boolean },
): Promise<number | null> {
  const { owner, repo } = issue;
  const path = '/repos/{owner}/{repo}/issues/comments/{comment_id}' as const;
  const stored =
    mirrored.commentId === null
      ? undefined
      : await octokit.request(`GET ${path}`, { owner, repo, comment_id: mirrored.commentId }).then(
          ({ data }) => data,
          (error) => {
            if (error.status === 404) return undefined;
            throw error;
          },
        );
  // If GitHub's response to the creation was lost, the comment exists but we do not know its id.
  const found = stored ?? (await findOwnComment(app, octokit, issue, statusMarker));
  if (found === undefined) {
    if (isTripped(mirrored) || !mayCreate) return null;
    const made = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...issue, body });
    await noteWrite(app, em, mirrored);
    return Number(made.data.id);
  }
  if (found.body !== body) await octokit.request(`PATCH ${path}`, { owner, repo, comment_id: Number(found.id), body });
  return Number(found.id);
}

/** The comment shows this many of a run's last lines of the log. */
const linesShown = 20;
const breakerText =
  'Paused for ten minutes: too many comments and label changes here in a short time. Another person or bot may be changing the labels back.';

async function pictureOf(
  app: App,
  em: EntityManager,
  task: TaskView,
  mirrored: MirroredRow,
  shownIn: RepositoryRow,
): Promise<TaskPicture> {
  const runs = (await listRuns(em, task.id, { limit: 100, offset: 0 })).map((each) => ({
    ...each,
    url: runPage(app.config.BASE_URL, task.id, each.id),
  }));
  const [run, ...earlier] = runs;
  const agent = task.owner === null ? null : await findAgent(em, task.owner);
  const costs = runs.flatMap((r) => (r.costUsd === null ? [] : [r.costUsd]));
  const events = run === undefined ? [] : await listShownEvents(em, run.id, linesShown);
  const told = await refusalsIn(em, shownIn);
  const visible = await visibleIn(em, task, shownIn);
  const { failure, attention } = task;
  const asked = attention?.reason === 'push' && visible ? { text: visibleApproval(attention.text, visible) } : {};
  const picture: TaskPicture = {
    ...task,
    failure: failure && { ...failure, message: told(failure.message) },
    attention: attention && { ...attention, ...asked, ...(await pictureOfPlan(em, attention)) },
    dropped: (await listDropped(em, task.id)).filter((each) => mayName(each, shownIn)).map(({ why }) => told(why)),
    agent: agent?.name ?? null,
    notice: isTripped(mirrored) ? breakerText : told(mirrored.notice),
    taskNames: await findTaskNames(app, task.projectId, shownIn, mirrored.notice),
    run: run ?? null,
    changedNothing: run?.changedNothing ?? false,
    cancelledBecause:
      run?.status === 'cancelled' ? (events.findLast((e) => e.type === 'cancelled')?.text ?? null) : null,
    earlier,
    lines: events.map((event) => ({ at: event.at, text: told(visible ? visibleEvent(event) : event.text) })),
    subtasks: await pictureSubtasks(em, task.id),
    pulls: await picturePulls(em, task.id),
    handoff: await pictureOfHandoff(em, task.id, run?.id, told),
    proof: await pictureOfProof(em, task.id, run?.id, shownIn),
    costUsd: costs.length === 0 ? null : costs.reduce((sum, c) => sum + c, 0),
    taskUrl: taskPage(app.config.BASE_URL, task.id),
    commandPrefix: app.config.COMMAND_PREFIX,
  };
  return visiblePicture(em, task, { runId: run?.id, shownIn }, picture);
}

/** Returns the handoff of the latest run. That of a failed run begins with its failure. */
async function pictureOfHandoff(
  em: EntityManager,
  taskId: string,
  runId: string | undefined,
  told: (text: string) => string,
): Promise<TaskPicture['handoff']> {
  const last = (await listHandoffs(em, taskId)).at(-1);
  return last === undefined || last.runId !== runId ? null : { ...last, summary: told(last.summary) };
}

/**
 * Describes the proof of a task, if the latest run has one. A reason that names files of a repository which readers of the
 * comment may not see is left to the dashboard.
 */
export async function pictureOfProof(
  em: EntityManager,
  taskId: string,
  runId: string | undefined,
  shownIn: RepositoryRow,
): Promise<TaskPicture['proof']> {
  const proof = await findProof(em, taskId);
  if (proof === undefined || proof.runId !== runId) return null;
  const { repositoryId, status, reason } = proof;
  if (reason === null || repositoryId === null || repositoryId === shownIn.id) return { status, reason };
  const about = await findRepository(em, repositoryId);
  const isShown = about !== null && mayName(about, shownIn);
  return {
    status,
    reason: isShown ? reason : 'the reason lies in a private repository; the page of the task shows it',
  };
}

async function pictureOfPlan(em: EntityManager, { id, reason }: Attention) {
  const plan = reason === 'plan' ? await findPlan(em, id) : undefined;
  return plan === undefined ? {} : { plan };
}

/** Describes the subtasks. A subtask in a repository that is no longer connected counts as private. */
async function pictureSubtasks(em: EntityManager, taskId: string): Promise<TaskPicture['subtasks']> {
  const subtasks = await listShownSubtasks(em, taskId);
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

/**
 * Creates the issue of a task that wants one. If GitHub refuses it, for example because the repository has no issues, the
 * timeline of the task says so once. GitHub is then asked again with each `recheck` only, which every comparison with
 * GitHub causes.
 */
async function makeIssue(app: App, em: EntityManager, task: TaskView, recheck: boolean): Promise<void> {
  if (!task.wantsIssue || task.issueNumber !== null || task.repositoryId === null) return;
  const place = await placeOfRepository(app, task.repositoryId);
  if (place === undefined) return;
  if (!recheck && (await wasNoted(em, task.id, 'task.issue_refused'))) return;
  try {
    const { number, html_url } = await ensureIssue(app, task, place);
    await app.db.transaction(async (tx) => {
      await linkIssue(tx, task.id, { repositoryId: place.repository.id, number, url: html_url });
      // They may be linked with it now.
      for (const owner of await listOwnersOfLinks(tx, task.id)) await queueMirror(app, tx, owner);
    });
  } catch (error) {
    if (!isRefusedWith(error, 403, 404, 410, 422)) throw error;
    await noteRefusal(app, em, task, 'issue_refused', error);
  }
}

/** Searches for the issue before creating it, because GitHub's response to an earlier attempt may have been lost. */
async function ensureIssue(app: App, task: TaskView, { octokit, name }: Place) {
  const marker = `<!-- deckhand:task ${task.id} -->`;
  const bot = await app.github?.bot();
  // Starts a minute earlier, because GitHub's clock may differ from ours.
  const since = new Date(task.createdAt.getTime() - 60_000).toISOString();
  const path = 'GET /repos/{owner}/{repo}/issues';
  const pages = octokit.paginate.iterator(path, { ...name, state: 'all', since, per_page: 100 });
  const found = await findItem(pages, (issue) => issue.body?.startsWith(marker) && issue.user?.id === bot?.id);
  if (found !== undefined) return found;
  const { title, body } = wordsForIssue(task, app.config.COMMAND_PREFIX);
  const make = 'POST /repos/{owner}/{repo}/issues';
  return (await octokit.request(make, { ...name, title, body: `${marker}\n${body}` })).data;
}

/** Says in the timeline of a task, once, that GitHub refused something that should show the task there. */
async function noteRefusal(
  app: App,
  em: EntityManager,
  { id: taskId, projectId }: Pick<TaskView, 'id' | 'projectId'>,
  event: 'issue_refused' | 'comment_refused',
  error: unknown,
): Promise<void> {
  app.log.info({ err: error, taskId }, `GitHub refused something of a task (${event})`);
  if (await wasNoted(em, taskId, `task.${event}`)) return;
  const refusal = `GitHub answered with status ${httpStatusOf(error)}: ${oneLine((error as Error).message, 150)}`;
  await app.audit.noteEvent(em, { taskId, projectId, event, changes: { refusal: [null, refusal] } });
}
